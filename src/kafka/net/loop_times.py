"""How the clients' loop spends its time: waiting for sockets and timers, or working."""

import selectors
import time
from typing import TYPE_CHECKING

from kafka.metrics.client_metrics import Metric, rate_of
from kafka.metrics.windows import Counts, Window, WindowOptions, Windows, mean

if TYPE_CHECKING:
    Ready = list[tuple[selectors.SelectorKey, int]]


_now = time.monotonic


class _Turns(Window):
    """Turns of the loop."""

    __slots__ = ("turns", "waited_s", "worked_s")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.turns = 0
        self.waited_s = self.worked_s = 0.0


class TimedSelector(selectors.DefaultSelector):
    """The system's selector, which takes the time.

    Attributes:
        times: of the last minute or half of it; all clients share the loop, and so these.
    """

    def __init__(self) -> None:
        super().__init__()
        self.times = Windows(_Turns, WindowOptions())
        self._woken = _now()
        self._wait = super().select  # looked up once: each turn of the loop comes here

    def select(self, timeout: float | None = None) -> "Ready":
        """Wait for events."""
        asleep = _now()
        window = self.times.at(asleep)
        window.turns += 1
        window.worked_s += asleep - self._woken
        ready = self._wait(timeout)
        self._woken = woken = _now()
        window.waited_s += woken - asleep
        return ready


def _ns_a_turn(field: str, counts: Counts, now: float) -> float:
    return 1e9 * mean(counts, field, "turns", now)


LOOP_METRICS = (
    Metric("select-rate", "turns of the loop a second", rate_of("turns")),
    Metric(
        "io-wait-time-ns-avg", "mean ns of waiting in a turn", lambda counts, now: _ns_a_turn("waited_s", counts, now)
    ),
    Metric("io-wait-ratio", "part of the time in which the loop waits", rate_of("waited_s")),
    Metric("io-time-ns-avg", "mean ns of work in a turn", lambda counts, now: _ns_a_turn("worked_s", counts, now)),
    Metric("io-ratio", "part of the time in which the loop works", rate_of("worked_s")),
)
"""Of the `times` of a `TimedSelector`."""
