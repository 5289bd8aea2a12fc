"""Decides when metadata are asked for: regularly and on request, one request at a time, and not too often."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterable

from kafka.cluster.backoff import Backoff
from kafka.cluster.retry import RetryPolicy, as_kafka_error, nothing
from kafka.cluster.troubles import Troubles
from kafka.errors import IllegalStateError, KafkaError

log = logging.getLogger(__name__)

_WHAT = "refreshing the cluster's metadata"


class _Round:
    """One refresh, under way or to come, and those who wait for it. ``everything``: all that is watched."""

    __slots__ = ("everything", "future", "topics")

    def __init__(self) -> None:
        self.everything = False
        self.topics: set[str] = set()
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.future.add_done_callback(lambda future: future.cancelled() or future.exception())

    def covers(self, topics: frozenset[str] | None) -> bool:
        """Whether a caller who asks for this gets it from this round (a full round names no single topic)."""
        return self.everything if topics is None else topics <= self.topics

    def add(self, topics: frozenset[str] | None) -> None:
        if topics is None:
            self.everything = True
        else:
            self.topics |= topics


class MetadataRefresher:
    """Single-flight refreshes.

    Arguments:
        fetch: asks a broker and takes in the answer; its argument is the topics to ask for, and whether everything
            that is watched is asked for as well.
        min_interval_ms, max_interval_ms: how far apart two refreshes are at least, and at most when they fail.
        max_age_ms: after how long a refresh is made unasked.
        troubles: shows failures.
    """

    def __init__(
        self,
        fetch: Callable[[set[str], bool], Awaitable[None]],
        min_interval_ms: int,
        max_interval_ms: int,
        max_age_ms: int,
        troubles: Troubles | None = None,
    ) -> None:
        self._fetch = fetch
        self._min_interval_s = min_interval_ms / 1000
        self._max_age_s = max_age_ms / 1000
        self._running: _Round | None = None
        self._next: _Round | None = None
        self._driver: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._not_before = 0.0
        backoff = Backoff(min_interval_ms, max_interval_ms, troubles=troubles)
        self._attempts = RetryPolicy(backoff, log, fatal=nothing).attempts(_WHAT)
        self.fetched_at = -math.inf
        """When the metadata were last taken in, in the loop's seconds."""
        self._closed = False

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Wait for a refresh that covers ``topics`` (None: all that is watched), joining one under way if it does.

        Raises what fetching raises.
        """
        await asyncio.shield(self.request(topics))

    def request(self, topics: Iterable[str] | None = None) -> "asyncio.Future[None]":
        """As `refresh`, without waiting."""
        if self._closed:
            raise IllegalStateError("the client is closed")
        wanted = None if topics is None else frozenset(topics)
        if self._running is not None and self._running.covers(wanted):
            return self._running.future
        if self._next is None:
            self._next = _Round()
        self._next.add(wanted)
        if self._driver is None or self._driver.done():
            self._driver = asyncio.get_running_loop().create_task(self._drive())
        return self._next.future

    def fetched(self) -> None:
        """The metadata have just been taken in, by a refresh or by bootstrapping: count their age from now."""
        self._attempts.succeeded()
        self.fetched_at = asyncio.get_running_loop().time()
        self._renew_in(self._max_age_s)

    async def close(self) -> None:
        """End what is under way."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        rounds = (self._running, self._next)  # before the driver, which forgets what it was at, is cancelled
        if self._driver is not None:
            self._driver.cancel()
            await asyncio.gather(self._driver, return_exceptions=True)
        for each in rounds:
            if each is not None and not each.future.done():
                each.future.set_exception(IllegalStateError("the client was closed"))

    def _renew_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._max_age_s > 0 and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.request)

    async def _drive(self) -> None:
        loop = asyncio.get_running_loop()
        while self._next is not None:
            pause = self._not_before - loop.time()
            if pause > 0:
                await asyncio.sleep(pause)
            this, self._next = self._next, None
            self._running = this
            try:
                await self._fetch(this.topics, this.everything)
            except Exception as error:
                pause = self._attempts.note(error)
                self._not_before = loop.time() + pause
                self._renew_in(max(pause, 1.0))
                self._settle(this, as_kafka_error(_WHAT, error))
            else:
                self._not_before = loop.time() + self._min_interval_s
                self.fetched()
                self._settle(this, None)
            finally:
                self._running = None

    @staticmethod
    def _settle(this: _Round, error: KafkaError | None) -> None:
        if this.future.done():
            return
        if error is None:
            this.future.set_result(None)
        else:
            this.future.set_exception(error)
