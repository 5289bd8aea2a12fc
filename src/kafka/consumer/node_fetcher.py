"""Fetching from one broker: a task that keeps one Fetch outstanding as long as there is something to fetch."""

import asyncio
import logging
from typing import Any, Protocol

from kafka.cluster import Backoff
from kafka.config import FetchOptions
from kafka.consumer.fetch_session import FetchBody, FetchSession
from kafka.consumer.partition_state import PartitionState
from kafka.errors import (
    FetchSessionIdNotFoundError,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpochError,
    KafkaError,
    for_code,
)
from kafka.wire.api.fetch import FetchRequest, FetchResponse

log = logging.getLogger(__name__)

CHANNELS = ("fetch", "fetch-2")
"""Long polls have a connection of their own: a broker answers one request at a time on each. The second is opened when
a long poll has to be cut short, because the broker would answer nothing on the first until that is over."""

_NAMED_UNTIL = 12
"""The last version of Fetch that names topics instead of giving their ids."""

_HELD_UP_S = 0.1
"""How long a fetch waits for the caller to make room for a partition, before it goes on without that partition."""

_CUT_SHORT_S = 0.02
"""How long a fetch may keep a partition waiting that was wanted after it had been sent."""

_CUTS_APART_S = 0.2
"""How far apart two fetches are cut short at least: the next request has to name everything again."""

_SESSION_ERRORS = frozenset(
    {FetchSessionIdNotFoundError.errno, InvalidFetchSessionEpochError.errno, FetchSessionTopicIdError.errno}
)


class FetchClient(Protocol):
    """The part of `kafka.cluster.ClusterClient` that fetching stands on."""

    async def send(
        self,
        node_id: int,
        request: Any,
        *,
        timeout_ms: float | None = None,
        min_version: int = 0,
        max_version: int | None = None,
        channel: str = "",
    ) -> Any:
        """One try to send a request to a broker."""


class NodeAnswers(Protocol):
    """Who takes what a broker answers."""

    def take_answer(self, node: "NodeFetcher", response: FetchResponse) -> None:
        """The broker has answered."""

    def node_failed(self, node: "NodeFetcher", error: KafkaError) -> None:
        """The broker could not be asked."""


class NodeFetcher:
    """See the module.

    Arguments:
        node_id: the broker.
        options: sizes and times.
        client: sends.
        answers: takes the answers.
        backoff: pauses after failures.
    """

    def __init__(
        self, node_id: int, options: FetchOptions, client: FetchClient, answers: NodeAnswers, backoff: Backoff
    ) -> None:
        self.node_id = node_id
        self.session = FetchSession(options.enable_incremental_fetch_sessions, options.max_partition_fetch_bytes)
        self.blocked: set[PartitionState] = set()
        """Partitions of this broker that wait until the caller has made room."""
        self._options = options
        self._client = client
        self._answers = answers
        self._backoff = backoff
        self._wake = asyncio.Event()
        self._sending: asyncio.Task[FetchResponse] | None = None
        self._cut_short = False
        self._cut_timer: asyncio.TimerHandle | None = None
        self._cut_not_before = 0.0
        self._channel = 0
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"fetch from broker {node_id}")

    def changed(self, urgent: bool) -> None:
        """Something else is wanted now.

        Arguments:
            urgent: whether it is something that the fetch on its way does not bring: if that turns out to be a long
                poll, it is cut short.
        """
        self._wake.set()
        if urgent and self._sending is not None and self._cut_timer is None:
            loop = asyncio.get_running_loop()
            at = max(loop.time() + _CUT_SHORT_S, self._cut_not_before)
            self._cut_timer = loop.call_at(at, self._cut, self._sending)

    def close(self) -> None:
        """Stop; an answer on its way is not waited for."""
        self._task.cancel()
        if self._cut_timer is not None:
            self._cut_timer.cancel()

    def _cut(self, sending: "asyncio.Task[FetchResponse]") -> None:
        self._cut_timer = None
        if sending is self._sending and not sending.done():
            self._cut_short = True
            sending.cancel()

    async def _run(self) -> None:
        failures = 0
        while True:
            max_wait_ms = await self._until_wanted()
            try:
                await self._fetch(max_wait_ms)
                failures = 0
            except KafkaError as error:
                failures += 1
                self.session.reset()
                self._answers.node_failed(self, error)
                await asyncio.sleep(self._backoff.seconds(failures))

    async def _until_wanted(self) -> int:
        """Wait until there is something to fetch; how long the broker may then wait for data, in ms."""
        while True:
            self._wake.clear()
            if self.session.wanted and not self.blocked:
                return self._options.fetch_max_wait_ms
            if not self.session.wanted:
                await self._wake.wait()
                continue
            # A long poll now would leave out the partitions that are held up, and keep them out while it lasts.
            try:
                async with asyncio.timeout(_HELD_UP_S):
                    await self._wake.wait()
            except TimeoutError:
                return 0

    async def _fetch(self, max_wait_ms: int) -> None:
        body = self.session.next_request()
        response = await self._send(self._request(body, max_wait_ms), None if body.by_id else _NAMED_UNTIL)
        if response is None:
            self.session.reset(keep_id=True)
            return
        if response.error_code in _SESSION_ERRORS:
            log.debug("broker %d: %s, so a new session begins", self.node_id, for_code(response.error_code).message)
            self.session.reset(keep_id=response.error_code != FetchSessionIdNotFoundError.errno)
            return
        if response.error_code:
            raise for_code(response.error_code)(f"Fetch from broker {self.node_id}")
        self.session.answered(response.session_id)
        self._answers.take_answer(self, response)

    async def _send(self, request: FetchRequest, max_version: int | None) -> FetchResponse | None:
        """Send; None if the fetch was cut short."""
        loop = asyncio.get_running_loop()
        send = self._client.send(self.node_id, request, max_version=max_version, channel=CHANNELS[self._channel])
        self._sending = loop.create_task(send)
        try:
            return await self._sending
        except asyncio.CancelledError:
            if not self._cut_short:
                raise
            self._channel = 1 - self._channel
            self._cut_not_before = loop.time() + _CUTS_APART_S
            return None
        finally:
            self._sending, self._cut_short = None, False
            if self._cut_timer is not None:
                self._cut_timer.cancel()
                self._cut_timer = None

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
