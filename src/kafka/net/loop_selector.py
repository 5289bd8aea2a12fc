"""The selector of the clients' loop: it measures how much time the loop waits and works, and supports green threads."""

import asyncio
import selectors
import sys
import time
from typing import TYPE_CHECKING

from kafka.metrics.client_metrics import Metric, rate_of
from kafka.metrics.windows import Counts, Window, WindowOptions, Windows, mean

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

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


def threads_are_greenlets() -> bool:
    """Whether gevent or eventlet has patched `threading`. They are asked only if the program has imported them."""
    monkey, patcher = sys.modules.get("gevent.monkey"), sys.modules.get("eventlet.patcher")
    if monkey is not None and monkey.is_module_patched("threading"):
        return True
    return patcher is not None and bool(patcher.is_monkey_patched("thread"))


def selector_for_loop() -> selectors.BaseSelector:
    """A selector for the clients' loop."""
    return GreenSelector() if threads_are_greenlets() else TimedSelector()


class GreenSelector(selectors.BaseSelector):
    """The selector where gevent or eventlet has replaced threads by greenlets (``patch_all()``, ``monkey_patch()``).

    The clients' thread is a greenlet there, its locks and its selector let other greenlets run while it waits, and so
    everything else works unchanged. But asyncio remembers the running loop by the system's thread, which all greenlets
    share: each of them would seem to run on the clients' loop. So that is the running loop only while its greenlet
    runs: this selector hands back asyncio's running loop while its greenlet waits.

    What it found there, such as the loop of a program that runs asyncio in another greenlet, is put back meanwhile.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()  # gevent's or eventlet's
        self._of_others: asyncio.AbstractEventLoop | None = None

    def select(self, timeout: float | None = None) -> "Ready":
        """Wait for events; other greenlets run."""
        ours = asyncio._get_running_loop()
        asyncio._set_running_loop(self._of_others)
        try:
            return self._selector.select(timeout)
        finally:
            self._of_others = asyncio._get_running_loop()
            asyncio._set_running_loop(ours)

    def register(self, fileobj: "FileDescriptorLike", events: int, data: object = None) -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.unregister(fileobj)

    def modify(self, fileobj: "FileDescriptorLike", events: int, data: object = None) -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.modify(fileobj, events, data)

    def get_key(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        """See `selectors.BaseSelector`."""
        return self._selector.get_key(fileobj)

    def get_map(self) -> "selectors._SelectorMapping":  # type: ignore[name-defined]
        """See `selectors.BaseSelector`."""
        return self._selector.get_map()

    def close(self) -> None:
        """See `selectors.BaseSelector`."""
        self._selector.close()
