"""Heartbeats at the interval that the coordinator asks for (KIP-848, KIP-932), and a watch on the caller."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from kafka.cluster import Backoff, RetryPolicy
from kafka.coordinator.group_metrics import PollClock

log = logging.getLogger(__name__)


class HeartbeatTask:
    """Sends heartbeats from `start` to `stop`, whatever goes wrong with one. On the loop.

    Arguments:
        group_id: the group, for the log.
        beat: sends one, handles its response, and returns after how many seconds the next is due. It is called again
            after a pause if it raises.
        clock: knows when the caller last polled.
        max_poll_interval_ms: the maximum time between two polls.
        overdue: called with the seconds since the last poll if that is exceeded; no heartbeat is sent after that.
        backoff: pauses after heartbeats that failed.
    """

    def __init__(
        self,
        group_id: str,
        beat: Callable[[], Awaitable[float]],
        clock: PollClock,
        max_poll_interval_ms: float,
        overdue: Callable[[float], None],
        backoff: Backoff,
    ) -> None:
        self._group_id = group_id
        self._beat = beat
        self._clock = clock
        self._max_poll_s = max_poll_interval_ms / 1000
        self._overdue = overdue
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=lambda error: False)
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    @property
    def running(self) -> bool:
        """Whether it is between `start` and `stop`."""
        return self._task is not None

    def start(self) -> None:
        """Start with a heartbeat at once; does nothing if it is running."""
        if self._task is None:
            self._news.clear()
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"heartbeat {self._group_id}")

    def stop(self) -> None:
        """Stop; may be called from within a heartbeat."""
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def hurry(self) -> None:
        """Send the next heartbeat at once, because there is news. After a failure, the pause is kept."""
        self._news.set()

    async def _run(self) -> None:
        loop, me = asyncio.get_running_loop(), asyncio.current_task()
        attempts = self._policy.attempts(f"heartbeat of group {self._group_id!r}")
        due = loop.time()
        while self._task is me:
            now = loop.time()
            idle = self._clock.idle(now)
            if idle > self._max_poll_s:
                self._task = None
                self._overdue(idle)
                return
            hurries = self._news.is_set() and not attempts.failures
            if now < due and not hurries:
                await self._wait(min(due - now, max(self._max_poll_s - idle, 0.001)), bool(attempts.failures))
                continue
            self._news.clear()
            try:
                interval = await self._beat()
            except Exception as error:
                due = loop.time() + attempts.note(error)
            else:
                attempts.succeeded()
                due = loop.time() + interval

    async def _wait(self, seconds: float, whatever_comes: bool) -> None:
        """Wait for the time to pass, or for news."""
        if whatever_comes:
            await asyncio.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
