"""Polls the cluster once for all viewers, while there are any. Each poll creates a `Snapshot`.

A page asks for the details of the topics and groups that it shows with `ClusterPoller.detail`; `cluster_state.py` reads
them.
"""

import asyncio
import collections
import contextlib
import dataclasses
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable

from kafka.errors import KafkaError, error_text
from kafka.structs import TopicPartition
from kafka.ui.snapshot import Need, Snapshot, rate

log = logging.getLogger(__name__)

KEPT = 720
"""Number of snapshots in the history: one hour at one snapshot every five seconds."""
_PATIENCE = 3
"""Number of intervals for which polling continues after a page request, because browsers without JavaScript reload."""
_LONGEST_PAUSE_S = 60.0
_CALM = 9
"""Minimum ratio of the pause to the duration of a poll, so that a large cluster is not polled all the time."""
_ALIVE_S = 15.0
"""Seconds without a new snapshot before a stream sends a keep-alive, which detects closed connections."""


@dataclasses.dataclass(slots=True)
class History:
    """Values of earlier snapshots, as pairs of a time and a value."""

    rates: dict[str, collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)
    lags: dict[tuple[str, str], collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)
    ends: dict[TopicPartition, collections.deque[tuple[float, int]]] = dataclasses.field(default_factory=dict)
    """The end offsets of the partitions that groups read."""

    def add(self, before: Snapshot | None, now: Snapshot) -> None:
        """Add a snapshot; drop topics and groups that no longer exist."""
        for topic in now.topics:
            if (found := rate(before, now, topic)) is not None:
                self.rates.setdefault(topic, collections.deque(maxlen=KEPT)).append((now.time, found))
        seen = set()
        for group in now.groups.values():
            for topic, lag in group.lag_by_topic().items():
                seen.add((group.name, topic))
                self.lags.setdefault((group.name, topic), collections.deque(maxlen=KEPT)).append((now.time, lag))
        ends = {tp: end for group in now.groups.values() for tp, end in group.ends.items()}
        for tp, end in ends.items():
            self.ends.setdefault(tp, collections.deque(maxlen=KEPT)).append((now.time, end))
        unknown = {each.name for each in now.groups.values() if not each.is_detailed}
        self.rates = {topic: kept for topic, kept in self.rates.items() if topic in now.topics}
        self.lags = {key: kept for key, kept in self.lags.items() if key in seen or key[0] in unknown}
        self.ends = {tp: kept for tp, kept in self.ends.items() if tp in ends or (unknown and tp.topic in now.topics)}

    def seconds_behind(self, tp: TopicPartition, committed: int) -> float | None:
        """Return how long ago the partition ended at a committed offset; None if that was before the history.

        The result is the lag in time: the group has not processed what was written since.
        """
        kept = list(self.ends.get(tp, ()))
        reached = [when for when, end in kept if end <= committed]
        return kept[-1][0] - reached[-1] if reached else None


class ClusterPoller:
    """Takes a `Snapshot` at regular intervals while there are viewers.

    Arguments:
        look: takes a snapshot; called with the time and the needed details.
        complete: adds needed details to a snapshot.
        interval_s: time between two snapshots, in seconds.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        look: Callable[[float, Need], Awaitable[Snapshot]],
        complete: Callable[[Snapshot, Need], Awaitable[Snapshot]],
        interval_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._look = look
        self._complete = complete
        self._needs: dict[Need, float] = {}
        self._completing = asyncio.Lock()
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
        """Whether the cluster is being polled."""
        return self._task is not None and not self._task.done()

    async def snapshot(self) -> Snapshot | None:
        """Return the newest snapshot for a page request. If there is none yet, return None; `trouble` says why."""
        seen = self._numbered
        fresh = self.is_looking and self._numbered > 0
        self._begin()
        if not fresh:
            await self._wait_for(seen)
        return self.newest

    async def detail(self, need: Need) -> Snapshot | None:
        """Return the newest snapshot with the details that a page needs; the next polls read them, too.

        If a detail cannot be read, return the snapshot without it; `trouble` says why.
        """
        self._needs[need] = asyncio.get_running_loop().time() + _PATIENCE * self._interval_s
        async with self._completing:  # pages that open at the same time need similar details
            if self.newest is None or need.missing_in(self.newest) == ([], []):
                return self.newest
            try:
                found = await self._complete(self.newest, need)
            except KafkaError as error:
                self._fail(error_text(error), error)
            else:
                self.newest = self.newest.completed_from(found)
        return self.newest

    async def follow(self) -> AsyncGenerator[bool]:
        """Yield True for each new snapshot, and False as a keep-alive."""
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
                if self._numbered > seen:  # otherwise the poller was closed
                    seen = self._numbered
                    yield True
        finally:
            self._viewers -= 1

    async def close(self) -> None:
        """End all streams, and stop polling."""
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
        clock = asyncio.get_running_loop().time
        longest_s = max(_LONGEST_PAUSE_S, self._interval_s)
        while self._is_wanted():
            began = clock()
            await self._observe()
            calm_s = max(self._interval_s, _CALM * (clock() - began))
            pause_s = min(2 * pause_s if self.trouble else calm_s, longest_s)
            await asyncio.sleep(pause_s)

    async def _observe(self) -> None:
        """Poll once. Every failure is shown to the viewers, and is logged once per cause."""
        try:
            found = await self._look(self._clock(), self._needed())
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

    def _needed(self) -> Need:
        """Return what recent requests of pages needed together."""
        now = asyncio.get_running_loop().time()
        self._needs = {need: until for need, until in self._needs.items() if until > now}
        return Need().union(*self._needs)

    def _fail(self, text: str, error: Exception) -> None:
        self.trouble = text
        if type(error).__name__ not in self._logged:
            self._logged.add(type(error).__name__)
            log.warning("cannot read the state of the cluster: %s", text, exc_info=not isinstance(error, KafkaError))
