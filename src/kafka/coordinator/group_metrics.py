"""Statistics of a group member: the times of its polls (KIP-517), heartbeats, joins and commits."""

from __future__ import annotations

import math

from kafka.metrics.client_metrics import Metric, largest_value_of, mean_value_of
from kafka.metrics.windows import SampledValues, Window, WindowOptions, Windows, largest, mean, rate


class _Polls(Window):
    """The polls that ended in a period: seconds spent in them, and seconds between their starts."""

    __slots__ = ("between_s", "count", "inside_s", "longest_between_s")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.count = 0
        self.between_s = self.inside_s = 0.0
        self.longest_between_s = -math.inf


class PollClock:
    """Records when the caller last polled, for `max_poll_interval_ms`, and how the caller spends its time (KIP-517).

    Written in the caller's thread, by `poll()` and iteration; read on the loop, by the heartbeat. Times are those of
    the loop's clock, in seconds.

    Arguments:
        now: the current time.
        options: how long values are kept.

    Attributes:
        polls: how the caller spent its time.
        began: when the last `poll()` was called; minus infinity before the first.
    """

    __slots__ = ("_between", "_inside", "_last", "began", "polls", "progressed")

    def __init__(self, now: float, options: WindowOptions | None = None) -> None:
        self._last = now
        self._inside = 0
        self._between = math.inf
        self.began = -math.inf
        self.polls: Windows[_Polls] = Windows(_Polls, options or WindowOptions())
        self.progressed = False
        """Set by iteration for each record. The heartbeat converts it to a time, so records cost no clock reads."""

    def begin(self, now: float) -> None:
        """Record that the caller has entered `poll()`."""
        self._inside += 1
        self._between = now - self.began
        self.began = self._last = now

    def end(self, now: float) -> None:
        """Record that the caller has left `poll()`."""
        self._inside -= 1
        self._last = now
        between = self._between
        if between < math.inf:  # false for the first poll
            polls: _Polls = self.polls.present if now < self.polls.until else self.polls.turn(now)
            polls.count += 1
            polls.inside_s += now - self.began
            polls.between_s += between
            if between > polls.longest_between_s:
                polls.longest_between_s = between

    def idle(self, now: float) -> float:
        """Return the seconds since the caller was last active; 0 while it is inside `poll()`."""
        if self.progressed:
            self.progressed = False
            self._last = now
        return 0.0 if self._inside else now - self._last


def _idle_ratio(clock: PollClock, now: float) -> float:
    """Return the fraction of time spent in polls.

    The result is limited to 1: the last poll is included, but the interval that it began is not counted until the next
    poll.
    """
    return min(1.0, mean((clock.polls,), "inside_s", "between_s", now))


POLL_METRICS = (
    Metric("last-poll-seconds-ago", "seconds since poll() was last called", lambda of, now: now - of.began),
    Metric(
        "time-between-poll-avg",
        "mean time in ms between calls of poll()",
        lambda of, now: 1000 * mean((of.polls,), "between_s", "count", now),
    ),
    Metric(
        "time-between-poll-max",
        "maximum time in ms between calls of poll()",
        lambda of, now: 1000 * largest((of.polls,), "longest_between_s", now),
    ),
    Metric("poll-idle-ratio-avg", "fraction of the program's time spent in poll()", _idle_ratio),
)
"""Metrics of a `PollClock`."""


class GroupStatistics:
    """Statistics of a member: response times of the coordinator, in milliseconds. Used on the loop only.

    Arguments:
        options: how long values are kept.

    Attributes:
        rebalance_ms: total duration of rebalances.
        last_heartbeat: time of the last heartbeat, by the loop's clock in seconds; minus infinity before the first.
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
        """Count a rebalance that began at ``began``."""
        self.rebalance_ms += 1000 * (now - began)
        self.rebalances.record(1000 * (now - began), now)


def _count_of(what: str, named: str) -> Metric:
    return Metric(named, f"{what} per second", lambda of, now: rate([getattr(of, what)], "count", now))


def _mean_of(what: str, named: str) -> Metric:
    text = f"mean response time of {what}, in ms"
    return Metric(named, text, mean_value_of(what))


def _largest_of(what: str, named: str) -> Metric:
    text = f"maximum response time of {what}, in ms"
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
    Metric("rebalance-latency-avg", "mean duration of a rebalance in ms", mean_value_of("rebalances")),
    Metric("rebalance-latency-max", "maximum duration of a rebalance in ms", largest_value_of("rebalances")),
    Metric("rebalance-latency-total", "total duration of rebalances in ms", lambda of, now: of.rebalance_ms),
    _mean_of("commits", "commit-latency-avg"),
    _largest_of("commits", "commit-latency-max"),
    _count_of("commits", "commit-rate"),
)
"""Metrics of a `GroupStatistics`."""
