"""Receives answers: matches each frame to its request by correlation id, decodes it, and passes it to the caller.

Large answers are decoded in a thread.
"""

import asyncio
import gc
import logging
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from kafka.errors import (
    Cancelled,
    CorrelationIdError,
    InvalidReceiveError,
    KafkaConnectionError,
    KafkaError,
    WireFormatError,
)
from kafka.net.buffers import FrameBuffer
from kafka.net.fork import after_fork
from kafka.net.helper_threads import run_blocking
from kafka.net.own_loop import clock_of
from kafka.net.pending_requests import InFlight, InFlightTable, Reply, SendQueue
from kafka.net.statistics import NodeTraffic
from kafka.wire.framing import CORRELATION_ID, decode_response

if TYPE_CHECKING:
    from kafka.wire import Request

log = logging.getLogger(__name__)


_LINE_EVERY_S = 30.0
_SINCE = {
    0: 6,
    1: 8,
    2: 3,
    3: 6,
    8: 4,
    9: 4,
    10: 2,
    11: 3,
    12: 2,
    13: 2,
    14: 2,
    15: 2,
    16: 2,
    18: 2,
    19: 3,
    20: 2,
    **dict.fromkeys((21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 33, 34, 35, 37, 38, 39, 40, 41, 42), 1),
    23: 3,
    32: 2,
    36: 1,
}
"""Maps each API key to the first version in which a throttled client must wait.

In earlier versions, the broker waits before it answers. APIs that are not listed are newer than KIP-219.
"""


def throttle_s(request: "type[Request[Any]]", version: int, asked_ms: int) -> float:
    """Return how many seconds to wait before sending to a broker whose response has this ``throttle_time_ms``."""
    if asked_ms <= 0 or version < _SINCE.get(request.API_KEY, 0):
        return 0.0
    return asked_ms / 1000


class ThrottleLog:
    """Logs that a broker is throttling a connection: immediately, and then at most every 30 seconds."""

    __slots__ = ("_told_at",)

    def __init__(self) -> None:
        self._told_at = -math.inf

    def tell(self, now: float, broker: str, request: str, seconds: float) -> None:
        """Log that a broker has requested a pause; ``now`` is the loop's time in seconds."""
        again = now < self._told_at + _LINE_EVERY_S
        level = logging.DEBUG if again else logging.WARNING
        log.log(level, "%s throttles this client: %g s after a %s, because of its quota", broker, seconds, request)
        if not again:
            self._told_at = now


class _Pauses:
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset the state."""
        self.lock = threading.RLock()  # re-entrant, because a finalizer may run while the lock is held
        self.running = 0
        self.was_on = False


_pauses = _Pauses()


@contextmanager
def no_collections() -> Iterator[None]:
    """Pause the cyclic garbage collector while many objects are created, none of them garbage.

    Otherwise the collector would traverse all of them repeatedly, for longer each time, and block every thread. The
    pause lasts a fraction of a second at most.
    """
    with _pauses.lock:
        if not _pauses.running:
            _pauses.was_on = gc.isenabled()
        _pauses.running += 1  # before disabling the collector, so that a child forked in between enables it again
        if _pauses.running == 1:
            gc.disable()
    try:
        yield
    finally:
        with _pauses.lock:
            if _pauses.running == 1 and _pauses.was_on:
                gc.enable()
            _pauses.running -= 1


def _in_child() -> None:
    """Enable the collector again, because the threads that paused it do not exist in the child."""
    if _pauses.running and _pauses.was_on:
        gc.enable()
    _pauses.forget()


after_fork(_in_child)


_API_VERSIONS = 18
_UNSUPPORTED_VERSION = (35).to_bytes(2, "big")
_READ_BESIDE = 128 * 1024
"""Size in bytes from which answers without records are decoded in a thread, to avoid blocking the loop."""


class AnswerReader:
    """Decodes the answers of one connection.

    Arguments:
        give: called with a request that is still waiting, the number of seconds for which the broker throttles this
            client, the response (or the result of the request's ``digest``), and its pooled frame. It is not called for
            answers without a pause and without a frame, which are passed directly to the request.
        unreadable: called with a request, and the error raised while decoding its answer.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        give: Callable[[InFlight, float, Any, FrameBuffer | None], None],
        unreadable: Callable[[InFlight, Exception], None],
    ) -> None:
        self._loop = loop
        self._give = give
        self._unreadable = unreadable
        self._beside: set[asyncio.Task[None]] = set()

    def read(self, entry: InFlight, view: memoryview, buffer: FrameBuffer | None) -> bool:
        """Decode an answer, or start decoding it in a thread; return False if decoding failed.

        Without a buffer, the bytes are valid only during the call.
        """
        # Records are views of the frame, so the frame must live as long as they do.
        has_records = entry.request.RESPONSE.HAS_RECORDS
        frame = bytes(view) if has_records and buffer is None else view
        version = entry.version
        if entry.request.API_KEY == _API_VERSIONS and bytes(view[4:6]) == _UNSUPPORTED_VERSION:
            version = 0  # a broker that rejects the version of ApiVersions always answers in version 0 (KIP-511)
        if buffer is not None and not has_records and len(view) >= _READ_BESIDE:
            task = self._loop.create_task(self._read_beside(entry, version, view, buffer))
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
            return True
        try:
            response = decode_response(entry.request, version, frame)
            asked = getattr(response, "throttle_time_ms", 0)
            quiet_s = throttle_s(entry.request, version, asked) if asked else 0.0
            if entry.digest is not None:
                response = entry.digest(response)
        except Exception as error:
            self._unreadable(entry, error)
            return False
        if buffer is None and not quiet_s:
            entry.future.set_result(response)
        else:
            self._give(entry, quiet_s, response, buffer)
        return True

    async def _read_beside(self, entry: InFlight, version: int, view: memoryview, buffer: FrameBuffer) -> None:
        """Decode an answer in a thread, because its many objects would block the loop."""
        try:
            quiet_s, response = await run_blocking(_read_large, entry, version, view)
        except Exception as error:
            self._unreadable(entry, error)
        except BaseException:  # the loop is ending
            if not entry.future.done():
                entry.future.set_exception(Cancelled("the process ends, and its connections with it"))
            raise
        else:
            if entry.future.done():  # the caller has given up
                entry.future = _UNWANTED
            self._give(entry, quiet_s, response, buffer)


