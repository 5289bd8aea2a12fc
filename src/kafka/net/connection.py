"""A connection to one broker: sends requests, and notifies their callers when it ends.

The `Receiver` handles the answers. `Deadlines` closes the connection if an answer is late.
"""

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kafka._addresses import format_address
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.config.connection import DEFAULT_CLIENT_ID
from kafka.errors import (
    Cancelled,
    KafkaConnectionError,
    KafkaError,
)
from kafka.net.broker_versions import ApiVersions
from kafka.net.fork import close_in_children
from kafka.net.frame_stream import Stream
from kafka.net.open_stream import describe_failure, open_stream
from kafka.net.own_loop import clock_of
from kafka.net.pending_requests import LAST_ID, Answered, Deadlines, InFlight, InFlightTable, SendQueue
from kafka.net.receiver import Receiver
from kafka.net.statistics import NetworkTraffic, NodeTraffic
from kafka.net.tls_context import TlsRefusedError, is_alert, tls_context
from kafka.wire.framing import encode_request

if TYPE_CHECKING:
    from kafka.wire import Request, Response

R = TypeVar("R", bound="Response")
T = TypeVar("T")

_PRODUCE = 0
_CLOSE_TIMEOUT_S = 2.0


class Connection:
    """An open, negotiated and authenticated connection, created by `open_connection`. For use on its event loop only.

    Attributes:
        host, port, node_id: the broker; ``node_id`` is -1 if it is unknown.
        api_versions: the API versions that the broker supports.
        described_as: the broker's name in messages.
        closed: whether either side has closed the connection.
        ended_here: whether the connection was closed because this side no longer needs it.
        traffic: counts requests and bytes.
    """

    def __init__(
        self, host: str, port: int, options: ConnectionOptions, node_id: int = -1, traffic: NodeTraffic | None = None
    ) -> None:
        self.host, self.port, self.node_id = host, port, node_id
        self.api_versions = ApiVersions({}, self.described_as)
        self.traffic = NetworkTraffic().node("") if traffic is None else traffic
        self._options = options
        self._client_id = options.client_id if options.client_id is not None else DEFAULT_CLIENT_ID
        self.loop = asyncio.get_running_loop()
        self._now = clock_of(self.loop)
        self._table = InFlightTable()
        limit = options.max_in_flight_requests_per_connection
        self._send_queue = SendQueue(self.loop, self._transmit, self._table.__len__, limit)
        self._answered_when_set_up = 0
        self._receiver = Receiver(self.loop, self, self._table, self._send_queue)
        self._deadlines = Deadlines(self.loop, self, self._table, self._send_queue, options.connections_max_idle_ms)
        self._stream: Stream | None = None
        self._why_closed: KafkaError | None = None
        self._on_close: list[Any] = []
        self.closed = self.ended_here = self._is_set_up = False

    async def connect(self, security: SecurityOptions) -> None:
        """Open the stream: the first step of `open_connection`."""
        limit = self._options.receive_message_max_bytes
        self._stream = await open_stream(
            self.host,
            self.port,
            self._options,
            await tls_context(security),
            lambda: Stream(self._receiver.take, self._lost, limit),
            security.proxy,
        )
        close_in_children(self, self._stream.extra("socket"))
        if self._stream.ended:  # the stream ended before this connection owned it
            self._lost(self._stream, None)

    @property
    def described_as(self) -> str:
        """The broker's name in messages: its id, if known, and its address."""
        address = format_address(self.host, self.port)
        return f"broker {self.node_id} at {address}" if self.node_id >= 0 else address

    @property
    def tls(self) -> "ssl.SSLObject | None":
        """The negotiated TLS session; None without TLS, or before the connection is open."""
        return None if self._stream is None else self._stream.extra("ssl_object")

    @property
    def received_anything(self) -> bool:
        """Whether the broker has sent any bytes."""
        return self._stream is not None and self._stream.received_anything

    @property
    def receiving(self) -> bool:
        """Whether part of an answer has been received."""
        return self._stream is not None and self._stream.mid_frame

    @property
    def has_served(self) -> bool:
        """Whether the broker has answered a request since the connection was set up."""
        return self._receiver.answered > self._answered_when_set_up

    @property
    def in_flight(self) -> int:
        """Number of requests that are queued or waiting for an answer."""
        return len(self._table) + len(self._send_queue)

    def end_sending(self) -> None:
        """Close the sending half of the connection and keep receiving; some peers answer only then."""
        if self._stream is not None:
            self._stream.end_writing()

    def on_close(self, callback: Any) -> None:
        """Call ``callback(connection, error)`` on the loop once the connection is closed."""
        self._on_close.append(callback)

    async def send(self, request: "Request[R]", version: int | None = None, timeout_ms: float | None = None) -> R:
        """Send a request and wait for its response, an instance of ``type(request).RESPONSE``.

        Requests are sent in the order of the calls. A produce request with acks=0 has no answer: the result is an empty
        response, returned as soon as the request is sent. A response with records keeps its receive buffer in
        ``response.frame``.

        Arguments:
            version: the version of the request; None for the highest that both sides support.
            timeout_ms: how long to wait; None for ``request_timeout_ms``. After the timeout, the connection is closed,
                because later answers can only arrive after this one. Cancel the call to give up without closing the
                connection.

        Raises `KafkaTimeoutError`, `KafkaConnectionError`, `UnsupportedVersionError`, and `WireFormatError`.
        """
        return await self.post(request, version, timeout_ms)

    def post(
        self, request: "Request[R]", version: int | None = None, timeout_ms: float | None = None
    ) -> "asyncio.Future[R]":
        """Like `send`, but return once the request is sent or queued. The future receives the response."""
        future: asyncio.Future[R] = self.loop.create_future()
        self.post_for(future, request, version, timeout_ms)
        return future

    def post_for(
        self,
        reply: "Answered[R]",
        request: "Request[R]",
        version: int | None = None,
        timeout_ms: float | None = None,
        *,
        urgent: bool = False,
        digest: Callable[[R], Any] | None = None,
    ) -> None:
        """Like `post`, but pass the response to ``reply``; a `Reply` receives it as soon as it is decoded.

        Arguments:
            urgent: whether to send the request before queued ones (see `SendQueue`); for the exchanges that set up the
                connection.
            digest: converts the response to the value that ``reply`` receives. A large answer is decoded and digested
                in a thread, and the many objects of the response are freed before the loop continues.
        """
        if self._stream is None or self._why_closed is not None:
            raise self._closed_error()
        cls = type(request)
        if version is None:
            version = self.api_versions.version_for(cls)
        timeout_s = (self._options.request_timeout_ms if timeout_ms is None else timeout_ms) / 1000
        number = self._table.last_id = (self._table.last_id + 1) & LAST_ID
        parts = encode_request(request, version, number, self._client_id)
        written = None
        if cls.API_KEY == _PRODUCE and request.acks == 0:  # type: ignore[attr-defined]  # ProduceRequest has it
            written = partial(self._sent_unanswered, cls, reply)
        outgoing = InFlight(cls, version, reply, timeout_s, digest, number, parts, written)
        queue = self._send_queue
        if urgent or not (queue.is_blocked or queue.waiting or len(self._table) >= queue.limit):
            self._transmit(outgoing)
        else:
            queue.put(outgoing)

    def _transmit(self, outgoing: InFlight) -> None:
        stream, parts = self._stream, outgoing.parts
        assert stream is not None
        now = self._deadlines.last_used = self._now()
        if outgoing.written is None:
            outgoing.sent_at = now
            outgoing.deadline = now + outgoing.timeout_s
            self._table[outgoing.number] = outgoing
            if outgoing.deadline < self._deadlines.timer.due_at:
                self._deadlines.timer.at(outgoing.deadline)
        size = sum(map(len, parts))
        self.traffic.sent(size, now)
        outgoing.parts = ()  # they may be large, and must not live until the answer arrives
        stream.write(parts, size)
        if outgoing.written is not None:
            stream.when_drained(outgoing.written)

    def _sent_unanswered(self, request: "type[Request[R]]", future: "Answered[R]") -> None:
        if future.done():
            return
        if self._why_closed is not None:
            future.set_exception(self._closed_error())
        else:
            future.set_result(cast("R", request.RESPONSE()))

    async def send_digested(self, request: "Request[R]", version: int, digest: Callable[[R], T]) -> T:
        """Like `send`, but return the result of applying ``digest`` to the response; see `post_for`."""
        future: asyncio.Future[T] = self.loop.create_future()
        self.post_for(cast("Answered[R]", future), request, version, digest=digest)
        return await future

    async def send_now(self, request: "Request[R]", version: int, timeout_ms: float | None = None) -> R:
        """Like `send`, but send the request before queued ones; see `post_for`."""
        future: asyncio.Future[R] = self.loop.create_future()
        self.post_for(future, request, version, timeout_ms, urgent=True)
        return await future

    async def exchange_raw(self, data: bytes) -> bytes:
        """Send bytes as a frame without a header, and return the next frame. For SASL before Kafka 1.0 (KIP-43)."""
        stream = self._open_stream()
        raw: asyncio.Future[bytes] = self.loop.create_future()
        self._receiver.raw = raw
        stream.write([len(data).to_bytes(4, "big"), data], 4 + len(data))
        try:
            return await raw
        finally:
            self._receiver.raw = None

    def hold(self) -> None:
        """Queue all requests until `unhold` is called, while the connection reauthenticates."""
        self._open_stream()
        self._send_queue.hold()

    def unhold(self) -> None:
        """Send the queued requests."""
        if not self.closed:
            self._send_queue.unhold()

    def finish_setup(self) -> None:
        """Complete `open_connection`: from now on, `has_served` and ``connections_max_idle_ms`` apply."""
        self._answered_when_set_up = self._receiver.answered
        self._deadlines.watch_use()
        self._is_set_up = True
        self.traffic.network.connection_opened(self.loop.time())

    async def close(self) -> None:
        """Close the connection. Unanswered requests fail with `Cancelled`. Does not raise."""
        self.ended_here = True
        self._end(Cancelled(f"the connection to {self.described_as} was closed by this client"))
        if self._stream is not None:
            await self._stream.close(_CLOSE_TIMEOUT_S)

    def abort(self, error: KafkaError) -> None:
        """Close the connection immediately. Unanswered requests fail with ``error``.

        `Cancelled` means that this side no longer needs the connection.
        """
        self.ended_here |= isinstance(error, Cancelled)
        self._end(error)
        if self._stream is not None:
            self._stream.abort()

    # Closing

    def _lost(self, stream: Stream, why: Exception | None) -> None:
        if stream is not self._stream or self._why_closed is not None:
            return
        if isinstance(why, KafkaError):
            text = f"{self.described_as}: {why.args[0] if why.args else why}"
            self._end(type(why)(text))
        elif why is not None and is_alert(why) and not stream.received_anything:
            self._end(TlsRefusedError(f"the connection to {self.described_as} failed: {describe_failure(why)}"))
        elif why is not None:
            self._end(KafkaConnectionError(f"the connection to {self.described_as} failed: {describe_failure(why)}"))
        else:
            self._end(KafkaConnectionError(f"{self.described_as} closed the connection"))

    def _open_stream(self) -> Stream:
        if self._stream is None or self._why_closed is not None:
            raise self._closed_error()
        return self._stream

    def _closed_error(self) -> KafkaError:
        why = self._why_closed
        if isinstance(why, TlsRefusedError):
            return TlsRefusedError(*why.args)
        text = why.args[0] if why is not None and why.args else why
        return KafkaConnectionError(f"the connection to {self.described_as} is closed: {text}")

    def _end(self, error: KafkaError) -> None:
        if self._why_closed is not None:
            return
        self._why_closed = error
        self.closed = True
        self._deadlines.timer.cancel()
        if self._is_set_up:
            self.traffic.network.connection_closed(self.loop.time())
        waiting: list[Answered[Any]] = [entry.future for entry in self._table.drain()]
        waiting += self._send_queue.close()
        if self._receiver.raw is not None:
            waiting.append(self._receiver.raw)
        for future in waiting:
            if not future.done():
                future.set_exception(
                    type(error)(*error.args)
                )  # a new error for each request, because a traceback grows each time its error is raised
        for callback in self._on_close:
            callback(self, error)
