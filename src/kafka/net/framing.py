"""Cuts the received byte stream into frames: a size of four bytes, then that many bytes.

Pure: the owner reads into `writable()` and reports with `received()` how much came. Small frames are cut out of one
buffer that is shared by all; a large frame gets a pooled buffer of its own and is received straight into it.
"""

import struct
from collections.abc import Callable

from kafka.errors import InvalidReceiveError
from kafka.net.buffers import BufferPool, FrameBuffer
from kafka.net.foreign_text import describe_no_frame

SHARED_BYTES = 32 * 1024
_SIZE = struct.Struct(">i")

FrameSink = Callable[[memoryview, FrameBuffer | None], bool]
"""Takes a frame, and its pooled buffer if it has one; False stops the cutting. Without a buffer of its own the frame
is valid during the call only."""


class FrameCutter:
    """The receiving half of a connection.

    Arguments:
        sink: called with each whole frame.
        max_frame_bytes: the largest size believed; more raises `InvalidReceiveError` before anything is allocated.
        pool: where buffers for large frames come from.
    """

    __slots__ = ("_end", "_filled", "_frame", "_max", "_pool", "_shared", "_sink", "_view")

    def __init__(self, sink: FrameSink, max_frame_bytes: int, pool: BufferPool) -> None:
        self._sink = sink
        self._max = max_frame_bytes
        self._pool = pool
        self._shared = bytearray(SHARED_BYTES)
        self._view = memoryview(self._shared)
        self._end = 0
        self._frame: FrameBuffer | None = None
        self._filled = 0

    @property
    def mid_frame(self) -> bool:
        """Whether the stream stands inside a frame, so that its end now would be a truncation."""
        return self._frame is not None or self._end > 0

    @property
    def missing(self) -> int:
        """How many bytes of a large frame have not come yet; 0 between large frames."""
        return len(self._frame.view) - self._filled if self._frame is not None else 0

    def writable(self) -> memoryview:
        """Where the next bytes belong."""
        if self._frame is not None:
            return self._frame.view[self._filled :]
        return self._view[self._end :]

    def received(self, count: int) -> None:
        """Take note of ``count`` bytes written to `writable()`, and hand out the frames that they complete.

        Raises `InvalidReceiveError` when the bytes are no frames of Kafka's protocol.
        """
        frame = self._frame
        if frame is None:
            self._cut(self._end + count)
            return
        self._filled += count
        if self._filled == len(frame.view):
            self._frame = None
            self._sink(frame.view, frame)

    def _cut(self, end: int) -> None:
        start = 0
        while end - start >= 4:
            (size,) = _SIZE.unpack_from(self._shared, start)
            if not 0 <= size <= self._max:
                raise InvalidReceiveError(self._describe(start, end, size))
            stop = start + 4 + size
            if stop <= end:
                if not self._sink(self._view[start + 4 : stop], None):
                    return
                start = stop
            elif size > SHARED_BYTES - 4:
                self._begin_large(start + 4, end, size)
                return
            else:
                break
        if start and start < end:
            self._view[: end - start] = self._view[start:end]
        self._end = end - start

    def _begin_large(self, start: int, end: int, size: int) -> None:
        frame = self._pool.take(size)
        self._filled = end - start
        frame.view[: self._filled] = self._view[start:end]
        self._frame = frame
        self._end = 0

    def _describe(self, start: int, end: int, size: int) -> str:
        head = bytes(self._shared[start : min(end, start + 16)])
        return describe_no_frame(head, size, self._max)
