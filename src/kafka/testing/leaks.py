"""Finds leaks after everything was closed: tasks, connections, timers, receive buffers, threads."""

import asyncio
import gc
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kafka.net.buffers import FrameBuffer, shared_pool
from kafka.testing.simulated_loop import SimulatedLoop

_REFERENCES_HERE = 3
"""References from the list, from the loop over it, and from the call that counts them."""


class LeakCheck:
    """Checks a run for leaks; created when the run begins."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._buffers: list[FrameBuffer] = []

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Record the receive buffers that this thread takes from the pool; disable the garbage collector."""
        take, here = shared_pool.take, threading.get_ident()

        def recorded(size: int) -> FrameBuffer:
            buffer = take(size)
            if threading.get_ident() == here:  # clients on other threads are not part of the run
                self._buffers.append(buffer)
            return buffer

        shared_pool.take = recorded  # type: ignore[method-assign]
        gc.disable()  # the time of automatic collections depends on what ran before
        gc.freeze()  # existing objects would slow down the collection, and are not checked
        try:
            yield
        finally:
            gc.unfreeze()
            gc.enable()
            shared_pool.take = take  # type: ignore[method-assign]

    async def found(self, loop: SimulatedLoop, in_calm: bool) -> Iterable[str]:
        """Describe what is left on the loop after the last bytes have arrived, except for the calling task.

        Arguments:
            in_calm: whether there were no failures, so that every receive buffer must have been returned; otherwise
                those of ended connections may have been dropped.
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
        """Describe threads that were started and still run."""
        return [f"the thread {thread.name} is left" for thread in threading.enumerate() if thread not in self._threads]


def _is_of_a_fault(timer: asyncio.TimerHandle) -> bool:
    """Whether a timer belongs to a response that a fault delays."""
    return "broker.fault_injection" in getattr(timer._callback, "__module__", "")  # type: ignore[attr-defined]
