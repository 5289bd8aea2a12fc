"""Monitoring of a consumer: its metrics, its health, and its view in a notebook.

To add a metric: a value that is read when metrics are requested is a `_gauge` in `ConsumerMetrics.show`. A rate, mean
or maximum is a row in `kafka.consumer.buffer.fetch_statistics` or `kafka.coordinator.group_metrics`, next to the code
that records it. Names are those of kafka-python and Java. Tests are in tests/unit/consumer/test_monitoring.py.
"""

import asyncio
import contextlib
from collections.abc import Callable

from kafka.cluster.client_health import STALLED_S, ClientHealth, Observed, client_html
from kafka.config import ConnectionOptions, ConsumerConfig, FetchOptions
from kafka.config.table import values_of
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.fetch_statistics import FetchStatistics
from kafka.consumer.buffer.partition_state import PartitionState, current_lag
from kafka.consumer.commit.commits import Commits
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.fetch.response_handler import place
from kafka.consumer.subscription.rebalance_steps import Rebalance
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.group_metrics import GROUP_METRICS, POLL_METRICS, GroupStatistics, PollClock
from kafka.coordinator.membership import Membership
from kafka.health import Health
from kafka.metrics.client_metrics import ClientMetrics, Metric
from kafka.net.callback_thread import CallbackRunner
from kafka.net.statistics import NetworkTraffic
from kafka.structs import TopicPartition


class ConsumerMetrics:
    """The consumer's metrics: their names, and the part that records each of them.

    Arguments:
        config: the consumer's options.
        loop: provides the time.
        callback_runner: creates a runner with a given name, which calls reporters.

    Attributes:
        all: every metric of the consumer.
        traffic: counts bytes exchanged with brokers.
        fetching: counts fetched and returned records.
        group: counts heartbeats, joins and commits.

    Raises exceptions from the constructor, `configure` and `init` of a reporter.
    """

    def __init__(
        self,
        config: ConsumerConfig,
        loop: asyncio.AbstractEventLoop,
        callback_runner: Callable[[str], CallbackRunner],
    ) -> None:
        options = values_of(config.connection, config.fetch, config.group, config.consumer)
        prefix = config.consumer.metric_group_prefix
        self._poll_group = f"{prefix}-metrics"
        self._fetch_group, self._group_group = f"{prefix}-fetch-manager-metrics", f"{prefix}-coordinator-metrics"
        self._reporting = callback_runner(f"kafka-metrics-{config.connection.client_id}")
        self.all = ClientMetrics(config.connection, loop.time, options)
        self.traffic = NetworkTraffic(self.all, prefix, loop)
        read_committed = config.fetch.isolation_level == "read_committed"
        self.fetching = FetchStatistics(self.all, self._fetch_group, loop.time, read_committed)
        self.group = GroupStatistics(self.all.window)
        self.all.add(self._group_group, GROUP_METRICS, self.group)

    def show(
        self,
        fetcher: Fetcher,
        buffer: FetchBuffer,
        subscription: SubscriptionState,
        commits: Commits,
        rebalance: Rebalance,
        clock: PollClock,
    ) -> None:
        """Register the metrics of the other parts."""
        fetched = (
            _gauge("bytes-consumed-total", "bytes of records received", lambda: fetcher.bytes_fetched),
            _gauge("records-consumed-total", "records returned", lambda: buffer.records_taken),
            _gauge("fetch-responses-total", "responses received", lambda: fetcher.responses),
            _gauge("buffered-bytes", "bytes received and not yet returned", lambda: buffer.nbytes),
        )
        self.all.add(self._fetch_group, fetched, None)
        group = (
            _gauge("assigned-partitions", "assigned partitions", lambda: len(subscription.assigned_partitions())),
            _gauge("commits-total", "successful commits", lambda: commits.succeeded),
            _gauge("rebalances-total", "completed rebalances", lambda: rebalance.completed),
        )
        self.all.add(self._group_group, group, None)
        self.all.add(self._poll_group, POLL_METRICS, clock)

    def report_by_runner(self) -> None:
        """Restrict reading of metrics to threads in which the reporters, if any, may be called."""
        self.all.call_reporters_by(self._reporting.submit)

    def submit(self, function: Callable[[], object]) -> None:
        """Run a user function on the callback runner."""
        self._reporting.submit(function)

    async def close(self, deadline: float) -> None:
        """Close the reporters, and wait for them until a deadline."""
        self.all.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await self._reporting.idle()
        self._reporting.finish()