_UNWANTED: Reply[Any] = Reply(lambda response, error: None)
_UNWANTED.cancel()


def _read_large(entry: InFlight, version: int, frame: memoryview) -> tuple[float, Any]:
    """Decode an answer; return the throttle time in seconds, and the result for the caller."""
    with no_collections():
        response = decode_response(entry.request, version, frame)
        quiet_s = throttle_s(entry.request, version, getattr(response, "throttle_time_ms", 0))
        return quiet_s, response if entry.digest is None else entry.digest(response)


_SHORTEST_FRAME = 4
_SIZE_BYTES = 4
"""The size of the size field before each frame."""


class ReceivingConnection(Protocol):
    """The part of a connection that its receiver uses."""

    @property
    def described_as(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def traffic(self) -> NodeTraffic: ...
    def abort(self, error: KafkaError) -> None: ...


class Receiver:
    """Handles the frames that one connection receives.

    Arguments:
        table: the requests waiting for answers.
        send_queue: flushed after each answer, and paused while the broker throttles.

    Attributes:
        answered: number of requests that the broker has answered so far.
        raw: the future for the next frame if that frame is not an answer (`Connection.exchange_raw`); otherwise None.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: ReceivingConnection,
        table: InFlightTable,
        send_queue: SendQueue,
    ) -> None:
        self._loop = loop
        self._connection = connection
        self._table = table
        self._send_queue = send_queue
        self._reader = AnswerReader(loop, self._give, self._unreadable)
        self._throttle_log = ThrottleLog()
        self.answered = 0
        self._now = clock_of(loop)
        self.raw: asyncio.Future[bytes] | None = None

    def take(self, view: memoryview, buffer: FrameBuffer | None) -> bool:
        """Handle a frame (see `kafka.net.frame_stream.FrameSink`); return False if the frame ended the connection."""
        if self.raw is not None:
            if not self.raw.done():
                self.raw.set_result(bytes(view))
            return True
        if len(view) < _SHORTEST_FRAME:
            self._refuse(
                InvalidReceiveError, f"sent a frame of {len(view)} bytes, which is not an answer; is it a Kafka broker?"
            )
            return False
        number = CORRELATION_ID.unpack_from(view)[0]
        entry = self._table.pop(number, None)
        if entry is None:
            self._refuse(CorrelationIdError, f"answered a request that was not sent (correlation id {number})")
            return False
        self.answered += 1
        now = self._now()
        self._connection.traffic.answered(len(view) + _SIZE_BYTES, now - entry.sent_at, now)
        if not entry.future.done():
            goes_on = self._reader.read(entry, view, buffer) and not self._connection.closed
        else:  # the caller gave up
            goes_on = True
            if buffer is not None:
                buffer.release()
        if self._send_queue.waiting:
            self._send_queue.flush()
        return goes_on

    def _refuse(self, error: type[KafkaError], text: str) -> None:
        self._connection.abort(error(f"{self._connection.described_as} {text}"))

    def _unreadable(self, entry: InFlight, error: Exception) -> None:
        where = f"in the answer of {self._connection.described_as} to {entry.request.NAME} version {entry.version}"
        if isinstance(error, WireFormatError):
            broken = WireFormatError(f"{error.args[0] if error.args else error} ({where})")
        else:
            log.error("reading failed unexpectedly %s", where, exc_info=error)
            broken = WireFormatError(f"reading failed with {error!r} ({where})")
        self._connection.abort(KafkaConnectionError(f"closed after a response that could not be read {where}"))
        if not entry.future.done():
            entry.future.set_exception(broken)

    def _give(self, entry: InFlight, quiet_s: float, response: Any, buffer: FrameBuffer | None) -> None:
        if quiet_s and not self._connection.closed:
            self._throttle(entry, quiet_s)
        if buffer is not None:
            if entry.request.RESPONSE.HAS_RECORDS:
                response.frame = buffer
            else:
                buffer.release()
        entry.future.set_result(response)

    def _throttle(self, entry: InFlight, seconds: float) -> None:
        """Pause sending and extend the deadlines, because the broker does not read during this time (KIP-219)."""
        now = self._loop.time()
        self._connection.traffic.throttled(seconds, now)
        self._send_queue.throttle(seconds)
        self._table.extend(now + seconds)
        self._throttle_log.tell(now, self._connection.described_as, entry.request.NAME, seconds)
