"""When automatic commits are due, and what is logged about those that fail."""

import asyncio
import logging
from collections.abc import Callable

from kafka.cluster import Backoff, LogLimiter
from kafka.errors import RetriableCommitFailedError

log = logging.getLogger(__name__)

_WHAT = "automatic commits"
_LEAST_MS = 100
"""What an interval of 0 is, as the loop would do nothing else then; Java's consumer commits in each `poll` instead."""


class AutoCommitSchedule:
    """Runs on the loop, but for `take_due`. A commit that failed for a cause that passes is due again after a pause.

    Arguments:
        interval_ms: ``auto_commit_interval_ms``; 0 is 100.
        backoff: pauses after failures; none is longer than the interval.
        tell_caller: called when one is due: only the caller knows what it has processed, which is everything that was
            handed out before its next `poll()`.
    """

    def __init__(self, interval_ms: float, backoff: Backoff, tell_caller: Callable[[], None]) -> None:
        self._interval_s = (interval_ms or _LEAST_MS) / 1000
        self._backoff = backoff
        self._tell_caller = tell_caller
        self._timer: asyncio.TimerHandle | None = None
        self._running = False
        self._due = False
        self._failures = 0
        self._causes: dict[str, None] = {}
        self._limiter = LogLimiter(log)

    def start(self) -> None:
        """Begin; the first commit is due after an interval."""
        self._running = True
        self._arm(self._interval_s)

    def stop(self) -> None:
        """From now on none gets due."""
        self._running = False
        if self._timer is not None:
            self._timer.cancel()

    def take_due(self) -> bool:
        """Whether a commit is due, which the caller sees to now; called in its thread."""
        due, self._due = self._due, False
        return due

    def succeeded(self) -> None:
        """An automatic commit has succeeded."""
        self._failures = 0
        self._backoff.troubles.over(_WHAT)
        for cause in self._causes:
            self._limiter.over(cause, f"automatic commits work again after {cause}")
        self._causes.clear()

    def failed(self, error: Exception, count: int, is_last: bool = False) -> None:
        """An automatic commit has failed; no call reports it, but the log and `health()`.

        Arguments:
            count: of offsets.
            is_last: whether none of these partitions comes after it: then it is logged in any case.
        """
        self._failures += 1
        self._backoff.troubles.failed(_WHAT, error, self._failures)
        text = f"auto commit of {count} offsets failed: {error}"
        passes = isinstance(error, RetriableCommitFailedError)
        if is_last and not passes:
            log.warning("%s", text)
        elif passes and self._failures == 1:
            log.debug("%s", text)
        else:
            cause = type(error.__cause__ if passes and error.__cause__ else error).__name__
            self._causes[cause] = None
            self._limiter.warning(cause, text)
        if passes and self._running:
            self._arm(min(self._backoff.seconds(self._failures), self._interval_s))

    def _arm(self, pause_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(pause_s, self._interval_over)

    def _interval_over(self) -> None:
        self._due = True
        self._tell_caller()
        self._arm(self._interval_s)
