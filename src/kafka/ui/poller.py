"""Polls the cluster once for all viewers, while there are any. Each poll creates a `Snapshot`.

A page asks for the details of the topics and groups that it shows with `ClusterPoller.detail`, and for those of all
topics or groups, which an order needs, with `ClusterPoller.collect`; `cluster_state.py` reads them. No page waits for
the cluster longer than the poller's patience: it is shown with what is known, and updated when the rest arrives.
`history.py` has the values of earlier snapshots.
"""

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any

from kafka.errors import KafkaError, error_text
from kafka.ui.history import History
from kafka.ui.snapshot import Need, Snapshot

log = logging.getLogger(__name__)

_PATIENCE = 3
"""Number of intervals for which polling continues after a page request, because browsers without JavaScript reload."""
_LONGEST_PAUSE_S = 60.0
_CALM = 9
"""Minimum ratio of the pause to the duration of a poll, so that a large cluster is not polled all the time."""
_COLLECTED_S = 60.0
"""Seconds until the details of all topics or groups, which an order needs, are read again."""
_TOPICS_AT_ONCE = 200
_GROUPS_AT_ONCE = 50
"""Maximum number of topics and groups whose details are read at once, so that pages are made in between."""
_ALIVE_S = 15.0
"""Seconds without a new snapshot before a stream sends a keep-alive, which detects closed connections."""


