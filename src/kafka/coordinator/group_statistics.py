"""What a member of a group counts: heartbeats, joins and commits."""

from __future__ import annotations

import math

from kafka.metrics.client_metrics import Metric, largest_value_of, mean_value_of
from kafka.metrics.windows import SampledValues, WindowOptions, rate


class GroupStatistics:
    """Times in milliseconds that the coordinator took to answer. On the loop.

    Arguments:
        options: how long is counted.

    Attributes:
        rebalance_ms: how long rebalances took, all together.
        last_heartbeat: when the last one was sent, in the loop's seconds; minus infinity if none was.
    """

    def __init__(self, options: WindowOptions | None = None) -> None:
        options = options or WindowOptions()
        self.heartbeats = SampledValues(options)
        self.joins = SampledValues(options)
        self.syncs = SampledValues(options)
        self.commits = SampledValues(options)
        self.rebalances = SampledValues(options)
        self.rebalance_ms = 0.0
        self.last_heartbeat = -math.inf

    def rebalanced(self, began: float, now: float) -> None:
        """A rebalance is over that began at a time."""
        self.rebalance_ms += 1000 * (now - began)
        self.rebalances.record(1000 * (now - began), now)


def _count_of(what: str, named: str) -> Metric:
    return Metric(named, f"{what} a second", lambda of, now: rate([getattr(of, what)], "count", now))


def _mean_of(what: str, named: str) -> Metric:
    text = f"mean time in ms until an answer came, of {what}"
    return Metric(named, text, mean_value_of(what))


def _largest_of(what: str, named: str) -> Metric:
    text = f"longest time in ms until an answer came, of {what}"
    return Metric(named, text, largest_value_of(what))


GROUP_METRICS = (
    _largest_of("heartbeats", "heartbeat-response-time-max"),
    _count_of("heartbeats", "heartbeat-rate"),
    _mean_of("joins", "join-time-avg"),
    _largest_of("joins", "join-time-max"),
    _count_of("joins", "join-rate"),
    _mean_of("syncs", "sync-time-avg"),
    _largest_of("syncs", "sync-time-max"),
    _count_of("syncs", "sync-rate"),
    Metric(
        "last-heartbeat-seconds-ago",
        "seconds since the last heartbeat was sent",
        lambda of, now: now - of.last_heartbeat,
    ),
    Metric("rebalance-latency-avg", "mean time in ms that a rebalance took", mean_value_of("rebalances")),
    Metric("rebalance-latency-max", "longest time in ms that a rebalance took", largest_value_of("rebalances")),
    Metric("rebalance-latency-total", "ms that rebalances took, all together", lambda of, now: of.rebalance_ms),
    _mean_of("commits", "commit-latency-avg"),
    _largest_of("commits", "commit-latency-max"),
    _count_of("commits", "commit-rate"),
)
"""Of a `GroupStatistics`."""
