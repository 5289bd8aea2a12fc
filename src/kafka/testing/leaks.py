"""What is left after everything was closed: tasks, connections, timers, receive buffers, threads."""

import asyncio
import gc
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kafka.net.buffers import FrameBuffer, shared_pool
from kafka.testing.simulated_loop import SimulatedLoop

_REFERENCES_HERE = 3
"""From the list, from a loop over it, and to the function that counts them."""


class LeakCheck:
    """Looks for what is left of a run; made when it begins."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._buffers: list[FrameBuffer] = []

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Take down the receive buffers that this thread takes from the pool; have nothing vanish by chance."""
        take, here = shared_pool.take, threading.get_ident()

        def recorded(size: int) -> FrameBuffer:
            buffer = take(size)
            if threading.get_ident() == here:  # clients on other threads have no part in the run
                self._buffers.append(buffer)
            return buffer

        shared_pool.take = recorded  # type: ignore[method-assign]
        gc.disable()  # when it runs by itself depends on what ran before
        gc.freeze()  # what was there before costs the more time the more it is, and is not looked at
        try:
            yield
        finally:
            gc.unfreeze()
            gc.enable()
            shared_pool.take = take  # type: ignore[method-assign]

    async def found(self, loop: SimulatedLoop, in_calm: bool) -> Iterable[str]:
        """What is left on the loop once the last bytes have arrived, in words; only the task that asks may be there.

        Arguments:
            in_calm: nothing was ever wrong, so that each receive buffer was given back; otherwise those of connections
                that ended may have been dropped.
        """
        for _ in range(5):
            await asyncio.sleep(loop.network.latency_s[1])
        gc.collect()
        here = asyncio.current_task()
        left = [f"the task {task.get_name()} is left" for task in asyncio.all_tasks() if task is not here]
        left += [f"the connection to {link.host} is left" for link in loop.network.links]
        left += [f"the timer {timer!r} is left" for timer in loop.timers() if not _is_of_a_fault(timer)]
        for buffer in self._buffers:
            if buffer._buffer is not None and (in_calm or sys.getrefcount(buffer) > _REFERENCES_HERE):
                left.append(f"a receive buffer of {len(buffer.view)} bytes is left")
        return left

    def threads(self) -> list[str]:
        """Threads that run and did not run before, in words."""
        return [f"the thread {thread.name} is left" for thread in threading.enumerate() if thread not in self._threads]


def _is_of_a_fault(timer: asyncio.TimerHandle) -> bool:
    """Whether it belongs to an answer that a broker was asked to delay."""
    return "broker.fault_injection" in getattr(timer._callback, "__module__", "")  # type: ignore[attr-defined]
