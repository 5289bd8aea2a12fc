"""A client's currently failing operations and its last error, recorded by `RetryPolicy` for `health()`."""

import time
from collections.abc import Callable
from typing import NamedTuple

from kafka.health import Failure

_MOST = 256


class _Recorded(NamedTuple):
    what: str
    error: str
    text: str
    at: float
    in_a_row: int


class CurrentFailures:
    """The operations that currently fail. Thread-safe without a lock: each change is one atomic dict operation.

    Arguments:
        clock: the client's time in seconds.
        keep_s: seconds for which a failed operation that is not retried counts as failing.
        client_id: the client's id, for the log.
    """

    __slots__ = ("_clock", "_keep_s", "_last", "_present", "client_id")

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, keep_s: float = 90.0, client_id: str | None = None
    ) -> None:
        self.client_id = client_id
        self._clock = clock
        self._keep_s = keep_s
        self._present: dict[str, _Recorded] = {}
        self._last: _Recorded | None = None

    def failed(self, what: str, error: Exception, in_a_row: int) -> None:
        """Record that an operation has failed and will be retried."""
        recorded = self._last = _recorded(what, error, self._clock(), in_a_row)
        if len(self._present) >= _MOST and what not in self._present:
            self._present.pop(next(iter(list(self._present))), None)
        self._present[what] = recorded

    def noted(self, what: str, error: Exception) -> None:
        """Record that an operation has failed permanently and that the error is raised to its caller."""
        self._last = _recorded(what, error, self._clock(), 1)

    def over(self, what: str) -> None:
        """Record that an operation has succeeded again, or will not be retried."""
        self._present.pop(what, None)

    def failing(self) -> tuple[Failure, ...]:
        """Return the operations that currently fail."""
        now = self._clock()
        return tuple(_shown(each, now) for each in list(self._present.values()) if now - each.at < self._keep_s)

    def last(self) -> Failure | None:
        """Return the most recent error, or None."""
        last = self._last
        return None if last is None else _shown(last, self._clock())


def _recorded(what: str, error: Exception, now: float, in_a_row: int) -> _Recorded:
    """Return a record with the error as text only, because a traceback would keep objects alive."""
    return _Recorded(what, type(error).__name__, str(error), now, in_a_row)


def _shown(recorded: _Recorded, now: float) -> Failure:
    return Failure(recorded.what, recorded.error, recorded.text, max(0.0, now - recorded.at), recorded.in_a_row)
