"""Looks at the cluster for all viewers together, and only while there are any."""

import asyncio
import collections
import contextlib
import dataclasses
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable

from kafka.errors import KafkaError, error_text
from kafka.ui.snapshot import Snapshot, rate

log = logging.getLogger(__name__)

KEPT = 720
"""So many moments are kept: an hour at one each five seconds."""
_PATIENCE = 3
"""For so many intervals after a page was asked for somebody still looks at it: pages without a script ask again."""
_LONGEST_PAUSE_S = 60.0
_ALIVE_S = 15.0
"""After so long without news a stream says that it is there, which shows whether anybody is at its other end."""


@dataclasses.dataclass(slots=True)
class History:
    """What is kept of the moments before: pairs of a time and a value."""

    rates: dict[str, collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)
    lags: dict[tuple[str, str], collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)

    def add(self, before: Snapshot | None, now: Snapshot) -> None:
        """Add a moment; what is no longer there is forgotten."""
        for topic in now.topics:
            if (found := rate(before, now, topic)) is not None:
                self.rates.setdefault(topic, collections.deque(maxlen=KEPT)).append((now.time, found))
        seen = set()
        for group in now.groups.values():
            for topic, lag in group.lag_by_topic().items():
                seen.add((group.name, topic))
                self.lags.setdefault((group.name, topic), collections.deque(maxlen=KEPT)).append((now.time, lag))
        self.rates = {topic: kept for topic, kept in self.rates.items() if topic in now.topics}
        self.lags = {key: kept for key, kept in self.lags.items() if key in seen}


class Observer:
    """Asks for a `Snapshot` at intervals, while somebody looks.

    Arguments:
        look: makes a snapshot; it is given the time.
        interval_s: between two.
        clock: the time of day in seconds since 1970.
    """

    def __init__(
        self, look: Callable[[float], Awaitable[Snapshot]], interval_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._look = look
        self._interval_s = interval_s
        self._clock = clock
        self._viewers = 0
        self._looked_at = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self._closed = False
        self._numbered = 0
        self._logged: set[str] = set()
        self.newest: Snapshot | None = None
        self.trouble = ""
        self.history = History()

    @property
    def is_looking(self) -> bool:
        """Whether the cluster is being asked."""
        return self._task is not None and not self._task.done()

    async def snapshot(self) -> Snapshot | None:
        """The newest moment, for a page that is asked for once; None: there never was an answer, see `trouble`."""
        seen = self._numbered
        fresh = self.is_looking and self._numbered > 0
        self._begin()
        if not fresh:
            await self._wait_for(seen)
        return self.newest

    async def follow(self) -> AsyncGenerator[bool]:
        """True for each new moment, as long as somebody wants it; False, now and then, where there is none."""
        self._viewers += 1
        try:
            seen = self._numbered
            while not self._closed:
                self._begin()
                try:
                    async with asyncio.timeout(_ALIVE_S):
                        await self._wait_for(seen)
                except TimeoutError:
                    yield False
                    continue
                if self._numbered > seen:  # else it was closed
                    seen = self._numbered
                    yield True
        finally:
            self._viewers -= 1

    async def close(self) -> None:
        """End all streams, and look no longer."""
        self._closed = True
        async with self._changed:
            self._changed.notify_all()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _begin(self) -> None:
        self._looked_at = asyncio.get_running_loop().time()
        if not self.is_looking and not self._closed:
            self._task = asyncio.create_task(self._run())

    def _is_wanted(self) -> bool:
        since = asyncio.get_running_loop().time() - self._looked_at
        return self._viewers > 0 or since < _PATIENCE * self._interval_s

    async def _wait_for(self, seen: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._closed or self._numbered > seen)

    async def _run(self) -> None:
        pause_s = self._interval_s
        while self._is_wanted():
            await self._observe()
            pause_s = min(2 * pause_s, max(_LONGEST_PAUSE_S, self._interval_s)) if self.trouble else self._interval_s
            await asyncio.sleep(pause_s)

    async def _observe(self) -> None:
        """Look once; every failure is told to the viewers, and logged once a cause."""
        try:
            found = await self._look(self._clock())
            self.history.add(self.newest, found)
        except KafkaError as error:
            self._fail(error_text(error), error)
        except Exception as error:
            self._fail(f"cannot read the cluster's answer: {type(error).__name__}: {error}", error)
        else:
            self.newest, self.trouble = found, ""
        self._numbered += 1
        async with self._changed:
            self._changed.notify_all()

    def _fail(self, text: str, error: Exception) -> None:
        self.trouble = text
        if type(error).__name__ not in self._logged:
            self._logged.add(type(error).__name__)
            log.warning("cannot read the state of the cluster: %s", text, exc_info=not isinstance(error, KafkaError))
