"""The clients' counters: sums over the last few time windows.

A part of a client adds to the fields of the window that `Windows.at` returns, once per batch or response, in one
thread. Averages, maxima and rates are computed on request, in any thread. They are defined as in kafka-python: the
average of no values is 0, the maximum of no values is minus infinity, and a rate is computed over at least the length
of all windows but one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar


class WindowOptions(NamedTuple):
    """The number of windows, and their length.

    Arguments:
        samples: number of windows that count.
        window_s: length of a window in seconds.
    """

    samples: int = 2
    window_s: float = 30.0


class Window:
    """The sums of one period, which starts with the first event counted. Subclasses define the fields.

    Arguments:
        begin: when the window begins, in the client's time in seconds.
    """

    __slots__ = ("begin",)

    def __init__(self, begin: float) -> None:
        self.begin = begin


W = TypeVar("W", bound=Window)


class Windows(Generic[W]):
    """The current window, and the earlier windows that still count.

    Code that counts for each request uses `present` directly until the time is `until`, which saves a function call.

    Arguments:
        make: creates a window that begins at the given time.
        options: the number and length of windows.

    Attributes:
        present: the current window, a `W`; None before the first event.
        until: when the current window ends, in the client's time in seconds; minus infinity before the first event.
    """

    __slots__ = ("_make", "_options", "_past", "present", "until")

    def __init__(self, make: Callable[[float], W], options: WindowOptions) -> None:
        self._make = make
        self._options = options
        self._past: tuple[W, ...] = ()
        self.present: Any = None
        self.until = -math.inf

    def at(self, now: float) -> W:
        """Return the window in which to count; called in the counting thread."""
        present: W = self.present if now < self.until else self.turn(now)
        return present

    def turn(self, now: float) -> W:
        """Begin a new window, because the present one has ended, and return it."""
        samples, window_s = self._options
        self._past = self._all()[1 - samples :] if samples > 1 else ()
        self.present = present = self._make(now)
        self.until = now + window_s
        return present

    def _all(self) -> tuple[W, ...]:
        return self._past if self.present is None else (*self._past, self.present)

    def live(self, now: float) -> list[W]:
        """Return the windows that still count, oldest first."""
        samples, window_s = self._options
        return [window for window in self._all() if now - window.begin < samples * window_s]

    def rate(self, field: str, now: float) -> float:
        """Return the sum of a field per second."""
        samples, window_s = self._options
        live: list[Any] = self.live(now)
        elapsed_s = now - live[0].begin if live else 0.0
        missing = samples - 1 - int(elapsed_s / window_s)
        elapsed_s += max(missing, 0) * window_s
        return float(sum(getattr(each, field) for each in live)) / elapsed_s if elapsed_s > 0 else 0.0


Counts = Iterable[Windows[Any]]
"""Related counters, such as those of all brokers."""


def total(counts: Counts, field: str, now: float) -> float:
    """Return the sum of a field."""
    return float(sum(getattr(window, field) for each in list(counts) for window in each.live(now)))


def mean(counts: Counts, field: str, by: str, now: float) -> float:
    """Return the sum of one field divided by the sum of another; 0 if the divisor is 0."""
    divisor = total(counts, by, now)
    return total(counts, field, now) / divisor if divisor else 0.0


def largest(counts: Counts, field: str, now: float) -> float:
    """Return the largest value of a field; minus infinity if nothing was counted."""
    values = (getattr(window, field) for each in list(counts) for window in each.live(now))
    return max(values, default=-math.inf)


def rate(counts: Counts, field: str, now: float) -> float:
    """Return the sum of a field per second."""
    return sum(each.rate(field, now) for each in list(counts))


class Values(Window):
    """Values of one kind, such as request durations."""

    __slots__ = ("count", "largest", "total")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.count = 0
        self.total = 0.0
        self.largest = -math.inf


class SampledValues(Windows[Values]):
    """Sampled values of one kind.

    Arguments:
        options: the number and length of windows.
    """

    __slots__ = ()

    def __init__(self, options: WindowOptions) -> None:
        super().__init__(Values, options)

    def record(self, value: float, now: float) -> None:
        """Record a value."""
        window: Values = self.present if now < self.until else self.turn(now)
        window.count += 1
        window.total += value
        if value > window.largest:
            window.largest = value
