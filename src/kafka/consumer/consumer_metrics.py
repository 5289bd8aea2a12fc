"""The consumer's metrics: where its parts count, and under which names that is shown."""

import asyncio
import contextlib
from collections.abc import Callable

from kafka.config import ConsumerConfig
from kafka.config.table import values_of
from kafka.consumer.commit.commits import Commits
from kafka.consumer.fetch.fetcher import Fetcher
from kafka.consumer.handover.fetch_buffer import FetchBuffer
from kafka.consumer.handover.fetch_statistics import FetchStatistics
from kafka.consumer.subscription.rebalance import Rebalance
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.coordinator.group_statistics import GROUP_METRICS, GroupStatistics
from kafka.coordinator.poll_clock import POLL_METRICS, PollClock
from kafka.metrics.client_metrics import ClientMetrics, Metric
from kafka.net.callback_runner import CallbackRunner
from kafka.net.statistics import NetworkTraffic


class ConsumerMetrics:
    """See the module.

    Arguments:
        config: the consumer's options.
        loop: whose time counts.
        callback_runner: makes what calls reporters, of a name.

    Attributes:
        all: every metric of the consumer.
        traffic: counts what is exchanged with brokers.
        fetching: counts what is fetched and handed out.
        group: counts heartbeats, joins and commits.

    Raises what the constructor, `configure` and `init` of reporters raise.
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
        """Show what other parts of the consumer tell."""
        fetched = (
            _gauge("bytes-consumed-total", "bytes of records that have come", lambda: fetcher.bytes_fetched),
            _gauge("records-consumed-total", "records handed out", lambda: buffer.records_taken),
            _gauge("fetch-responses-total", "answers that have come", lambda: fetcher.responses),
            _gauge("buffered-bytes", "bytes that have come and are not handed out", lambda: buffer.nbytes),
        )
        self.all.add(self._fetch_group, fetched, None)
        group = (
            _gauge("assigned-partitions", "partitions that are read", lambda: len(subscription.assigned_partitions())),
            _gauge("commits-total", "commits that have succeeded", lambda: commits.succeeded),
            _gauge("rebalances-total", "how often partitions have been taken", lambda: rebalance.completed),
        )
        self.all.add(self._group_group, group, None)
        self.all.add(self._poll_group, POLL_METRICS, clock)

    def report_by_runner(self) -> None:
        """From now on parts show something in threads where reporters, if there are any, may not be called."""
        self.all.call_reporters_by(self._reporting.submit)

    def submit(self, function: Callable[[], object]) -> None:
        """Run a function of the user's where that may be done."""
        self._reporting.submit(function)

    async def close(self, deadline: float) -> None:
        """Close the reporters, and wait for them up to a time."""
        self.all.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await self._reporting.idle()
        self._reporting.finish()


def _gauge(name: str, description: str, read: Callable[[], float]) -> Metric:
    return Metric(name, description, lambda _, now: read())
