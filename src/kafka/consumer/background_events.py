"""Background events since the caller last looked: errors to raise, and work for the caller."""

import weakref
from collections import deque
from collections.abc import Callable
from typing import ClassVar

from kafka.net.fork import after_fork


class BackgroundEvents:
    """Errors to raise, a wake-up, and a flag for other events. Any thread may write to it.

    A fork is an event, too: iteration, which may hold records of the parent, checks this flag before each record.

    Arguments:
        notify: wakes the caller if it waits.

    Attributes:
        pending: something has happened that the caller has not looked at yet.
    """

    __slots__ = ("__weakref__", "_errors", "_notify", "_woken", "pending")
    _all: ClassVar["weakref.WeakSet[BackgroundEvents]"] = weakref.WeakSet()

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._errors: deque[Exception] = deque()
        self._woken = False
        self.pending = False
        self._all.add(self)

    def happened(self) -> None:
        """There is something for the caller to do."""
        self.pending = True
        self._notify()

    def failed(self, error: Exception) -> None:
        """Have the next call raise an error; an equal one that was not raised yet is not repeated."""
        if error not in tuple(self._errors):  # a copy: the caller removes errors meanwhile
            self._errors.append(error)
        self.happened()

    def failed_alike(self, error: Exception) -> None:
        """Like `failed`, but keep one error of each type: many partitions may fail alike before the caller looks."""
        if not any(type(waiting) is type(error) for waiting in tuple(self._errors)):
            self.failed(error)

    @property
    def has_errors(self) -> bool:
        """Whether there is an error that was not raised."""
        return bool(self._errors)

    def next_error(self) -> Exception | None:
        """Remove and return the oldest error that was not raised, or None."""
        return self._errors.popleft() if self._errors else None

    def wake(self) -> None:
        """Make the caller return from waiting, now or next time."""
        self._woken = True
        self._notify()

    def woken(self) -> bool:
        """Whether `wake` was called since the last call of this."""
        woken, self._woken = self._woken, False
        return woken

    @classmethod
    def _after_fork(cls) -> None:
        for events in list(cls._all):
            events.pending = True


after_fork(BackgroundEvents._after_fork)
