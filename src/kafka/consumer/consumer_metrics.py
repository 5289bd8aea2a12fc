"""The consumer's metrics. They are read from its parts when somebody asks, so fetching does not record anything."""

from kafka.config import ConsumerConfig
from kafka.consumer.commit.commits import Commits
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.handover.fetch_buffer import FetchBuffer
from kafka.consumer.subscription.rebalance import Rebalance
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.metrics import Metrics


def register(
    config: ConsumerConfig,
    fetcher: Fetcher,
    buffer: FetchBuffer,
    subscription: SubscriptionState,
    commits: Commits,
    rebalance: Rebalance,
) -> Metrics:
    """All metrics of a consumer, under kafka-python's names."""
    prefix = config.consumer.metric_group_prefix
    metrics = Metrics(config.connection.metrics_enabled)
    fetch, group = f"{prefix}-fetch-manager-metrics", f"{prefix}-coordinator-metrics"
    metrics.gauge(fetch, "bytes-consumed-total", lambda: fetcher.bytes_fetched)
    metrics.gauge(fetch, "records-consumed-total", lambda: buffer.records_taken)
    metrics.gauge(fetch, "fetch-responses-total", lambda: fetcher.responses)
    metrics.gauge(fetch, "buffered-bytes", lambda: buffer.nbytes)
    metrics.gauge(fetch, "records-lag-max", lambda: _max_lag(subscription))
    metrics.gauge(group, "assigned-partitions", lambda: len(subscription.assigned_partitions()))
    metrics.gauge(group, "commits-total", lambda: commits.succeeded)
    metrics.gauge(group, "rebalances-total", lambda: rebalance.completed)
    return metrics


def _max_lag(subscription: SubscriptionState) -> float:
    """How many records the partition farthest behind is behind; NaN as long as it is not known."""
    lags = [
        state.fetching.highwater - state.position.offset
        for state in subscription.states()
        if state.fetching.highwater is not None and state.position is not None
    ]
    return float(max(lags)) if lags else float("nan")
