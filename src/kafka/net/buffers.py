"""Reusable receive buffers.

If each fetch response were received into new memory, the system would have to clear the memory and map it page by page,
which costs more than receiving the response. So large frames are received into buffers that return to a pool once their
records are decoded. The largest buffers request pages of 2 MiB if the system supports them, which reduces the cost of
the first use to a fifth.
"""

import contextlib
import mmap
import sys
from typing import TypeAlias

from kafka.net.interruptible import loop_lock

_ROUND_UP = 64 * 1024
_MAX_BUFFERS = 32
_LARGE_PAGES_FROM = 4 * 1024 * 1024

Memory: TypeAlias = bytearray | mmap.mmap
"""The memory of a pooled buffer."""


def _new_memory(size: int) -> Memory:
    """Allocate at least ``size`` bytes."""
    size = -(-size // _ROUND_UP) * _ROUND_UP
    if size < _LARGE_PAGES_FROM or sys.platform != "linux" or not hasattr(mmap, "MADV_HUGEPAGE"):
        return bytearray(size)
    # Private, because a forked child must not write into its parent's buffers.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # the kernel may not support large pages
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


class FrameBuffer:
    """A frame that was received directly into a pooled buffer.

    ``view`` is the frame without its size prefix. After `release`, the memory belongs to another frame, so objects
    decoded from it without a copy must no longer be used. If the object is dropped without `release`, its memory is
    freed with the last view instead of returning to the pool.
    """

    __slots__ = ("_buffer", "_pool", "view")

    def __init__(self, pool: "BufferPool", buffer: Memory, size: int) -> None:
        self._pool = pool
        self._buffer: Memory | None = buffer
        self.view = memoryview(buffer)[:size]

    def release(self) -> None:
        """Return the memory to the pool. Can be called from any thread; further calls do nothing."""
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            self.view = memoryview(b"")
            self._pool._give(buffer)


class BufferPool:
    """A pool of free buffers, in the order in which they were returned, oldest first. Thread-safe.

    Arguments:
        max_bytes: maximum number of free bytes to keep.
    """

    def __init__(self, max_bytes: int = 128 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._free: list[Memory] = []
        self._held = 0
        self._lock = loop_lock()

    @property
    def held_bytes(self) -> int:
        """The free memory in the pool, in bytes."""
        return self._held

    def take(self, size: int) -> FrameBuffer:
        """Return a buffer for a frame of ``size`` bytes; reuse a free one if possible."""
        with self._lock:
            best = -1
            for index, buffer in enumerate(self._free):
                # Do not use a buffer more than twice as large as the frame, but keep it for larger frames.
                fits = size <= len(buffer) <= 2 * size + _ROUND_UP
                if fits and (best < 0 or len(buffer) <= len(self._free[best])):
                    best = index
            if best >= 0:
                found = self._free.pop(best)
                self._held -= len(found)
                return FrameBuffer(self, found, size)
        return FrameBuffer(self, _new_memory(size), size)

    def _give(self, buffer: Memory) -> None:
        with self._lock:
            self._free.append(buffer)
            self._held += len(buffer)
            while True:
                if self._held <= self._max_bytes and len(self._free) <= _MAX_BUFFERS:
                    break
                self._held -= len(self._free.pop(0))


shared_pool = BufferPool()
