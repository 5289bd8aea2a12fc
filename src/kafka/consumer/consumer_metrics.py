"""The consumer's metrics: read off its parts when somebody looks, so that nothing is recorded while fetching."""

from typing import TYPE_CHECKING

from kafka.metrics import Metrics

if TYPE_CHECKING:
    from kafka.consumer.core import ConsumerCore


def register(core: "ConsumerCore") -> Metrics:
    """All metrics of a consumer, under kafka-python's names."""
    prefix = core.config.consumer.metric_group_prefix
    metrics = Metrics(core.config.connection.metrics_enabled)
    fetch, group = f"{prefix}-fetch-manager-metrics", f"{prefix}-coordinator-metrics"
    metrics.gauge(fetch, "bytes-consumed-total", lambda: core.fetcher.bytes_fetched)
    metrics.gauge(fetch, "records-consumed-total", lambda: core.buffer.records_taken)
    metrics.gauge(fetch, "fetch-responses-total", lambda: core.fetcher.responses)
    metrics.gauge(fetch, "buffered-bytes", lambda: core.buffer.nbytes)
    metrics.gauge(fetch, "records-lag-max", lambda: _max_lag(core))
    metrics.gauge(group, "assigned-partitions", lambda: len(core.subscription.assigned_partitions()))
    metrics.gauge(group, "commits-total", lambda: core.commits.succeeded)
    metrics.gauge(group, "rebalances-total", lambda: core.rebalance.completed)
    return metrics


def _max_lag(core: "ConsumerCore") -> float:
    """How many records the partition farthest behind is behind; NaN as long as it is not known."""
    lags = [
        state.highwater - state.position
        for state in core.subscription.states()
        if state.highwater is not None and state.position is not None
    ]
    return float(max(lags)) if lags else float("nan")
