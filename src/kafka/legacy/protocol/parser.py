"""`KafkaProtocol` of kafka.protocol.parser: encodes a connection's requests, and decodes its responses."""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

from kafka.errors import CorrelationIdError, InvalidReceiveError, KafkaProtocolError
from kafka.legacy.protocol.schema_types import Int32
from kafka.version import __version__

log = logging.getLogger("kafka.protocol.parser")


class KafkaBytes(bytearray):
    """A buffer of fixed size that is filled in pieces and then read."""

    def __init__(self, size: int) -> None:
        """Allocate a buffer of `size` bytes."""
        super().__init__(size)
        self._position = 0

    def read(self, nbytes: int | None = None) -> bytes:
        """Read up to `nbytes` at the current position, or all remaining bytes, and advance."""
        start = self._position
        self._position = len(self) if nbytes is None else min(start + nbytes, len(self))
        return bytes(self[start : self._position])

    def write(self, data: bytes) -> None:
        """Write bytes at the current position, and advance."""
        end = self._position + len(data)
        self[self._position : end] = data
        self._position = end

    def seek(self, idx: int) -> None:
        """Change the position."""
        self._position = idx

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def __str__(self) -> str:
        return f"KafkaBytes({len(self)})"

    def __repr__(self) -> str:
        return str(self)


_SIZE = 4
_FIND_COORDINATOR = 10


class KafkaProtocol:
    """The protocol of a connection without I/O: encodes frames to be sent, and decodes received bytes."""

    def __init__(
        self, client_id: str | None = None, api_version: tuple[int, ...] | None = None, max_frame_size: int = 100000000
    ) -> None:
        """Start a connection.

        Args:
            client_id: the client id in each request.
            api_version: the broker's release, if known; 0.8.2 sends one response with a wrong correlation id.
            max_frame_size: maximum size of a response in bytes.
        """
        self._client_id = f"kafka-python{__version__}" if client_id is None else client_id
        self._api_version = api_version
        self._max_frame_size = max_frame_size
        self._correlation_id = 0
        self._received = bytearray()
        self.in_flight_requests: deque[tuple[int, Any]] = deque()
        self.bytes_to_send: list[bytes] = []

    def _next_correlation_id(self) -> int:
        self._correlation_id = (self._correlation_id + 1) % 2**31
        return self._correlation_id

    def send_request(self, request: Any, correlation_id: int | None = None) -> int:
        """Encode a request for `send_bytes`. Return its correlation id, by default the next one."""
        if correlation_id is None:
            correlation_id = self._next_correlation_id()
        header = request.build_header(correlation_id=correlation_id, client_id=self._client_id)
        message = header.encode() + request.encode()
        self.bytes_to_send.append(Int32.encode(len(message)) + message)
        if request.expect_response():
            self.in_flight_requests.append((correlation_id, request))
        return correlation_id

    def send_bytes(self) -> bytes:
        """Return the bytes of all requests encoded since the last call."""
        data = b"".join(self.bytes_to_send)
        self.bytes_to_send = []
        return data

    def receive_bytes(self, data: bytes) -> list[tuple[int, Any]]:
        """Process bytes from the connection; return the responses that are complete, each with its correlation id.

        Raises:
            KafkaProtocolError: a response cannot be decoded.
            CorrelationIdError: a response does not belong to the oldest request.
            InvalidReceiveError: the size of a response is negative, or exceeds `max_frame_size`.
        """
        self._received += data
        responses = []
        while len(self._received) >= _SIZE:
            size = int.from_bytes(self._received[:_SIZE], "big", signed=True)
            if not 0 <= size <= self._max_frame_size:
                raise InvalidReceiveError(f"Invalid frame length: {size}")
            if len(self._received) < _SIZE + size:
                break
            frame = KafkaBytes(size)
            frame[:] = self._received[_SIZE : _SIZE + size]
            del self._received[: _SIZE + size]
            responses.append(self._process_response(frame))
        return responses

    def _process_response(self, frame: Any) -> tuple[int, Any]:
        """Decode the response to the oldest request."""
        if not self.in_flight_requests:
            raise CorrelationIdError("No in-flight-request found for server response")
        correlation_id, request = self.in_flight_requests.popleft()
        response_type = request.RESPONSE_TYPE
        received = response_type.parse_header(frame).correlation_id
        if received == 0 and correlation_id and self._may_lack_id(response_type):
            log.warning("A broker of Kafka 0.8.2 that has no topics yet answered without a correlation id")
        elif received != correlation_id:
            raise CorrelationIdError(f"Correlation IDs do not match: sent {correlation_id}, recv {received}")
        try:
            return correlation_id, response_type.decode(frame)
        except ValueError as error:
            raise KafkaProtocolError(
                f"Unable to decode response of {len(frame)} bytes to {request}: {error}"
            ) from error

    def _may_lack_id(self, response_type: Any) -> bool:
        """Return whether this may be the response that Kafka 0.8.2 first sends with correlation id 0."""
        is_first_coordinator = response_type.API_KEY == _FIND_COORDINATOR and response_type.API_VERSION == 0
        return is_first_coordinator and self._api_version in (None, (0, 8, 2))
