"""An event loop whose clock jumps to whatever is due next: days pass in milliseconds, and a run repeats exactly."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Waits for nothing: the time that the loop would wait goes by at once."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("nothing is due and nothing can happen any more: the test would hang")
            self.loop.now += max(timeout, 0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that begins at 1,000 seconds."""

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        selector.loop = self
        self.now = 1_000.0

    def time(self) -> float:
        return self.now


def simulate(scenario: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a scenario on a virtual loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(scenario())
