"""Determines how a producer's calls wait: on the caller's event loop, or by blocking the caller's thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from kafka.errors import IllegalStateError
from kafka.net import LoopThread
from kafka.net.callback_thread import WorkerThread
from kafka.net.helper_threads import run_blocking
from kafka.net.own_loop import OwnLoop
from kafka.producer import lifetime
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.core import ProducerCore

P = ParamSpec("P")
T = TypeVar("T")


class LoopRunner(OwnLoop):
    """Runs everything on the caller's event loop; `ThreadRunner` is its counterpart for programs without a loop."""

    def in_callback(self) -> bool:
        """Return False, because callbacks on a loop never wait."""
        return False

    async def run(self, core: ProducerCore, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine of the core. Raises the same errors as `check`."""
        return await self.checked(coroutine)

    async def work(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a slow function in another thread, so that the loop is not blocked."""
        return await run_blocking(function, *args, **kwargs)

    async def acquire(self, core: ProducerCore, amount: int, reserved: Reservation) -> None:
        """Wait for memory and reserve it."""
        await core.reservations.acquire(amount, reserved)

    async def close(self, core: ProducerCore, timeout_s: float | None) -> None:
        """Close a producer. Does nothing in a forked child, where the producer belongs to the parent."""
        if not self.was_left_by_fork:
            self.check()
            await core.close(timeout_s)


class ThreadRunner:
    """Runs coroutines of a core on the shared loop, blocking the caller's thread until they finish."""

    def __init__(self) -> None:
        self.thread = LoopThread.shared()
        self.loop = self.thread.loop

    def in_callback(self) -> bool:
        """Return whether the caller is a callback, which must not wait for callbacks."""
        return WorkerThread.is_current()

    def run(self, core: ProducerCore, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the core and wait for its result."""
        try:
            core.buffer.check_may_wait()
        except BaseException:
            coroutine.close()
            raise
        return self.thread.run(coroutine)

    def work(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a slow function in the caller's thread."""
        return function(*args, **kwargs)

    def acquire(self, core: ProducerCore, amount: int, reserved: Reservation) -> None:
        """Wait for memory and reserve it; raises `IllegalStateError` if waiting would prevent its release."""
        core.buffer.check_may_wait()
        if self.thread.in_loop_thread:  # called by a finalizer
            raise IllegalStateError(
                "all of buffer_memory is used up, and the loop's own thread, in which a finalizer called send(), "
                "cannot wait for some; send from another thread"
            )
        core.reservations.acquire_blocking(amount, reserved)

    def close(self, core: ProducerCore, timeout_s: float | None) -> None:
        """Close and unregister a producer; raises `IllegalStateError` if waiting would never end.

        Does nothing in a forked child, where the producer belongs to the parent.
        """
        if self.thread.was_left_by_fork:
            return
        try:
            self.run(core, core.close(timeout_s, self.in_callback()))
        finally:
            if core.is_closed or self.thread.has_failed:  # otherwise, the caller cannot wait, and nothing was closed
                lifetime.unregister(core)
