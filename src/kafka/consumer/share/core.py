"""The core of a share consumer: everything except the public classes and the way they wait.

As in `kafka.consumer.core`, methods of "the caller's side" run in the caller's thread and never wait. Coroutines, and
the methods that the parts call, run on the client's loop.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from uuid import UUID

from kafka.cluster import ClusterAccess, LogLimiter
from kafka.cluster.client_core import ClientCore
from kafka.cluster.client_health import STALLED_S, ClientHealth, Observed
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.telemetry.collector import Identity
from kafka.config import ShareConfig
from kafka.config.table import values_of
from kafka.consumer.background_events import BackgroundEvents
from kafka.consumer.core import LEAVE_TIMEOUT_MS
from kafka.consumer.parts import Runner
from kafka.consumer.share.acquired import DecodeOptions, InFlight
from kafka.consumer.share.piece import Acknowledgements, Piece
from kafka.consumer.share.share_fetcher import ShareFetcher
from kafka.consumer.subscription.created_topics import CreatedTopics
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.consumer.subscription.topic_watch import TopicWatch
from kafka.coordinator.group_metrics import POLL_METRICS, PollClock
from kafka.coordinator.share.membership import ShareMembership, ShareMemberState
from kafka.errors import IllegalStateError, WakeupError
from kafka.health import Health
from kafka.metrics.client_metrics import ClientMetrics, Metric
from kafka.net.callback_thread import CallbackRunner
from kafka.net.statistics import NetworkTraffic

log = logging.getLogger(__name__)

_RESERVE_FOR_LEAVING = 0.75
"""The fraction of the closing timeout that acknowledgements may take."""


class ShareCore:
    """The core of one share consumer; see the module.

    Arguments:
        config: all options.
        runner: connects the loop and the caller.
        loop: the loop on which this runs.
        client: the cluster client; None: create one from the options.

    Attributes:
        in_flight: the records that were returned to the program but not acknowledged.
        decoded: pieces that were decoded but not returned.
    """

    def __init__(
        self,
        config: ShareConfig,
        runner: Runner,
        loop: asyncio.AbstractEventLoop,
        client: ClusterAccess | None = None,
    ) -> None:
        self.config = config
        options = config.share
        assert options.group_id is not None
        self._statistics = ShareMetrics(config, loop, runner.callback_runner)
        self.metrics = self._statistics.all
        self._client_core = ClientCore(
            config.connection,
            config.security,
            loop,
            self._statistics.traffic,
            self.metrics,
            Identity("consumer", options.metric_group_prefix, self._labels),
            self._statistics.submit,
            client,
        )
        self.client, self.telemetry = self._client_core.cluster, self._client_core.telemetry
        runner.on_loop_death(self._client_core.health, ClientHealth.loop_failed)
        self.subscription = SubscriptionState()
        self.clock = PollClock(loop.time(), self.metrics.window)
        self.events = BackgroundEvents(runner.notify)
        self.closed = self.close_begun = False
        self.in_flight = InFlight()
        self.decoded: deque[Piece] = deque()
        self.decoding = DecodeOptions(options.check_crcs, options.max_decompressed_bytes)
        self.is_implicit = options.share_acknowledgement_mode == "implicit"
        self._runner = runner
        self._loop = loop
        self.now: Callable[[], float] = loop.time
        self._expired = LogLimiter(log)
        self._refusal: Exception | None = None
        self._told_of_more = False
        backoff, timeout_ms = self._client_core.backoff, config.connection.request_timeout_ms
        self.membership = ShareMembership(
            self.client,
            options.group_id,
            options.client_rack,
            options.max_poll_interval_ms,
            timeout_ms,
            self.clock,
            backoff,
            self,
        )
        self.fetcher = ShareFetcher(
            options, self.client, self.membership.member_id, backoff, runner.notify, self.events.failed_alike
        )
        created = CreatedTopics(self.client) if config.connection.allow_auto_create_topics else None
        self.topics = TopicWatch(self.client, self.subscription, True, self.events.failed, created)
        self._statistics.show(self.fetcher, self.membership, self.clock)
        self._statistics.report_by_runner()

    def _labels(self) -> dict[str, str | None]:
        """Return the labels of this consumer in telemetry."""
        options = self.config.share
        return {
            "client_rack": options.client_rack,
            "group_id": options.group_id,
            "group_member_id": self.membership.member_id,
        }

    def health(self) -> Health:
        """Return the state of the consumer. May be called in any thread."""
        status, since = self.membership.status(), self.fetcher.waiting_since()
        waits_for = ("records of its share group",) if since is not None else ()
        seen = Observed(
            since,
            STALLED_S + self.config.share.fetch_max_wait_ms / 1000,
            (*filter(None, (status.waits_for,)), *waits_for),
            status.is_lost,
            self._refusal,
            status.name,
        )
        return self._client_core.health.report(seen, self.closed)

    # The loop's side --------------------------------------------------------------------------------------------------

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster. Raises `NoBrokersAvailable` unless ``in_background``."""
        await self._client_core.start(in_background=in_background)
        self.client.on_metadata(self._metadata_changed)

    def _metadata_changed(self, metadata: ClusterMetadata) -> None:
        self.topics.metadata_changed(metadata)
        self.fetcher.metadata_changed(metadata)

    def assigned(self, partitions: dict[UUID, list[int]]) -> None:
        """See `ShareMemberListener`."""
        self.fetcher.assign(partitions)
        self._runner.notify()  # a waiting caller then requests records from these partitions

    def failed(self, error: Exception) -> None:
        """See `ShareMemberListener`."""
        self.events.failed_alike(error)

    def refused(self, error: Exception) -> None:
        """See `ShareMemberListener`."""
        self._refusal = error
        self.events.happened()

    async def close(self, timeout_ms: float) -> None:
        """Send acknowledgements, end the sessions, leave the group, and close the connections, once. Does not raise."""
        if self.close_begun:
            return
        self.close_begun = self.closed = self.events.pending = True
        self._runner.notify()
        deadline = self._loop.time() + timeout_ms / 1000
        self.topics.close()
        try:
            try:
                async with asyncio.timeout(timeout_ms / 1000 * _RESERVE_FOR_LEAVING):
                    await self.fetcher.close()
            except TimeoutError:
                log.warning("closing a share consumer: brokers have not confirmed all acknowledgements in time")
            finally:
                left_ms = (deadline - self._loop.time()) * 1000
                await self.membership.close(min(max(left_ms, 100.0), LEAVE_TIMEOUT_MS))
        finally:
            try:
                await self._client_core.close(deadline - self._loop.time())
            finally:
                await self._statistics.close(deadline)

    # The caller's side ------------------------------------------------------------------------------------------------

    def check_open(self) -> None:
        """Raise `IllegalStateError` if the consumer is closed."""
        if self.closed:
            raise IllegalStateError("the consumer is closed")

    def raise_error(self) -> None:
        """Raise background errors, one per call."""
        if self._refusal is not None:
            raise self._refusal
        self.events.pending = False
        error = self.events.next_error()
        if error is not None:
            self.events.pending = True
            raise error

    def raise_wakeup(self) -> None:
        """Raise `WakeupError`, once, if the caller was woken."""
        if self.events.woken() and not self.closed:
            raise WakeupError("wakeup() was called")

    def subscribe(self, topics: frozenset[str]) -> None:
        """Join the group, if necessary, and read these topics."""
        self._refusal = None
        self._runner.submit(self._subscribe, topics)

    def _subscribe(self, topics: frozenset[str]) -> None:
        self.topics.update()
        self.membership.subscribe(topics)

    async def leave_group(self, timeout_ms: float) -> None:
        """Give up the membership, and wait briefly for the coordinator. Does not raise."""
        self.topics.update()
        await self.membership.leave(timeout_ms)

    def begin_poll(self, now: float) -> None:
        """Begin a poll, which lasts until `PollClock.end`. Raises `IllegalStateError` if no record can be returned."""
        self.check_open()
        if not self.subscription.topics:
            raise IllegalStateError("the share consumer is not subscribed to any topics: call subscribe() first")
        self.in_flight.put_back(self.decoded)
        if self.is_implicit:
            self.in_flight.accept_all()
        elif self.in_flight.is_open:
            raise IllegalStateError(
                "share_acknowledgement_mode is 'explicit', and records of the last poll() are not acknowledged: call "
                "acknowledge() for each of them before the next poll()"
            )
        self.clock.begin(now)
        if self.membership.state is ShareMemberState.STALE:  # other states do not require a notification
            self._runner.submit(self.membership.polled)

    def send_acknowledgements(self, max_records: int = 0) -> list[Acknowledgements]:
        """Send acknowledgements, with the next fetch if records are wanted."""
        acks = self.in_flight.take()
        if acks or max_records:
            self._runner.submit(self.fetcher.send, acks, max_records)
        return acks

    def has_records(self) -> bool:
        """Return whether records can be returned without a request to a broker."""
        return bool(self.fetcher.renewed or self.decoded or self.fetcher.ready)

    def take(self, max_records: int) -> list[Piece]:
        """Decode and return the next pieces, with about ``max_records`` records. They stay queued until `handed_out`.

        Raises the error for a response once the records before it have been returned.
        """
        taken: list[Piece] = []
        count = 0
        strict = self.config.share.share_acquire_mode == "record_limit"
        while self.fetcher.renewed:
            self.decoded.appendleft(self.fetcher.renewed.pop())
        while count < max_records:
            if len(taken) == len(self.decoded) and not self._decode_next(bool(count)):
                break
            piece = self.decoded[len(taken)]
            if self.lock_is_over(piece):
                del self.decoded[len(taken)]
                continue
            if count and strict and count + len(piece) > max_records:
                break
            taken.append(piece)
            count += len(piece)
        return taken

    def lock_is_over(self, piece: Piece) -> bool:
        """Return whether a piece must not be returned because its lock expired; its records then count as expired."""
        if piece.locked_until > self.now():
            return False
        self._statistics.records_expired += len(piece)
        self._expired.warning(
            str(piece.tp),
            f"records of partition {piece.tp.partition} of topic {piece.tp.topic!r}, from offset {piece.first} on, "
            "are not returned: their lock expired before poll() was called, and they are delivered again. Poll more "
            "often, or raise the group's share.record.lock.duration.ms",
        )
        return True

    def _decode_next(self, has_some: bool) -> bool:
        """Decode the next response. Returns False if there is none, or its error has to wait."""
        ready = self.fetcher.ready
        if not ready:
            return False
        acquired = ready[0]
        decoded = acquired.decode(self.decoding)
        if decoded.error is not None and has_some:
            return False
        ready.popleft()
        acquired.drop()
        if decoded.beyond is not None and not self._told_of_more:
            self._told_of_more = True
            text = (
                "broker %d reports records of %s as acquired, from offset %d on, that it has not sent; they are ignored"
            )
            log.warning(text, acquired.node_id, acquired.tp, decoded.beyond)
        self.decoded.extend(decoded.pieces)
        self._statistics.records_acquired += sum(map(len, decoded.pieces))
        self.in_flight.refuse(acquired, decoded.refused)
        if decoded.error is not None:
            raise decoded.error
        return True

    def cut(self, piece: Piece, row: int) -> None:
        """Cut a piece before a row; the next call returns the rest."""
        piece.handed = row
        rest = piece.split()
        piece.handed = 0
        if rest is not None:
            self.decoded.insert(self._place_of(piece) + 1, rest)

    def drop(self, piece: Piece) -> None:
        """Remove a piece without returning it."""
        del self.decoded[self._place_of(piece)]

    def _place_of(self, piece: Piece) -> int:
        return next(place for place, one in enumerate(self.decoded) if one is piece)

    def handed_out(self, pieces: list[Piece], one_by_one: bool = False) -> None:
        """Note that the program has received these pieces, or will receive their records one by one."""
        for piece in pieces:
            piece.handed = 0 if one_by_one else len(piece)
        self.in_flight.pieces = [*self.in_flight.pieces, *pieces]
        for _ in pieces:
            self.decoded.popleft()

    def taken_back(self, before: list[Piece]) -> None:
        """Take back pieces passed to `handed_out` that the program did not receive because of an error.

        Arguments:
            before: the pieces that the program had before.
        """
        given = [piece for piece in self.in_flight.pieces if not any(piece is one for one in before)]
        self.in_flight.pieces = before
        for piece in reversed(given):
            piece.handed = 0
            if not any(piece is one for one in self.decoded):
                self.decoded.appendleft(piece)