class ClusterPoller:
    """Takes a `Snapshot` at regular intervals while there are viewers.

    Arguments:
        look: takes a snapshot; called with the time and the needed details.
        complete: reads needed details of a snapshot; called with the snapshot, the details and the time.
        interval_s: time between two snapshots, in seconds.
        patience_s: how long a page waits for the cluster, in seconds.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        look: Callable[[float, Need], Awaitable[Snapshot]],
        complete: Callable[[Snapshot, Need, float], Awaitable[Snapshot]],
        interval_s: float,
        patience_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._look = look
        self._complete = complete
        self._needs: dict[Need, float] = {}
        self._completing = asyncio.Lock()
        self._interval_s = interval_s
        self._patience_s = patience_s
        self._clock = clock
        self._viewers = 0
        self._looked_at = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._readings: dict[Need, asyncio.Task[None]] = {}
        self._late: set[Need] = set()
        self._tellings: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()
        self._soon = asyncio.Event()
        self._observing = False
        self._closed = False
        self._numbered = 0
        self._logged: set[str] = set()
        self._is_failure_known = False
        self.newest: Snapshot | None = None
        self.trouble = ""
        self.is_resuming = False
        self.history = History()

    @property
    def is_looking(self) -> bool:
        """Whether the cluster is being polled."""
        return self._task is not None and not self._task.done()

    @property
    def number(self) -> int:
        """How often there was something new; `follow` continues from here."""
        return self._numbered

    @property
    def age_s(self) -> float:
        """The age of the newest snapshot in seconds; 0 before the first one."""
        return 0.0 if self.newest is None else max(0.0, self._clock() - self.newest.time)

    def begin(self) -> None:
        """Begin to poll, or continue, as if a page had been requested."""
        self._looked_at = asyncio.get_running_loop().time()
        if not self.is_looking and not self._closed:
            self.is_resuming = self.newest is not None
            self._task = asyncio.create_task(self._run())

    async def snapshot(self) -> Snapshot | None:
        """Return the newest snapshot for a page request, at once if there is one; otherwise, wait for a short time.

        After a pause, the newest snapshot is old, and `is_resuming` is set until the next one arrives. If there is no
        snapshot, return None; `trouble` says why, if the cluster has answered.
        """
        seen, was_told = self._numbered, self.is_looking and self._numbered > 0
        self.begin()
        if self.newest is None and not was_told:
            await self._patiently(self._wait_for(seen))
        return self.newest

    async def refreshed(self) -> Snapshot | None:
        """Take a snapshot that has what was changed before this call, wait for it for a short time, and return it."""
        seen = self._numbered + self._observing
        self.begin()
        self._soon.set()
        await self._patiently(self._wait_for(seen))
        return self.newest

    async def found(self, is_there: Callable[[Snapshot], bool]) -> Snapshot | None:
        """Return a snapshot for a page about something that may be new: if it is not there, look again.

        The cluster is not polled more often than at the polling interval for this.
        """
        now = await self.snapshot()
        if now is not None and not is_there(now) and (self.is_resuming or self.age_s >= self._interval_s):
            return await self.refreshed()
        return now

    async def detail(self, need: Need) -> Snapshot | None:
        """Return the newest snapshot with the details that a page shows; the next polls read them, too.

        If they are not read in a short time, return the snapshot without them; viewers are told when they arrive. If
        they cannot be read, `trouble` says why.
        """
        self._needs[need] = asyncio.get_running_loop().time() + _PATIENCE * self._interval_s
        if self.newest is not None:
            await self._read(need, self.newest.time)
        return self.newest

    async def collect(self, need: Need) -> Snapshot | None:
        """Return the newest snapshot with the details that an order needs, as far as they are known.

        They are read in parts, and are not read again for a minute. Viewers are told when all have arrived.
        """
        await self._read(need, self._clock() - _COLLECTED_S)
        return self.newest

    async def _read(self, need: Need, since: float) -> None:
        if self.newest is None:
            return
        missing = need.missing_in(self.newest, since)
        if missing == Need():
            return
        reading = self._readings.get(need)
        if reading is None:
            reading = self._readings[need] = asyncio.create_task(self._read_parts(missing, since))
            reading.add_done_callback(lambda _: self._end_reading(need))
        if not await self._patiently(asyncio.shield(reading)):
            self._late.add(need)

    async def _read_parts(self, need: Need, since: float) -> None:
        """Read details in parts. Pages that open in between wait for one part at most."""
        for part in need.parts(_TOPICS_AT_ONCE, _GROUPS_AT_ONCE):
            async with self._completing:
                before = self.newest
                if before is None or (missing := part.missing_in(before, since)) == Need():
                    continue
                try:
                    read = await self._complete(before, missing, self._clock())
                except Exception as error:
                    self._fail(_cause(error), error)
                    return
                now = self.newest.completed_from(read, missing) if self.newest is not None else read
                self.history.add_details(before, now, missing)
                self.newest = now

    async def _patiently(self, work: Coroutine[Any, Any, None] | asyncio.Future[None]) -> bool:
        """Wait for something for a short time; return whether it was done."""
        try:
            async with asyncio.timeout(self._patience_s):
                await work
        except TimeoutError:
            return False
        return True

    async def follow(self, seen: int | None = None) -> AsyncGenerator[bool]:
        """Yield True whenever there is something new, and False as a keep-alive.

        Arguments:
            seen: the `number` that the viewer's page shows; None: the current one.
        """
        self._viewers += 1
        try:
            seen = self._numbered if seen is None else min(seen, self._numbered)
            while not self._closed:
                self.begin()
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
        for task in (self._task, *self._readings.values()):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

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
            is_partial = self.newest is not None and self.newest.is_partial  # it waited
            calm_s = self._interval_s if is_partial else max(self._interval_s, _CALM * (clock() - began))
            pause_s = min(2 * pause_s if self.trouble else calm_s, longest_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._soon.wait()

    async def _observe(self) -> None:
        """Poll once. Every failure is shown to the viewers; see `_fail` for the log."""
        self._soon.clear()
        self._observing = True
        try:
            found = await self._look(self._clock(), self._needed())
            self.history.add(self.newest, found)
        except Exception as error:
            self._fail(_cause(error), error)
        else:
            if self.newest is not None:  # keep what is known of the topics and groups that no page shows
                found = dataclasses.replace(found.completed_from(self.newest), notes=found.notes)
            self.newest = found
            self.trouble, self.is_resuming, self._is_failure_known = "", False, False
        self._observing = False
        await self._told()

    async def _told(self) -> None:
        self._numbered += 1
        async with self._changed:
            self._changed.notify_all()

    def _end_reading(self, need: Need) -> None:
        """Tell the viewers that details have arrived, if that was after a page was made."""
        del self._readings[need]
        if need in self._late and not self._closed:
            self._late.discard(need)
            telling = asyncio.create_task(self._told())
            self._tellings.add(telling)
            telling.add_done_callback(self._tellings.discard)

    def _needed(self) -> Need:
        """Return what recent requests of pages needed together."""
        now = asyncio.get_running_loop().time()
        self._needs = {need: until for need, until in self._needs.items() if until > now}
        return Need().union(*self._needs)

    def begin_unreachable(self, text: str) -> None:
        """Show a failure that the user has been told of. It is not logged, nor are those until the cluster answers."""
        self.trouble, self._is_failure_known = text, True

    def _fail(self, text: str, error: Exception) -> None:
        """Show a failure. Kafka's errors are logged once until the cluster answers again, others once for each type."""
        self.trouble = text
        if isinstance(error, KafkaError):
            is_known, self._is_failure_known = self._is_failure_known, True
        else:
            is_known = type(error).__name__ in self._logged
            self._logged.add(type(error).__name__)
        if not is_known:
            log.warning("cannot read the state of the cluster: %s", text, exc_info=not isinstance(error, KafkaError))


def _cause(error: Exception) -> str:
    if isinstance(error, KafkaError):
        return error_text(error)
    return f"cannot read the cluster's answer: {type(error).__name__}: {error}"
