"""The asyncio protocol below a connection: splits received bytes into frames, and sends the parts of requests in order.

A frame is a four-byte size, followed by that many bytes. Small frames are cut from one shared buffer. A large frame is
received directly into its own pooled buffer.
"""

import asyncio
import logging
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kafka.errors import InvalidReceiveError
from kafka.net.buffers import BufferPool, FrameBuffer, shared_pool
from kafka.net.peer_text import describe_no_frame

SHARED_BYTES = 32 * 1024
_SIZE = struct.Struct(">i")

FrameSink = Callable[[memoryview, FrameBuffer | None], bool]
"""Receives a frame, and its pooled buffer if it has one. Returns False to stop receiving.

A frame without a buffer is valid only during the call.
"""


class FrameCutter:
    """The receiving half of a connection.

    Does no I/O: the owner reads into `target`, and reports the number of received bytes with `received()`.

    Arguments:
        sink: called with each complete frame.
        max_frame_bytes: maximum frame size; a larger one raises `InvalidReceiveError` before anything is allocated.
        pool: the buffers for large frames.

    Attributes:
        target: the memory for the next bytes.
        missing: number of bytes missing from a large frame; 0 if none is being received.
    """

    __slots__ = ("_end", "_frame", "_max", "_pool", "_shared", "_sink", "_view", "missing", "target")

    def __init__(self, sink: FrameSink, max_frame_bytes: int, pool: BufferPool) -> None:
        self._sink = sink
        self._max = max_frame_bytes
        self._pool = pool
        self._shared = bytearray(SHARED_BYTES)
        self._view = memoryview(self._shared)
        self._end = 0
        self._frame: FrameBuffer | None = None
        self.missing = 0
        self.target = self._view

    @property
    def mid_frame(self) -> bool:
        """Whether part of a frame has been received."""
        return self._frame is not None or self._end > 0

    def received(self, count: int) -> None:
        """Process ``count`` bytes written to `target`, and pass the frames that they complete to the sink.

        Raises `InvalidReceiveError` if the bytes are not frames of Kafka's protocol.
        """
        if self._frame is not None:
            self._received_large(self._frame, count)
            return
        start, end = 0, self._end + count
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
        self._end = rest = end - start
        self.target = self._view[rest:] if rest else self._view

    def _begin_large(self, start: int, end: int, size: int) -> None:
        frame = self._pool.take(size)
        filled = end - start
        frame.view[:filled] = self._view[start:end]
        self._frame = frame
        self._end = 0
        self.missing = size - filled
        self.target = frame.view[filled:]

    def _received_large(self, frame: FrameBuffer, count: int) -> None:
        self.missing -= count
        if self.missing:
            self.target = self.target[count:]
            return
        self._frame = None
        self.target = self._view
        self._sink(frame.view, frame)

    def _describe(self, start: int, end: int, size: int) -> str:
        head = bytes(self._shared[start : min(end, start + 16)])
        return describe_no_frame(head, size, self._max)


log = logging.getLogger(__name__)

Part: TypeAlias = bytes | bytearray | memoryview
_JOIN_BELOW = 16 * 1024
_WRITE_HIGH_WATER = 512 * 1024
_WAKE_BYTES = 256 * 1024
"""Bytes of a large frame to wait for at a time. Waking up for fewer bytes costs more than receiving them."""
# Since Python 3.12, a transport sends several parts in one system call. Earlier versions join the parts, which copies
# the records.
_GATHERS = sys.version_info >= (3, 12)


