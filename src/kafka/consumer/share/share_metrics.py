"""The share consumer's metrics: where its parts count, and under which names that is shown."""

import asyncio
import contextlib
from collections.abc import Callable

from kafka.config import ShareConfig
from kafka.config.table import values_of
from kafka.consumer.share.share_fetcher import ShareFetcher
from kafka.coordinator.poll_clock import POLL_METRICS, PollClock
from kafka.coordinator.share.membership import ShareMembership
from kafka.metrics.client_metrics import ClientMetrics, Metric
from kafka.net.callback_runner import CallbackRunner
from kafka.net.statistics import NetworkTraffic


class ShareMetrics:
    """See the module.

    Arguments:
        config: the consumer's options.
        loop: whose time counts.
        callback_runner: makes what calls reporters, of a name.

    Attributes:
        all: every metric of the consumer.
        traffic: counts what is exchanged with brokers.

    Raises what the constructor, `configure` and `init` of reporters raise.
    """

    def __init__(
        self,
        config: ShareConfig,
        loop: asyncio.AbstractEventLoop,
        callback_runner: Callable[[str], CallbackRunner],
    ) -> None:
        prefix = config.share.metric_group_prefix
        self._poll_group = f"{prefix}-share-metrics"
        self._fetch_group = f"{prefix}-share-fetch-manager-metrics"
        self._group_group = f"{prefix}-share-coordinator-metrics"
        self._reporting = callback_runner(f"kafka-metrics-{config.connection.client_id}")
        self.records_acquired = 0
        self.records_expired = 0
        self.all = ClientMetrics(config.connection, loop.time, values_of(config.connection, config.share))
        self.traffic = NetworkTraffic(self.all, prefix, loop)

    def show(self, fetcher: ShareFetcher, membership: ShareMembership, clock: PollClock) -> None:
        """Show what other parts of the consumer tell."""
        fetched = (
            _gauge("fetch-total", "fetches that were answered", lambda: fetcher.fetches),
            _gauge("bytes-consumed-total", "bytes of records that have come", lambda: fetcher.bytes_fetched),
            _gauge("records-consumed-total", "records acquired", lambda: self.records_acquired),
            _gauge(
                "records-lock-expired-total",
                "records that were not handed out, as their lock had run out before",
                lambda: self.records_expired,
            ),
            _gauge(
                "acknowledgements-send-total",
                "acknowledgements, one a partition and request, that brokers have taken",
                lambda: fetcher.acknowledged,
            ),
            _gauge(
                "acknowledgements-error-total",
                "acknowledgements that have failed",
                lambda: fetcher.acknowledgements_failed,
            ),
        )
        self.all.add(self._fetch_group, fetched, None)
        group = (
            _gauge("heartbeat-total", "heartbeats that were answered", lambda: membership.heartbeats),
            _gauge("rebalance-total", "how often the group was joined", lambda: membership.joins),
            _gauge("assigned-partitions", "partitions that are fetched", lambda: len(fetcher.assignment())),
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
