"""A client's connection: reads frames, serves one request at a time, and sends responses in the order of the requests.

As in Kafka, no further request is read from the connection while a response is pending (a long poll, or a rebalance).
Requests that a client sent before it closed the connection are served in order. A client that has only closed its
sending side still gets the responses; responses that cannot be delivered are dropped. In both cases long polls end
early. If a frame is not a valid request, the broker closes the connection and logs one line; there is no other effect.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, cast

from kafka.broker.api import APIS, Answer, Api, Handler, LongPoll, NoAnswer
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.clock import Timer
from kafka.broker.connection_listener import DescriptorReserve
from kafka.broker.error_codes import ConnectionFault, ErrorCode, code_of
from kafka.broker.faults import Action, Faults
from kafka.broker.log.log_options import Buffer
from kafka.broker.receive_buffer import SIZE, BufferPool, ReceiveBuffer
from kafka.errors import KafkaError
from kafka.wire import Message, Request
from kafka.wire.framing import decode_request, encode_response

log = logging.getLogger(__name__)


class RequestDispatcher:
    """Calls request handlers, applies faults, and converts exceptions to error responses.

    It caches the handlers that its connection has used.
    """

    def __init__(self, broker: Broker, faults: Faults) -> None:
        self._broker = broker
        self._faults = faults
        self._handlers: dict[int, Handler] = {}

    @property
    def may_fail(self) -> bool:
        """Whether there are fault rules. Check only once per request, as other threads may add rules."""
        return bool(self._faults.rules)

    def handle(self, api: Api, request: Message, context: RequestContext) -> Answer:
        """Return the response, or a future for it; raises `ConnectionFault` if no response is possible."""
        handler = self._handlers.get(api.key)
        if handler is None:
            handler = self._handlers[api.key] = api.handler()
        try:
            return handler(self._broker, request, context)
        except ConnectionFault:
            raise
        except Exception as error:
            return self.failed(request, context, error)

    def handle_with_faults(self, api: Api, request: Message, context: RequestContext) -> tuple[Answer, int | None]:
        """Handle a request like `handle`, but apply a matching fault rule, if any.

        Returns the response, and the number of bytes after which to cut the connection, or None.
        """
        from kafka.broker.fault_injection import facts_of, serve_with_fault

        rule = self._faults.for_request(facts_of(self._broker, api.name, request, context))
        if rule is None:
            return self.handle(api, request, context), None
        answer = serve_with_fault(rule, lambda given: self.handle(api, given, context), self._broker, request, context)
        return answer, rule.nbytes if rule.action is Action.CUT else None

    @staticmethod
    def failed(request: Message, context: RequestContext, error: BaseException) -> Message:
        """Return the error response to a failed request.

        Raises `ConnectionFault` if the response has no error field.
        """
        from kafka.broker.error_responses import error_answer, has_error
        from kafka.wire.api.produce import ProduceRequest

        name = type(request).NAME
        log.error("%s version %d of %s failed", name, context.version, context.client_id, exc_info=error)
        wants_none = isinstance(request, ProduceRequest) and request.acks == 0
        if wants_none or not isinstance(request, Request) or not has_error(request.RESPONSE):
            raise ConnectionFault(f"{name} could not be answered") from error
        return error_answer(request, context.version, code_of(error))


_REQUESTS_A_ROUND: Final = 8
"""Maximum number of requests that a connection serves per iteration of the loop."""
_UNREAD_BYTES: Final = 16 * 1024 * 1024
"""Maximum number of bytes to read from a closed connection; more than any system buffers for a socket."""
_LOGIN_S: Final = 600.0
"""Login timeout in seconds. Kafka closes idle connections after this time (connections.max.idle.ms)."""
_SMALLEST_FRAME: Final = 8
_JOIN_BELOW: Final = 16 * 1024
_API_VERSIONS: Final = 18


class ClientConnection(asyncio.BufferedProtocol):
    """The broker's side of a connection: a protocol for any transport with asyncio's interface.

    `on_close` is called once, when the connection ends. Large requests are received into buffers from the `pool`. A
    connection that gets one of the last file `descriptors` is closed at once.
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
        self._faults = faults
        self._on_close = on_close
        self._descriptors = descriptors
        self._sent_until_cut: int | None = None
        """Number of bytes that may still be sent before a fault cuts the connection; None: no such fault."""
        self._transport: asyncio.Transport | None = None
        self._peer, self._peer_port = "unknown", 0
        self._received = ReceiveBuffer(pool)
        self._waiting: asyncio.Future[Message] | asyncio.Future[Message | None] | None = None
        self._goes_on = False
        """Whether the next iteration of the loop will serve more requests from the buffer."""
        self._reading = True
        self._writable = True
        self._sends_more = True
        """Whether the client may still send data."""
        self._closing = False
        self._is_over = False
        self._handling = RequestDispatcher(broker, faults)
        self._login = broker.new_login()
        self._login_deadline: Timer | None = None

    # -- callbacks of the transport -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the peer's address, and apply connection faults.

        The broker may have stopped since it accepted the connection.
        """
        # Not all loops derive their transports from asyncio's.
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
            log.warning("closing the connection of %s: no login within %d s", self._peer, _LOGIN_S)
            self.close()

    def eof_received(self) -> bool:
        """Serve the remaining requests, then close.

        The client, which has closed its sending side, may still read responses.
        """
        self._end_of_requests()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Serve the requests that the client has sent, or drop them if the broker closed the connection."""
        transport, self._transport = self._transport, None
        if self._sends_more and not self._closing and transport is not None:
            accepted = transport.get_extra_info("socket")
            if accepted is not None:
                self._received.append_unread(accepted.fileno(), _UNREAD_BYTES)
        self._writable = True
        self._end_of_requests()

    def _end_of_requests(self) -> None:
        self._sends_more = False
        if isinstance(self._waiting, NoAnswer):
            self.close()
            return
        if isinstance(self._waiting, LongPoll) and not self._waiting.done() and not self._closing:
            self._waiting.finish()
        self._take_frames()

    def _end(self) -> None:
        """Stop serving, and cancel a pending response."""
        if self._is_over:
            return
        self._is_over = self._closing = True
        if self._login_deadline is not None:
            self._login_deadline.cancel()
        if self._waiting is not None:
            self._waiting.cancel()
        self._received.clear()
        self._broker.disconnected(self)
        self._on_close(self)

    def pause_writing(self) -> None:
        """Stop serving requests, as the client reads too slowly."""
        self._writable = False

    def resume_writing(self) -> None:
        """Continue to serve requests, as the client has caught up."""
        self._writable = True
        self._take_frames()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the free memory after the bytes that have been received but not served yet."""
        return self._received.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Serve all complete requests."""
        self._received.received(nbytes)
        self._take_frames()

    def close(self) -> None:
        """Close the connection without sending buffered data, even if the connection is still being accepted."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()
        elif not self._sends_more:
            self._end()

    # -- frames -------------------------------------------------------------------------------------------------------

    def _take_frames(self) -> None:
        """Serve a limited number of the received requests; close the connection if the client cannot send more."""
        try:
            if not self._goes_on:
                self._serve_round()
        except ConnectionFault as error:
            log.warning("closing the connection of %s: %s", self._peer, error)
            self.close()
            return
        if not self._sends_more and (self._closing or self._has_served_all):
            self._close_after_the_last()
        elif not self._is_over:
            self._make_room()

    def _serve_round(self) -> None:
        for _ in range(_REQUESTS_A_ROUND):
            if self._waiting is not None or not self._writable or self._closing:
                return
            size = self._received.next_size()
            if size is None:
                return
            self._check_size(size)
            frame = self._received.take(size)
            if frame is None:
                return
            self._take_request(frame)
        self._goes_on = True
        asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._goes_on = False
        if not self._is_over:
            self._take_frames()

    @property
    def _has_served_all(self) -> bool:
        return self._waiting is None and self._writable and not self._goes_on

    def _close_after_the_last(self) -> None:
        if self._transport is None:
            self._end()
        elif not self._closing:
            self._closing = True
            self._transport.close()  # sends buffered data first

    def _check_size(self, size: int) -> None:
        least, limit = _SMALLEST_FRAME, self._broker.settings.max_request_bytes
        if self._login is not None and not self._login.is_done:
            least, limit = self._login.frame_sizes(least, limit)
        if not least <= size <= limit:
            raise ConnectionFault(describe_size(size, least, limit))

    def _make_room(self) -> None:
        """Make room for more bytes, or pause reading while a response is pending."""
        self._received.make_room(self._login is None or self._login.is_done)
        can_read = self._received.has_room
        if can_read != self._reading and self._transport is not None:
            self._reading = can_read
            if can_read:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    # -- requests -----------------------------------------------------------------------------------------------------

    def _take_request(self, frame: memoryview) -> None:
        if self._login is not None and self._login.is_bare:
            token = self._login.answer_bare(bytes(frame))
            self._send([len(token).to_bytes(SIZE, "big"), token])
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
        may_fail = self._handling.may_fail
        if may_fail:
            # A fault may delay the request, and the buffer is reused in the meantime.
            frame = memoryview(bytes(frame))
        try:
            header, request = decode_request(frame)
        except KafkaError as error:
            raise ConnectionFault(f"{api.name} version {version} cannot be read: {error}") from error
        if not is_admitted:
            from kafka.broker.error_responses import error_answer

            self._respond(error_answer(request, version, ErrorCode.ILLEGAL_SASL_STATE), version, correlation_id)
            return
        context = RequestContext(
            version, header.client_id or "", self._peer, self, self._peer_port, self._login, self._sends_more
        )
        if may_fail:
            answer, cut_after = self._handling.handle_with_faults(api, request, context)
            self._sent_until_cut = self._sent_until_cut if cut_after is None else cut_after
        else:
            answer = self._handling.handle(api, request, context)
        self._answer(answer, request, context, correlation_id)

    def _refuse_version(self, correlation_id: int) -> None:
        """Send a version 0 response to an ApiVersions request with an unknown version (KIP-511).

        All clients support version 0.
        """
        from kafka.broker.api.api_versions import response

        self._send(encode_response(response(ErrorCode.UNSUPPORTED_VERSION), 0, correlation_id))

    def _answer(self, answer: Answer, request: Message, context: RequestContext, correlation_id: int) -> None:
        if answer is None:
            return
        if isinstance(answer, Message):
            self._respond(answer, context.version, correlation_id)
            return
        self._waiting = answer
        answer.add_done_callback(partial(self._answer_late, request, context, correlation_id))

    def _answer_late(
        self,
        request: Message,
        context: RequestContext,
        correlation_id: int,
        answer: "asyncio.Future[Message | None]",
    ) -> None:
        self._waiting = None
        if self._is_over or answer.cancelled():
            return
        error = answer.exception()
        try:
            if isinstance(error, ConnectionFault):
                raise error
            response = answer.result() if error is None else self._handling.failed(request, context, error)
        except ConnectionFault as fault:
            log.warning("closing the connection of %s: %s", self._peer, fault)
            self.close()
            return
        if response is not None:
            self._respond(response, context.version, correlation_id)
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
        """Write a response: join small parts, and write large ones (records) without copying them."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return  # the client has disconnected
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
            log.warning("closing the connection of %s: the login failed: %s", self._peer, self._login.why)
            self._closing = True
            transport.close()

    def _cut(self, transport: asyncio.Transport, data: bytes, left: int) -> bool:
        """Return whether a fault cuts the connection within `data`; if so, send only the first `left` bytes."""
        if len(data) < left:
            self._sent_until_cut = left - len(data)
            return False
        self._closing = True
        transport.write(data[:left])
        transport.close()
        return True


def describe_size(size: int, least: int, limit: int) -> str:
    """Describe why a request of this size is rejected. TLS and other protocols are recognized by their first bytes.

    Arguments:
        size: the size according to the request, in bytes.
        least, limit: the allowed range, in bytes.
    """
    head = size.to_bytes(4, "big", signed=True)
    if head.startswith((b"\x15\x03", b"\x16\x03")):
        return (
            "it speaks TLS, and this listener does not: the client needs security_protocol PLAINTEXT or SASL_PLAINTEXT"
        )
    if head.isascii() and head.decode().isprintable():
        return f"it does not speak Kafka's protocol, but sent {head.decode()!r}: a browser, or another client of HTTP?"
    return f"a request must have {least} to {limit} bytes, but this one claims {size}"
