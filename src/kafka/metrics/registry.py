"""The registry and its kinds of metric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar


class Metric(Protocol):
    """Something with a present value."""

    def value(self) -> float:
        """The present value."""


class Counter:
    """A sum that only grows."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total: float = 0

    def add(self, amount: float = 1) -> None:
        """Add to the sum."""
        self.total += amount

    def value(self) -> float:
        """The sum."""
        return self.total


class Average:
    """The mean of what was recorded; NaN as long as there is nothing."""

    __slots__ = ("count", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total: float = 0

    def record(self, value: float) -> None:
        """Take in one value."""
        self.count += 1
        self.total += value

    def value(self) -> float:
        """The mean."""
        return self.total / self.count if self.count else float("nan")


class Maximum:
    """The largest value that was recorded; NaN as long as there is nothing."""

    __slots__ = ("largest",)

    def __init__(self) -> None:
        self.largest: float | None = None

    def record(self, value: float) -> None:
        """Take in one value."""
        if self.largest is None or value > self.largest:
            self.largest = value

    def value(self) -> float:
        """The largest value."""
        return float("nan") if self.largest is None else self.largest


class Rate:
    """What was added, a second, since the metric was made.

    Arguments:
        clock: gives the time in seconds; the event loop's.
    """

    __slots__ = ("_clock", "_since", "total")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since = clock()
        self.total: float = 0

    def add(self, amount: float = 1) -> None:
        """Add to the sum."""
        self.total += amount

    def value(self) -> float:
        """The sum over the seconds gone by."""
        elapsed = self._clock() - self._since
        return self.total / elapsed if elapsed > 0 else 0.0


class _Gauge:
    """A value that is asked for when somebody looks."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read

    def value(self) -> float:
        """Ask for the value."""
        return self._read()


Kind = TypeVar("Kind", Counter, Average, Maximum, Rate)


class Metrics:
    """All metrics of one client.

    Arguments:
        enabled: False makes `snapshot` empty; metrics are handed out as ever, so that nobody has to ask.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._groups: dict[str, dict[str, Metric]] = {}

    def add(self, group: str, name: str, metric: Kind) -> Kind:
        """Register a metric under a group and a name, and return it. Raises `ValueError` if the name is taken."""
        self._register(group, name, metric)
        return metric

    def gauge(self, group: str, name: str, read: Callable[[], float]) -> None:
        """Register a function that tells the present value. Raises `ValueError` if the name is taken."""
        self._register(group, name, _Gauge(read))

    def _register(self, group: str, name: str, metric: Metric) -> None:
        names = self._groups.setdefault(group, {})
        if name in names:
            raise ValueError(f"there is a metric {name!r} in group {group!r} already")
        names[name] = metric

    def snapshot(self) -> dict[str, dict[str, float]]:
        """Present values by group and name, as `metrics()` of the clients gives them."""
        if not self._enabled:
            return {}
        return {
            group: {name: metric.value() for name, metric in list(names.items())}
            for group, names in list(self._groups.items())
        }
