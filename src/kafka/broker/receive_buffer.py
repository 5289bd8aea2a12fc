"""A connection's receive buffer, which grows and shrinks with the requests, and the pool of large buffers.

Connections share the large buffers; an idle connection holds none.
"""

import contextlib
import os
import socket
from typing import Final

_KEPT_BYTES: Final = 16 * 1024 * 1024


class BufferPool:
    """Keeps unused large buffers, up to a total limit."""

    def __init__(self, kept_bytes: int = _KEPT_BYTES) -> None:
        self._limit = kept_bytes
        self._kept: list[bytearray] = []

    @property
    def nbytes(self) -> int:
        """Total size of the unused buffers, in bytes."""
        return sum(map(len, self._kept))

    def take(self, wanted: int, at_least: int) -> bytearray:
        """Return an unused buffer of at least `wanted` bytes, or a new one of `at_least` bytes."""
        fits = [number for number, buffer in enumerate(self._kept) if len(buffer) >= wanted]
        return self._kept.pop(fits[0]) if fits else bytearray(at_least)

    def give(self, buffer: bytearray) -> None:
        """Return a buffer to the pool. Beyond the limit, the smallest buffers are dropped."""
        self._kept.append(buffer)
        self._kept.sort(key=len)
        while self.nbytes > self._limit:
            # A buffer larger than the limit does not displace others.
            del self._kept[-1 if len(self._kept[-1]) > self._limit else 0]


SIZE: Final = 4
"""Size of the size field in a frame, in bytes."""
_FIRST_BUFFER: Final = 4 * 1024
"""Initial buffer size in bytes; small, as there may be thousands of idle connections."""
_BUFFER: Final = 64 * 1024
"""Buffer size in bytes after the first larger request from an authenticated client."""
_READ: Final = 256 * 1024


class ReceiveBuffer:
    """The received frames of a connection, in order. Buffers for large requests come from the `pool`."""

    def __init__(self, pool: BufferPool) -> None:
        self._pool = pool
        self._small = self._buffer = bytearray(_FIRST_BUFFER)
        self._start = 0
        self._end = 0

    def room(self) -> memoryview:
        """Return the free memory after the bytes that have been received but not served yet."""
        return memoryview(self._buffer)[self._end :]

    def received(self, nbytes: int) -> None:
        """Record that `nbytes` bytes were written to the free memory."""
        self._end += nbytes

    @property
    def has_room(self) -> bool:
        """Whether there is room for more bytes."""
        return self._end < len(self._buffer)

    def next_size(self) -> int | None:
        """Return the size of the next frame according to its size field, or None if the field has not arrived yet."""
        start = self._start
        if self._end - start < SIZE:
            return None
        return int.from_bytes(self._buffer[start : start + SIZE], "big", signed=True)

    def take(self, size: int) -> memoryview | None:
        """Return the next frame, which has `size` bytes, or None if it is incomplete."""
        start = self._start + SIZE
        if self._end - start < size:
            return None
        self._start = start + size
        return memoryview(self._buffer)[start : start + size]

    def make_room(self, is_admitted: bool) -> None:
        """Make room for the next request. Only authenticated clients get a large buffer at once."""
        waiting = self._end - self._start
        if waiting == 0:
            self.clear()
            return
        needed = SIZE + (self.next_size() or 0)
        # Move the data as soon as it is clear that the request does not fit into the rest of the buffer, to keep
        # reads large.
        if self._end == len(self._buffer) or self._start + needed > len(self._buffer):
            self._move(waiting, needed, is_admitted)

    def _move(self, waiting: int, needed: int, is_admitted: bool) -> None:
        """Move the unserved bytes to the front, into a larger buffer if the request needs one."""
        if self._start == 0 and needed <= waiting:
            return
        view = memoryview(self._buffer)
        held = view[self._start : self._end]
        # Allocate at most twice the number of bytes that have arrived, however large the request claims to be.
        capacity = min(needed, max(2 * waiting, _BUFFER if is_admitted else len(self._small)))
        if capacity <= len(self._buffer):
            view[:waiting] = held
        else:
            stays = is_admitted and capacity <= _BUFFER
            larger = bytearray(_BUFFER) if stays else self._pool.take(needed, capacity)
            larger[:waiting] = held
            self._use(larger)
            if stays:
                self._small = larger
        self._start, self._end = 0, waiting

    def clear(self) -> None:
        """Discard the content, and return a large buffer to the pool."""
        self._start = self._end = 0
        self._use(self._small)

    def _use(self, buffer: bytearray) -> None:
        if self._buffer is not buffer and self._buffer is not self._small:
            self._pool.give(self._buffer)
        self._buffer = buffer

    def append_unread(self, descriptor: int, limit: int) -> None:
        """Read the remaining bytes from the socket of a closed connection, at most `limit`."""
        parts: list[bytes | memoryview] = [memoryview(self._buffer)[self._start : self._end]]
        size = 0
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as same:
            while size < limit and (part := same.recv(min(_READ, limit - size), socket.MSG_DONTWAIT)):
                parts.append(part)
                size += len(part)
        if size:
            joined = bytearray().join(parts)
            self._use(self._small)
            self._small = self._buffer = joined
            self._start, self._end = 0, len(joined)
