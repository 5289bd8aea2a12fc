"""How a producer's steps wait in a program without an event loop: in the caller's thread, for the shared loop's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from kafka.net import LoopThread
from kafka.net.worker import WorkerThread
from kafka.producer import lifetime
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.core import ProducerCore

P = ParamSpec("P")
T = TypeVar("T")


class ThreadRunner:
    """Runs what a core does on the shared loop, and blocks the caller's thread meanwhile."""

    def __init__(self) -> None:
        self.thread = LoopThread.shared()
        self.loop = self.thread.loop

    def in_callback(self) -> bool:
        """Whether a callback calls, which must not wait for callbacks."""
        return WorkerThread.is_current()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Wait for what a core does."""
        return self.thread.run(coroutine)

    def work(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what takes long."""
        return function(*args, **kwargs)

    def acquire(self, core: ProducerCore, amount: int, reserved: Reservation) -> None:
        """Wait for memory, and reserve it."""
        core.reservations.acquire_blocking(amount, reserved)

    def close(self, core: ProducerCore, timeout_s: float | None) -> None:
        """Close a producer, after which nobody needs to look after it."""
        try:
            self.thread.run(core.close(timeout_s, self.in_callback()))
        finally:
            lifetime.unregister(core)
