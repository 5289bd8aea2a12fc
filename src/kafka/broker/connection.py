"""One client's connection: frames in, one request at a time, responses out in the order of the requests.

While an answer is still to come (a long poll, a group that rebalances) nothing more is taken from the connection, as
Kafka does it. A frame that is no request ends the connection with one log line, and touches nothing else.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, cast

from kafka.broker.api import APIS, Answer, Handler
from kafka.broker.buffers import BufferPool
from kafka.broker.clock import Timer
from kafka.broker.codes import ConnectionFault, ErrorCode
from kafka.broker.context import Broker, RequestContext
from kafka.broker.descriptors import DescriptorReserve
from kafka.broker.faults import Action, Faults
from kafka.broker.log.layout import Buffer
from kafka.errors import KafkaError
from kafka.wire import Message
from kafka.wire.framing import decode_request, encode_response

log = logging.getLogger(__name__)

_SIZE: Final = 4
_FIRST_BUFFER: Final = 4 * 1024
"""Room that a connection begins with, so that thousands that do nothing take little."""
_BUFFER: Final = 64 * 1024
"""The room from the first larger request on that comes of somebody who may send one."""
_LOGIN_S: Final = 600.0
"""For how long somebody may take to log in; after that time Kafka closes idle connections (connections.max.idle.ms)."""
_SMALLEST_FRAME: Final = 8
_JOIN_BELOW: Final = 16 * 1024
_API_VERSIONS: Final = 18


class ClientConnection(asyncio.BufferedProtocol):
    """The broker's side of a connection, a protocol for any transport of asyncio's interface.

    `on_close` is called with it once, at its end. Large requests are received in buffers of the `pool`. A connection
    that takes one of the last file `descriptors` is closed at once.
    """

    def __init__(
        self,
        broker: Broker,
        pool: BufferPool,
        faults: Faults,
        on_close: Callable[["ClientConnection"], None],
        descriptors: DescriptorReserve,
    ) -> None:
        self._broker = broker
        self._pool = pool
        self._faults = faults
        self._on_close = on_close
        self._descriptors = descriptors
        self._sent_until_cut: int | None = None
        """How many bytes are still sent before the connection is cut, where a fault says so."""
        self._transport: asyncio.Transport | None = None
        self._peer, self._peer_port = "unknown", 0
        self._small = self._buffer = bytearray(_FIRST_BUFFER)
        self._start = 0
        self._end = 0
        self._waiting: asyncio.Future[Message] | asyncio.Future[Message | None] | None = None
        self._reading = True
        self._writable = True
        self._closing = False
        self._handlers: dict[int, Handler] = {}
        self._login = broker.new_login()
        self._login_deadline: Timer | None = None

    # -- what the transport calls -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take note of the peer; the broker may have been told to stop since it was accepted."""
        # Some loops have transports that do not derive from asyncio's.
        self._transport = transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple):
            self._peer, self._peer_port = str(peer[0]), int(peer[1])
        fault = self._faults.for_connection()
        if fault is not None and fault.action is Action.CUT_CONNECTION:
            self._sent_until_cut = fault.nbytes
        elif fault is not None:
            self._closing = True
        accepted = transport.get_extra_info("socket")
        if accepted is not None and not self._descriptors.may_keep(accepted.fileno(), self._broker.clock.time()):
            self._closing = True
        if self._closing:
            transport.abort()
        elif self._login is not None:
            self._login_deadline = self._broker.clock.call_later(_LOGIN_S, self._end_without_login)

    def _end_without_login(self) -> None:
        if self._login is not None and not self._login.has_succeeded:
            log.warning("connection of %s is closed: nobody has logged in for %d s", self._peer, _LOGIN_S)
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop what is still waited for."""
        self._transport = None
        if self._login_deadline is not None:
            self._login_deadline.cancel()
        if self._waiting is not None:
            self._waiting.cancel()
        self._start = self._end = 0
        self._use(self._small)
        self._broker.disconnected(self)
        self._on_close(self)

    def pause_writing(self) -> None:
        """The client does not read as fast as it asks: take no more requests of it for now."""
        self._writable = False

    def resume_writing(self) -> None:
        """It has read."""
        self._writable = True
        self._take_frames()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where received bytes go: behind those that are not worked off yet."""
        return memoryview(self._buffer)[self._end :]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have come."""
        self._end += nbytes
        self._take_frames()

    def close(self) -> None:
        """End the connection, without waiting for what is still to be sent; also one that is only being accepted."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    # -- frames -------------------------------------------------------------------------------------------------------

    def _take_frames(self) -> None:
        try:
            while self._waiting is None and self._writable and self._transport is not None and not self._closing:
                available = self._end - self._start
                if available < _SIZE:
                    break
                size = int.from_bytes(self._buffer[self._start : self._start + _SIZE], "big", signed=True)
                self._check_size(size)
                if available < _SIZE + size:
                    break
                start = self._start + _SIZE
                self._start = start + size
                self._take_request(memoryview(self._buffer)[start : start + size])
        except ConnectionFault as error:
            log.warning("connection of %s is closed: %s", self._peer, error)
            self.close()
            return
        self._make_room()

    def _check_size(self, size: int) -> None:
        least, limit = _SMALLEST_FRAME, self._broker.settings.max_request_bytes
        if self._login is not None and not self._login.is_done:
            least, limit = self._login.frame_sizes(least, limit)
        if not least <= size <= limit:
            raise ConnectionFault(f"a request has {least} to {limit} bytes, this one says {size}")

    def _make_room(self) -> None:
        """See to it that there is a place for the bytes to come, or stop reading while a request is being answered."""
        waiting = self._end - self._start
        if waiting == 0:
            self._start = self._end = 0
            self._use(self._small)
        else:
            needed = _SIZE
            if waiting >= _SIZE:
                needed += int.from_bytes(self._buffer[self._start : self._start + _SIZE], "big", signed=True)
            # Moved as soon as it is clear that the request does not fit behind, so that reads stay large.
            if self._end == len(self._buffer) or self._start + needed > len(self._buffer):
                self._move(waiting, needed)
        can_read = self._end < len(self._buffer)
        if can_read != self._reading and self._transport is not None:
            self._reading = can_read
            if can_read:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _move(self, waiting: int, needed: int) -> None:
        """Make room behind the bytes that wait: move them to the front, of a larger buffer if the request needs one."""
        if self._start == 0 and needed <= waiting:
            return
        view = memoryview(self._buffer)
        held = view[self._start : self._end]
        is_admitted = self._login is None or self._login.is_done
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

    def _use(self, buffer: bytearray) -> None:
        """Receive into another buffer; a large one goes back to the pool."""
        if self._buffer is not buffer and self._buffer is not self._small:
            self._pool.give(self._buffer)
        self._buffer = buffer

    # -- requests -----------------------------------------------------------------------------------------------------

    def _take_request(self, frame: memoryview) -> None:
        if self._login is not None and self._login.is_bare:
            token = self._login.answer_bare(bytes(frame))
            self._send([len(token).to_bytes(_SIZE, "big"), token])
            return
        key, version = int.from_bytes(frame[:2], "big", signed=True), int.from_bytes(frame[2:4], "big", signed=True)
        correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        api = APIS.get(key)
        if api is None:
            raise ConnectionFault(f"API key {key} is not served")
        is_admitted = self._login is None or self._login.admit(key, api.name)
        if not api.min_version <= version <= api.max_version:
            if key != _API_VERSIONS:
                raise ConnectionFault(
                    f"{api.name} is served in versions {api.min_version} to {api.max_version}, not in {version}"
                )
            self._refuse_version(correlation_id)
            return
        handler = self._handlers.get(key)
        if handler is None:
            handler = self._handlers[key] = api.handler()
        # Rules may come from another thread at any time: what is seen here holds for the whole request.
        may_fail = bool(self._faults.rules)
        if may_fail:
            # A fault may have the request served later, when its bytes are no longer in the buffer.
            frame = memoryview(bytes(frame))
        try:
            header, request = decode_request(frame)
        except KafkaError as error:
            raise ConnectionFault(f"{api.name} version {version} cannot be read: {error}") from error
        if not is_admitted:
            from kafka.broker.error_answers import error_answer

            self._respond(error_answer(request, version, ErrorCode.ILLEGAL_SASL_STATE), version, correlation_id)
            return
        context = RequestContext(version, header.client_id or "", self._peer, self, self._peer_port, self._login)
        handle = self._handle_faulty if may_fail else self._handle
        self._answer(handle(handler, request, context, api.name), version, correlation_id)

    def _handle_faulty(self, handler: Handler, request: Message, context: RequestContext, name: str) -> Answer:
        from kafka.broker.fault_serving import facts_of, serve_with_fault

        rule = self._faults.for_request(facts_of(self._broker, name, request, context))
        if rule is None:
            return self._handle(handler, request, context, name)
        if rule.action is Action.CUT:
            self._sent_until_cut = rule.nbytes
        return serve_with_fault(
            rule, lambda given: self._handle(handler, given, context, name), self._broker, request, context
        )

    def _handle(self, handler: Handler, request: Message, context: RequestContext, name: str) -> Answer:
        try:
            return handler(self._broker, request, context)
        except ConnectionFault:
            raise
        except Exception as error:
            log.exception("%s version %d of %s failed", name, context.version, context.client_id)
            raise ConnectionFault(f"{name} could not be answered") from error

    def _refuse_version(self, correlation_id: int) -> None:
        """Answer an ApiVersions of a version to come in version 0, which every client can read (KIP-511)."""
        from kafka.broker.api.api_versions import response

        self._send(encode_response(response(ErrorCode.UNSUPPORTED_VERSION), 0, correlation_id))

    def _answer(self, answer: Answer, version: int, correlation_id: int) -> None:
        if answer is None:
            return
        if isinstance(answer, Message):
            self._respond(answer, version, correlation_id)
            return
        self._waiting = answer
        answer.add_done_callback(partial(self._answer_late, version, correlation_id))

    def _answer_late(self, version: int, correlation_id: int, answer: "asyncio.Future[Message | None]") -> None:
        self._waiting = None
        if self._transport is None or answer.cancelled():
            return
        error = answer.exception()
        if isinstance(error, ConnectionFault):
            log.warning("connection of %s is closed: %s", self._peer, error)
            self.close()
            return
        if error is not None:
            log.error("a request of %s could not be answered", self._peer, exc_info=error)
            self.close()
            return
        response = answer.result()
        if response is not None:
            self._respond(response, version, correlation_id)
        self._take_frames()

    def _respond(self, response: Message, version: int, correlation_id: int) -> None:
        try:
            parts = encode_response(response, version, correlation_id)
        except KafkaError:
            log.exception("%s version %d cannot be written", type(response).__name__, version)
            self.close()
            return
        self._send(parts)

    def _send(self, parts: list[Buffer]) -> None:
        """Write a response: small parts together, large ones (records) as they are."""
        transport = self._transport
        if transport is None:
            return
        if self._sent_until_cut is not None and self._cut(transport, b"".join(parts), self._sent_until_cut):
            return
        small: list[Buffer] = []
        size = 0
        for part in parts:
            if len(part) < _JOIN_BELOW:
                small.append(part)
                size += len(part)
                if size < _JOIN_BELOW:
                    continue
            if small:
                transport.write(b"".join(small))
                small, size = [], 0
            if len(part) >= _JOIN_BELOW:
                transport.write(part)
        if small:
            transport.write(b"".join(small))
        if self._login is not None and self._login.has_failed:
            log.warning("connection of %s is closed: the login failed: %s", self._peer, self._login.why)
            self._closing = True
            transport.close()

    def _cut(self, transport: asyncio.Transport, data: bytes, left: int) -> bool:
        """Whether a fault ends the connection within these bytes, of which the first `left` are sent then."""
        if len(data) < left:
            self._sent_until_cut = left - len(data)
            return False
        self._closing = True
        transport.write(data[:left])
        transport.close()
        return True
