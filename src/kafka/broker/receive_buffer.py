"""A connection's buffer of received bytes, which grows and shrinks with the requests; the pool of large buffers.

Large buffers are shared by the connections; an idle connection holds none.
"""

import contextlib
import os
import socket
from typing import Final

_KEPT_BYTES: Final = 16 * 1024 * 1024


class BufferPool:
    """Keeps large buffers that nobody uses at present, up to a limit in all."""

    def __init__(self, kept_bytes: int = _KEPT_BYTES) -> None:
        self._limit = kept_bytes
        self._kept: list[bytearray] = []

    @property
    def nbytes(self) -> int:
        """The bytes kept."""
        return sum(map(len, self._kept))

    def take(self, wanted: int, at_least: int) -> bytearray:
        """A buffer of at least `wanted` bytes if one is kept, else a new one of `at_least` bytes."""
        fits = [number for number, buffer in enumerate(self._kept) if len(buffer) >= wanted]
        return self._kept.pop(fits[0]) if fits else bytearray(at_least)

    def give(self, buffer: bytearray) -> None:
        """Keep a buffer that is used no more; the smallest ones go where there are too many."""
        self._kept.append(buffer)
        self._kept.sort(key=len)
        while self.nbytes > self._limit:
            # A buffer above the limit takes no other's place.
            del self._kept[-1 if len(self._kept[-1]) > self._limit else 0]


SIZE: Final = 4
"""Bytes of a frame's size."""
_FIRST_BUFFER: Final = 4 * 1024
"""Room that a connection begins with, so that thousands that do nothing take little."""
_BUFFER: Final = 64 * 1024
"""The room from the first larger request on that comes of somebody who may send one."""
_READ: Final = 256 * 1024


class ReceiveBuffer:
    """Frames in the order in which they came; buffers of large requests are those of the `pool`."""

    def __init__(self, pool: BufferPool) -> None:
        self._pool = pool
        self._small = self._buffer = bytearray(_FIRST_BUFFER)
        self._start = 0
        self._end = 0

    def room(self) -> memoryview:
        """Where received bytes go: behind those that are not served yet."""
        return memoryview(self._buffer)[self._end :]

    def received(self, nbytes: int) -> None:
        """Bytes have come into the room."""
        self._end += nbytes

    @property
    def has_room(self) -> bool:
        """Whether more bytes may come."""
        return self._end < len(self._buffer)

    def next_size(self) -> int | None:
        """The size that the next frame says it has; None: it is not known yet."""
        start = self._start
        if self._end - start < SIZE:
            return None
        return int.from_bytes(self._buffer[start : start + SIZE], "big", signed=True)

    def take(self, size: int) -> memoryview | None:
        """The next frame, of `size` bytes, if all of it has come."""
        start = self._start + SIZE
        if self._end - start < size:
            return None
        self._start = start + size
        return memoryview(self._buffer)[start : start + size]

    def make_room(self, is_admitted: bool) -> None:
        """See to it that the next request fits; only who is admitted gets a large buffer at once."""
        waiting = self._end - self._start
        if waiting == 0:
            self.clear()
            return
        needed = SIZE + (self.next_size() or 0)
        # Moved as soon as it is clear that the request does not fit behind, so that reads stay large.
        if self._end == len(self._buffer) or self._start + needed > len(self._buffer):
            self._move(waiting, needed, is_admitted)

    def _move(self, waiting: int, needed: int, is_admitted: bool) -> None:
        """Make room behind the bytes that wait: move them to the front, of a larger buffer if the request needs one."""
        if self._start == 0 and needed <= waiting:
            return
        view = memoryview(self._buffer)
        held = view[self._start : self._end]
        # At most doubled: a size that only claims to be large gets no more than twice what has really come.
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
        """Drop what is left, and give a large buffer back."""
        self._start = self._end = 0
        self._use(self._small)

    def _use(self, buffer: bytearray) -> None:
        if self._buffer is not buffer and self._buffer is not self._small:
            self._pool.give(self._buffer)
        self._buffer = buffer

    def append_unread(self, descriptor: int, limit: int) -> None:
        """Take what a socket still holds of a connection that is lost, `limit` bytes at most."""
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