def _gauge(name: str, description: str, read: Callable[[], float]) -> Metric:
    return Metric(name, description, lambda _, now: read())


_UNUSUAL = 3
"""After this many consecutive failures of a partition, a leader change is an unlikely cause."""

_NAMED = 5
"""The maximum number of partitions named in a message."""


class ConsumerHealth:
    """The consumer-specific part of client health: whether fetches are answered, the membership, and the lag.

    Reads the state of other parts of the consumer. Thread-safe.

    Arguments:
        common: the part of the report that all clients share.
        options: determine how long a broker may wait for records, and the end of the log from which lag is measured.
    """

    def __init__(
        self,
        common: ClientHealth,
        options: FetchOptions,
        subscription: SubscriptionState,
        fetcher: Fetcher,
        membership: Membership,
    ) -> None:
        self._common = common
        self._read_committed = options.isolation_level == "read_committed"
        self._limit_s = STALLED_S + options.fetch_max_wait_ms / 1000
        self._subscription = subscription
        self._fetcher = fetcher
        self._membership = membership

    def report(self, closed: bool) -> Health:
        """Return the current health of the consumer."""
        status = self._membership.status()
        states = self._subscription.states()
        since = self._fetcher.waiting_since()
        waits_for = [] if status is None or not status.waits_for else [status.waits_for]
        without = [place(state.tp) for state in states if state.position is None and not state.paused]
        if without:
            more = ", ..." if len(without) > _NAMED else ""
            waits_for.append(f"the position of {', '.join(without[:_NAMED])}{more}")
        if since is not None:
            waits_for.append("records")
        seen = Observed(
            since,
            self._limit_s,
            tuple(waits_for),
            bool(status is not None and status.is_lost) or any(each.fetching.failures >= _UNUSUAL for each in states),
            None if status is None else status.fatal,
            None if status is None else status.name,
            self._lag(states),
        )
        return self._common.report(seen, closed)

    def _lag(self, states: list[PartitionState]) -> dict[TopicPartition, int]:
        """Return the number of offsets between each position and the end of its log, as of the last fetch."""
        known = {state.tp: current_lag(state, self._read_committed) for state in states}
        return {tp: lag for tp, lag in known.items() if lag is not None}


def consumer_html(
    kind: str, health: Health, options: ConnectionOptions, group_id: str | None, read: SubscriptionState | None
) -> str:
    """Return HTML for notebooks that shows the health, group and assigned partitions of a consumer or share consumer.

    Thread-safe; sends no requests.

    Arguments:
        kind: the name of the consumer's class.
        health: the result of the consumer's `health()`.
        options: the options of the consumer's connections.
        group_id: the consumer's group, or None.
        read: the consumer's subscription; None before the start.
    """
    states = [] if read is None else sorted(read.states(), key=lambda state: state.tp)
    more = (
        ("group", group_id),
        ("member", health.membership),
        ("subscribes to", "" if read is None else _subscribed(read)),
        ("partitions", len(states)),
        ("lag", health.total_lag),
    )
    return client_html(kind, health, options, more, _positions(states) if states else "")


def _subscribed(read: SubscriptionState) -> str:
    pattern, regex = read.pattern, read.regex
    if pattern is not None:
        return f"names that match {pattern.pattern!r}"
    if regex is not None:
        return f"names that match {regex.pattern!r}"
    return ", ".join(sorted(read.topics))


def _positions(states: list[PartitionState]) -> str:
    from kafka.display import html_tables

    titles = ("topic", "partition", "position", "end", "paused")
    rows = (
        (
            *state.tp,
            None if (position := state.position) is None else position.offset,
            state.fetching.highwater,
            "yes" if state.paused else "",
        )
        for state in states
    )
    return html_tables.table(titles, rows, len(states))
