"""Fetches from one broker: keeps one Fetch request outstanding while there is something to fetch.

While all goes well, the next request is sent where the response is read (`BrokerFetcher.answered`). A task opens the
connection, sends the first request, and takes over again whenever there is something to wait for or an error.
"""

import asyncio
import logging
from typing import Protocol

from kafka.cluster import RetryPolicy
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import BrokerConnection, BrokerConnections
from kafka.config import FetchOptions
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.fetch.fetch_session import FetchBody, FetchSession
from kafka.errors import (
    FetchSessionIdNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
    KafkaError,
    for_code,
)
from kafka.net import Reply
from kafka.net.own_loop import clock_of
from kafka.net.receiver import throttle_s
from kafka.wire.api.fetch import FetchRequest, FetchResponse

log = logging.getLogger(__name__)

_NAMED_UNTIL = 12
"""The last Fetch version with topic names instead of topic ids."""

_EPOCHS_SINCE = 12
"""The first Fetch version in which a broker checks the epoch of the last fetched record (KIP-595)."""

_ROOM_PATIENCE_S = 0.1
"""How long a fetch waits for the caller to make room for a partition before it is sent without that partition."""

_SESSION_ERRORS = frozenset(
    {FetchSessionIdNotFoundError.errno, InvalidFetchSessionEpochError.errno, FetchSessionTopicIdError.errno}
)


class FetchAnswers(Protocol):
    """Receives the responses from a broker."""

    def take_answer(self, fetcher: "BrokerFetcher", response: FetchResponse) -> None:
        """Handle a response."""

    def fetch_failed(self, fetcher: "BrokerFetcher", error: Exception) -> None:
        """Handle a failed request."""


class _FetchReply:
    """Passes a response to a fetcher as soon as the response arrives.

    Arguments:
        fetcher: receives the response.
        sent: the future that the task awaits. It is cancelled if the response is no longer needed, and completed by a
            response after which the task must take over.
    """

    __slots__ = ("_fetcher", "_sent")

    def __init__(self, fetcher: "BrokerFetcher", sent: "asyncio.Future[int]") -> None:
        self._fetcher = fetcher
        self._sent = sent

    def done(self) -> bool:
        """Return whether the response is no longer needed."""
        return self._sent.done()

    def set_result(self, response: FetchResponse, /) -> None:
        """Pass on a response."""
        try:
            goes_on = self._fetcher.answered(response)
        except Exception as error:
            self.set_exception(error)
        else:
            if not goes_on and not self._sent.done():
                self._sent.set_result(response.error_code)

    def set_exception(self, error: Exception, /) -> None:
        """Pass on a failure."""
        if not self._sent.done():
            self._sent.set_exception(error)