class Stream(asyncio.BufferedProtocol):
    """A TCP or TLS stream that carries frames.

    Arguments:
        on_frame: called with each received frame; see `FrameSink`.
        on_lost: called once with this stream and the error that ended it, or None if the peer closed it.
        max_frame_bytes: maximum frame size.
    """

    def __init__(
        self,
        on_frame: FrameSink,
        on_lost: "Callable[[Stream, Exception | None], None]",
        max_frame_bytes: int,
        pool: BufferPool = shared_pool,
    ) -> None:
        self._cutter = FrameCutter(on_frame, max_frame_bytes, pool)
        self._on_lost = on_lost
        self._transport: Any = None
        self._socket: socket.socket | None = None
        self._wake_bytes = 1
        self._backlog: deque[Sequence[Part]] = deque()
        self._full = False
        self._why: Exception | None = None
        self._ended = asyncio.get_running_loop().create_future()
        self._on_drained: list[Callable[[], object]] = []
        self._closing = False
        self.received_anything = False

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Handle the opening of the stream."""
        self._transport = transport
        self._transport.set_write_buffer_limits(high=_WRITE_HIGH_WATER)
        # With TLS, some of the missing bytes may have been read already. Other systems may not support the low-water
        # mark.
        if sys.platform == "linux" and transport.get_extra_info("sslcontext") is None:
            self._socket = transport.get_extra_info("socket")

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the memory for the next bytes: the buffer of a large frame, or the shared one."""
        return self._cutter.target

    def buffer_updated(self, nbytes: int) -> None:
        """Process ``nbytes`` received bytes."""
        self.received_anything = True
        try:
            self._cutter.received(nbytes)
        except InvalidReceiveError as error:
            self.abort(error)
            return
        wake_bytes = min(self._cutter.missing, _WAKE_BYTES) or 1
        if wake_bytes != self._wake_bytes:
            self._wake_after(wake_bytes)

    def eof_received(self) -> bool:
        """Close this side of the stream, because the peer has closed its side."""
        self._closing = True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the stream, whichever side closed it."""
        self._closing = True
        self._backlog.clear()
        if not self._ended.done():
            self._ended.set_result(None)
        drained, self._on_drained = self._on_drained, []
        self._on_lost(self, self._why or exc)
        for callback in drained:
            callback()

    def pause_writing(self) -> None:
        """Queue later parts by reference, without a copy, because the transport's buffer is full."""
        self._full = True

    def resume_writing(self) -> None:
        """Send queued parts, because the transport's buffer has drained."""
        self._full = False
        self._flush()

    # Called by the connection

    @property
    def ended(self) -> bool:
        """Whether the stream is closed."""
        return self._ended.done()

    @property
    def mid_frame(self) -> bool:
        """Whether part of a frame has been received."""
        return self._cutter.mid_frame

    def extra(self, name: str) -> Any:
        """Return information about the transport, like `asyncio.BaseTransport.get_extra_info`."""
        return self._transport.get_extra_info(name) if self._transport is not None else None

    def write(self, parts: Sequence[Part], size: int) -> None:
        """Send the parts of a request, ``size`` bytes, after earlier ones. The parts must not change afterwards."""
        if self._full or self._backlog:
            self._backlog.append(parts)
        elif size >= _JOIN_BELOW:
            self._transmit(parts)
        elif not self._closing:
            self._transport.write(b"".join(parts) if len(parts) > 1 else parts[0])

    def when_drained(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` once all data is passed to the transport, possibly immediately, or when the stream ends."""
        if self._full or self._backlog:
            self._on_drained.append(callback)
        else:
            callback()

    def end_writing(self) -> None:
        """Close the sending half of the stream, if the transport supports that."""
        if self._transport is not None and not self._transport.is_closing() and self._transport.can_write_eof():
            self._transport.write_eof()

    def abort(self, why: Exception | None = None) -> None:
        """Close the stream immediately; unsent data is lost."""
        self._why = self._why or why
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    async def close(self, timeout_s: float) -> None:
        """Close the stream once all data is sent, or after ``timeout_s`` seconds."""
        if self._transport is None:
            return
        self._closing = True
        self._transport.close()
        await asyncio.wait((self._ended,), timeout=timeout_s)
        if not self._ended.done():
            self._transport.abort()
            await asyncio.wait((self._ended,), timeout=timeout_s)

    def _wake_after(self, nbytes: int) -> None:
        """Set the socket's low-water mark (SO_RCVLOWAT), so that fewer bytes do not wake up the loop."""
        self._wake_bytes = nbytes
        if self._socket is None:
            return
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, nbytes)
        except (OSError, TypeError) as error:  # sockets of other event loops may not support this option
            log.debug("each received packet wakes up the loop, because SO_RCVLOWAT cannot be set: %s", error)
            self._socket = None

    def _flush(self) -> None:
        while self._backlog and not self._full:
            self._transmit(self._backlog.popleft())
        if not self._full and not self._backlog:
            drained, self._on_drained = self._on_drained, []
            for callback in drained:
                callback()

    def _transmit(self, parts: Sequence[Part]) -> None:
        transport = self._transport
        # After an error, `writelines` of some versions of Python 3.12 and 3.13 would watch the socket again, and the
        # selector would still contain it when its number belongs to another connection.
        if self._closing or transport.is_closing():
            return
        chunks = _join_small(parts)
        if _GATHERS:
            transport.writelines(chunks)
            return
        for chunk in chunks:
            transport.write(chunk)


def _join_small(parts: Sequence[Part]) -> list[Part]:
    """Join runs of small parts; leave large parts (records) uncopied."""
    chunks: list[Part] = []
    run: list[Part] = []
    for part in parts:
        if len(part) < _JOIN_BELOW:
            run.append(part)
            continue
        if run:
            chunks.append(b"".join(run))
            run = []
        chunks.append(memoryview(part))
    if run:
        chunks.append(b"".join(run))
    return chunks
