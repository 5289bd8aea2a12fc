"""How a producer's steps wait in an asyncio program: on its own event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from kafka.net.helper_threads import run_blocking
from kafka.net.own_loop import OwnLoop
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.core import ProducerCore

P = ParamSpec("P")
T = TypeVar("T")


class LoopRunner(OwnLoop):
    """Runs everything on the loop of the caller. `ThreadRunner` is the same for programs without one."""

    def in_callback(self) -> bool:
        """Whether a callback calls; one on a loop waits for nothing."""
        return False

    async def run(self, core: ProducerCore, coroutine: Coroutine[Any, Any, T]) -> T:
        """Wait for what a core does. Raises as `check`."""
        return await self.checked(coroutine)

    async def work(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what takes long: in another thread, so that the loop goes on meanwhile."""
        return await run_blocking(function, *args, **kwargs)

    async def acquire(self, core: ProducerCore, amount: int, reserved: Reservation) -> None:
        """Wait for memory, and reserve it."""
        await core.reservations.acquire(amount, reserved)

    async def close(self, core: ProducerCore, timeout_s: float | None) -> None:
        """Close a producer. In a forked child it is the parent's to close."""
        if not self.was_left_by_fork:
            self.check()
            await core.close(timeout_s)