class BrokerFetcher:
    """Fetches from one broker; see the module.

    Arguments:
        node_id: the broker.
        options: the size and time limits of fetch requests.
        client: sends requests.
        answers: receives the responses.
        retry: pauses after failures and logs them.
    """

    def __init__(
        self, node_id: int, options: FetchOptions, client: BrokerConnections, answers: FetchAnswers, retry: RetryPolicy
    ) -> None:
        self.node_id = node_id
        self.session = FetchSession(options.enable_incremental_fetch_sessions, options.max_partition_fetch_bytes)
        self.blocked: set[PartitionState] = set()
        """Partitions of this broker that wait for the caller to make room."""
        self.sent_at = 0.0
        """When the last request was sent, by the loop's clock."""
        self._now = clock_of(asyncio.get_running_loop())
        self.progress_at = self._now()
        """When the broker last answered, or since when there has been something to fetch, by the loop's clock."""
        self._options = options
        self._client = client
        self._answers = answers
        self._attempts = retry.attempts(f"fetching from broker {node_id}")
        self._session_errors = 0
        self._throttled_until = 0.0
        self._version = 0
        self._polls = LongPolls(options.fetch_max_wait_ms)
        self._wake = asyncio.Event()
        self._fresh = False
        self._connection: BrokerConnection | None = None
        self._sent: asyncio.Future[int] | None = None
        self._metadata: ClusterMetadata | None = None
        """The metadata when the last request was sent; after a change, the broker may have another address."""
        self._cut_short = False
        self._cut_timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"fetch from broker {node_id}")

    def changed(self, urgent: bool, fresh: bool = False) -> None:
        """Report that the set of partitions to fetch has changed.

        Arguments:
            urgent: whether the change concerns data that the outstanding fetch cannot return. If so, and if that fetch
                turns out to be a long poll, it is cut short.
            fresh: whether a caller is waiting for a newly assigned partition or position, in which case the next fetch
                may not wait for other partitions.
        """
        self._fresh |= fresh
        self._wake.set()
        if urgent and self._sent is not None and self._cut_timer is None:
            at = self._polls.cut_at()
            if at is not None:
                self._cut_timer = asyncio.get_running_loop().call_at(at, self._cut, self._sent)

    def close(self) -> None:
        """Stop without waiting for an outstanding response. The broker is notified of the end of the session if that is
        possible without waiting.
        """
        self._closed = True
        self._task.cancel()
        self._no_cut()
        if not self.session.in_session:
            return
        idle = self._polls.spare(asyncio.get_running_loop().time())
        channels = ("",) if idle is None else ("", idle)
        found = (self._client.ready_connection(self.node_id, channel) for channel in channels)
        connection = next((each for each in found if each is not None), None)
        if connection is None:
            return
        body = self.session.last_request()
        try:
            version = connection.api_versions.version_for(FetchRequest)
            reply: Reply[FetchResponse] = Reply(lambda response, error: None)
            connection.post_for(reply, self._request(body, 0), version)
            reply.cancel()
        except KafkaError as error:
            log.debug("could not tell broker %d that its fetch session has ended: %s", self.node_id, error)

    def _cut(self, sent: "asyncio.Future[int]") -> None:
        self._cut_timer = None
        if sent is self._sent and not sent.done() and self._connection is not None and not self._connection.receiving:
            self._cut_short = True
            sent.cancel()

    def _no_cut(self) -> None:
        timer, self._cut_timer = self._cut_timer, None
        if timer is not None:
            timer.cancel()

    async def _run(self) -> None:
        attempts = self._attempts
        while not self._closed:
            try:
                await self._fetch(await self._until_needed())
            except Exception as error:  # the task must continue, because no other task fetches from this broker
                self.session.reset(keep_id=True)
                try:
                    self._answers.fetch_failed(self, error)
                except Exception:
                    log.exception("could not handle the failure of a fetch")
                await attempts.failed(error)
            else:
                if attempts.failures:
                    attempts.succeeded()

    async def _until_needed(self) -> int:
        """Wait until there is something to fetch. Returns how long the broker may then wait for data, in ms."""
        while True:
            self._wake.clear()
            if self.session.targets and not self.blocked:
                return self._options.fetch_max_wait_ms
            if not self.session.targets:
                self._attempts.ended()
                await self._wake.wait()
                self.progress_at = asyncio.get_running_loop().time()
                continue
            if self._fresh:
                return 0
            # A long poll sent now would, until it ends, exclude the partitions that are waiting for room.
            try:
                async with asyncio.timeout(_ROOM_PATIENCE_S):
                    await self._wake.wait()
            except TimeoutError:
                return 0

    async def _fetch(self, max_wait_ms: int) -> None:
        connection = await self._connected()
        if self._throttled_until:
            await self._obey_throttle()
        if not self.session.targets:
            return
        code = await self._exchange(connection, max_wait_ms)
        if code is None:
            self.session.reset(keep_id=True)
        elif code in _SESSION_ERRORS:
            self.session.reset(keep_id=code != FetchSessionIdNotFoundError.errno)
            self._session_errors += 1
            if self._session_errors > 1:  # a new session should have resolved the error
                raise for_code(code)(f"broker {self.node_id} also refuses new fetch sessions")
            log.debug("broker %d: %s, so a new session begins", self.node_id, for_code(code).message)
        elif code:
            raise for_code(code)(f"Fetch from broker {self.node_id}")
        else:
            self._session_errors = 0

    async def _obey_throttle(self) -> None:
        """Send no request while the broker throttles this client (KIP-219).

        The connection would delay a request as well, but the request would be outdated by the time it is sent. If it
        were cut short before that, the next request would be sent on the other connection at once.
        """
        until, self._throttled_until = self._throttled_until, 0.0
        await asyncio.sleep(until - asyncio.get_running_loop().time())

    async def _connected(self) -> BrokerConnection:
        channel = self._polls.channel
        connection = self._client.ready_connection(self.node_id, channel)
        if connection is not None:
            return connection
        loop = asyncio.get_running_loop()
        started = loop.time()
        connection = await self._client.connection(self.node_id, channel)
        self._polls.opened(loop.time() - started)
        return connection

    async def _exchange(self, connection: BrokerConnection, max_wait_ms: int) -> int | None:
        """Send a fetch, and wait until the task has to take over.

        Returns the error code of the last response; None if the last fetch was cut short.
        """
        sent: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        try:
            self._send(connection, sent, max_wait_ms)
            return await sent
        except asyncio.CancelledError:
            if not self._cut_short or self._closed:
                raise
            self._polls.cut()
            return None
        finally:
            self._cut_short = False
            self._over()

    def _send(self, connection: BrokerConnection, sent: "asyncio.Future[int]", max_wait_ms: int) -> None:
        """Send a fetch, whose response `answered` handles.

        Arguments:
            sent: the future that the task awaits.
        """
        # Cleared only now, so that the request includes partitions added while the connection was opened.
        self._fresh = False
        version = connection.api_versions.version_for(FetchRequest)
        body = self.session.next_request(version >= _EPOCHS_SINCE)
        if not body.by_id:
            version = connection.api_versions.version_for(FetchRequest, 0, _NAMED_UNTIL)
        self._version = version
        self.sent_at = self._now()
        wait_ms = self._polls.send(self.sent_at, max_wait_ms)
        self._connection, self._sent = connection, sent
        self._metadata = self._client.metadata
        connection.post_for(_FetchReply(self, sent), self._request(body, wait_ms), version)

    def _over(self) -> None:
        """Note that no fetch is outstanding."""
        self._connection = self._sent = None
        if self._cut_timer is not None:
            self._no_cut()

    def answered(self, response: FetchResponse) -> bool:
        """Handle a response as soon as it is read, and send the next fetch if nothing has to be waited for.

        Returns whether the next fetch was sent; otherwise the task takes over.
        """
        connection, sent = self._connection, self._sent
        self._connection = self._sent = None
        if self._cut_timer is not None:
            self._no_cut()
        now = self.progress_at = self._now()
        self._polls.answered(now)
        if response.throttle_time_ms:
            self._throttled_until = now + throttle_s(FetchRequest, self._version, response.throttle_time_ms)
        if response.error_code:
            return False
        self.session.answered(response.session_id)
        self._answers.take_answer(self, response)
        if (
            self._closed
            or self._throttled_until
            or self._attempts.failures
            or self.blocked
            or not self.session.targets
            or sent is None
            or sent.done()
            or connection is None
            or connection.closed
            or self._metadata is not self._client.metadata
        ):
            return False
        self._session_errors = 0
        self._send(connection, sent, self._options.fetch_max_wait_ms)
        return True

    def _request(self, body: FetchBody, max_wait_ms: int) -> FetchRequest:
        options = self._options
        return FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=options.fetch_min_bytes if max_wait_ms else 0,
            max_bytes=options.fetch_max_bytes,
            isolation_level=int(options.isolation_level == "read_committed"),
            session_id=body.session_id,
            session_epoch=body.session_epoch,
            topics=body.topics,
            forgotten_topics_data=body.forgotten,
            rack_id=options.client_rack,
        )


