"""Background events: errors to raise, and work for the caller."""

import weakref
from collections import deque
from collections.abc import Callable
from typing import ClassVar

from kafka.net.fork import after_fork


class BackgroundEvents:
    """Errors to raise, a wake-up, and a flag for other events. Any thread may add events.

    A fork counts as an event, too: an iterator may hold the parent's records, so it checks the flag before each record.

    Arguments:
        notify: wakes the caller if it is waiting.

    Attributes:
        is_woken: whether `wake` has been called since the last call of `woken`.
        pending: whether there are events that the caller has not handled.
    """

    __slots__ = ("__weakref__", "_errors", "_notify", "is_woken", "pending")
    _all: ClassVar["weakref.WeakSet[BackgroundEvents]"] = weakref.WeakSet()

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._errors: deque[Exception] = deque()
        self.is_woken = False
        self.pending = False
        self._all.add(self)

    def happened(self) -> None:
        """Notify the caller that there is work for it."""
        self.pending = True
        self._notify()

    def failed(self, error: Exception) -> None:
        """Make the next call raise an error, unless an equal one is already pending."""
        if error not in tuple(self._errors):  # a copy, because the caller may remove errors in the meantime
            self._errors.append(error)
        self.happened()

    def failed_alike(self, error: Exception) -> None:
        """Like `failed`, but keep only one error of each type, because many partitions may fail in the same way."""
        if not any(type(waiting) is type(error) for waiting in tuple(self._errors)):
            self.failed(error)

    @property
    def has_errors(self) -> bool:
        """Whether an error is to be raised."""
        return bool(self._errors)

    def next_error(self) -> Exception | None:
        """Remove and return the oldest error, or None."""
        return self._errors.popleft() if self._errors else None

    def wake(self) -> None:
        """Make the caller's current or next wait return."""
        self.is_woken = True
        self._notify()

    def woken(self) -> bool:
        """Return whether `wake` has been called since the last call of this method."""
        woken, self.is_woken = self.is_woken, False
        return woken

    @classmethod
    def _after_fork(cls) -> None:
        for events in list(cls._all):
            events.pending = True


after_fork(BackgroundEvents._after_fork)