class ShareMetrics:
    """The share consumer's metrics: their names, and the part that records each of them.

    Arguments:
        config: the consumer's options.
        loop: provides the time.
        callback_runner: creates a runner with a given name, which calls reporters.

    Attributes:
        all: every metric of the consumer.
        traffic: counts bytes exchanged with brokers.

    Raises exceptions from the constructor, `configure` and `init` of a reporter.
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
        """Register the metrics of the other parts."""
        fetched = (
            _gauge("fetch-total", "completed fetches", lambda: fetcher.fetches),
            _gauge("bytes-consumed-total", "bytes of records received", lambda: fetcher.bytes_fetched),
            _gauge("records-consumed-total", "records acquired", lambda: self.records_acquired),
            _gauge(
                "records-lock-expired-total",
                "records not returned because their lock had expired",
                lambda: self.records_expired,
            ),
            _gauge(
                "acknowledgements-send-total",
                "acknowledgements accepted by brokers, one per partition and request",
                lambda: fetcher.acknowledged,
            ),
            _gauge(
                "acknowledgements-error-total",
                "failed acknowledgements",
                lambda: fetcher.acknowledgements_failed,
            ),
        )
        self.all.add(self._fetch_group, fetched, None)
        group = (
            _gauge("heartbeat-total", "answered heartbeats", lambda: membership.heartbeats),
            _gauge("rebalance-total", "joins of the group", lambda: membership.joins),
            _gauge("assigned-partitions", "assigned partitions", lambda: len(fetcher.assignment())),
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