CHANNELS = ("fetch", "fetch-2")
"""The connections for fetching, separate from the one for other requests. The second is opened on first use."""

_ANSWERED_BY_S = 0.05
"""A fetch counts as a long poll after twice the shortest response time so far, but at the latest after this time."""
_ANSWERED_FROM_S = 0.003
"""The minimum time after which a fetch counts as a long poll, even if twice the shortest response time is less."""
_SHORT_WAIT_MS = 5
_SHORT_WAIT_PART = 100
"""While one connection waits for the end of an abandoned long poll, a poll on the other cannot be cut short, so it
waits only briefly: `_SHORT_WAIT_MS`, or this fraction (1/100) of ``fetch_max_wait_ms`` if that is longer.
"""
_SLACK_S = 0.005
"""How much longer than the permitted wait a broker may take to answer a long poll."""


class LongPolls:
    """Decides how long a fetch may wait for data at the broker, and when a waiting fetch is cut short.

    A broker answers one request at a time on each connection. A partition added during a long poll would have to wait
    for the end of that poll. So the poll is abandoned, and all partitions are fetched on a second connection.

    This class does not read a clock; times are the loop's, in seconds.

    Arguments:
        max_wait_ms: ``fetch_max_wait_ms``.

    Attributes:
        channel: the connection for the next fetch.
    """

    def __init__(self, max_wait_ms: int) -> None:
        self.channel = CHANNELS[0]
        self._short_ms = max(_SHORT_WAIT_MS, max_wait_ms // _SHORT_WAIT_PART)
        self._channel = 0
        self._free_at = [0.0, 0.0]
        self._sent_at = 0.0
        self._wait_ms = 0
        self._quickest_s = _ANSWERED_BY_S

    def spare(self, now: float) -> str | None:
        """Return the other connection; None while it waits for the end of a long poll."""
        other = 1 - self._channel
        return CHANNELS[other] if self._free_at[other] <= now else None

    def opened(self, took_s: float) -> None:
        """Note that a connection was opened, which takes at least two round trips."""
        self._quickest_s = min(self._quickest_s, took_s / 2)

    def send(self, now: float, max_wait_ms: int) -> int:
        """Note that a fetch is being sent. Returns how long the broker may wait for data, at most ``max_wait_ms``."""
        self._sent_at = now
        other_is_free = self._free_at[1 - self._channel] <= now
        self._wait_ms = max_wait_ms if other_is_free else min(max_wait_ms, self._short_ms)
        return self._wait_ms

    def answered(self, now: float) -> None:
        """Note that the response has arrived."""
        self._quickest_s = min(self._quickest_s, now - self._sent_at)

    def cut_at(self) -> float | None:
        """Return the time from which the fetch counts as a long poll to be cut short; None if it ends soon anyway."""
        if self._wait_ms <= self._short_ms:
            return None
        return self._sent_at + min(max(2 * self._quickest_s, _ANSWERED_FROM_S), _ANSWERED_BY_S)

    def cut(self) -> None:
        """Note that the outstanding fetch was cut short; the next one uses the other connection."""
        self._free_at[self._channel] = self._sent_at + self._wait_ms / 1000 + _SLACK_S
        self._channel = 1 - self._channel
        self.channel = CHANNELS[self._channel]
