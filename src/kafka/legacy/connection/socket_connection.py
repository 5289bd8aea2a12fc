"""`KafkaConnection` of 0.9 and 1.0: a socket that transfers encoded requests and responses unchanged."""

from __future__ import annotations

import logging
import socket
import threading
from typing import Any, NoReturn, Self

from kafka._addresses import format_address
from kafka.errors import KafkaConnectionError
from kafka.legacy.deprecation import warn_deprecated

DEFAULT_SOCKET_TIMEOUT_SECONDS = 120
_log = logging.getLogger(__name__)
_SIZE = 4


class KafkaConnection(threading.local):
    """A connection to one broker; each thread that uses the object has its own socket.

    Attributes:
        host, port: the broker's address.
        timeout: time limit in seconds for connecting, sending and receiving; None: no limit.
    """

    def __init__(self, host: str, port: int, timeout: float | None = DEFAULT_SOCKET_TIMEOUT_SECONDS) -> None:
        """Connect.

        Raises:
            ConnectionError: the broker cannot be reached.
        """
        super().__init__()
        warn_deprecated("KafkaConnection is deprecated: use BrokerConnection")
        self.host = host
        self.port = port
        self.timeout = timeout
        self._sock: socket.socket | None = None
        self.reinit()

    def __repr__(self) -> str:
        return f"<KafkaConnection host={self.host} port={self.port}>"

    def get_connected_socket(self) -> socket.socket:
        """Return the socket; connect if necessary."""
        if self._sock is None:
            self.reinit()
        assert self._sock is not None
        return self._sock

    def send(self, request_id: int, payload: bytes) -> None:
        """Send an encoded request, including its size.

        Args:
            request_id: for the log.
            payload: the request, encoded by `kafka.protocol.KafkaProtocol`.

        Raises:
            ConnectionError: the connection is lost; the next call reconnects.
        """
        _log.debug("About to send %d bytes to Kafka, request %d", len(payload), request_id)
        try:
            self.get_connected_socket().sendall(payload)
        except OSError as error:
            self._lost(error)

    def recv(self, request_id: int) -> bytes:
        """Return the next response, without its size; `request_id` is for the log.

        Raises:
            ConnectionError: the connection is lost; the next call reconnects.
        """
        _log.debug("Reading response %d from Kafka", request_id)
        return self._read(int.from_bytes(self._read(_SIZE), "big"))

    def _read(self, size: int) -> bytes:
        """Read exactly `size` bytes."""
        sock, found = self.get_connected_socket(), bytearray()
        while len(found) < size:
            try:
                data = sock.recv(min(size - len(found), 1 << 16))
            except OSError as error:
                self._lost(error)
            if not data:
                self._lost(None)
            found += data
        return bytes(found)

    def _lost(self, cause: OSError | None) -> NoReturn:
        """Close the socket, and raise an error."""
        self.close()
        raise KafkaConnectionError(
            f"Kafka @ {format_address(self.host, self.port)} went away: {cause or 'it closed'}"
        ) from cause

    def copy(self) -> Self:
        """Return an unconnected copy for the same broker; call `reinit` in the thread that uses it."""
        make: Any = type(self).__new__  # accepts the arguments that threading.local passes to __init__
        other: Self = make(type(self), self.host, self.port, self.timeout)
        other.host, other.port, other.timeout, other._sock = self.host, self.port, self.timeout, None
        return other

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    def close(self) -> None:
        """Close the socket, if there is one."""
        if self._sock is None:
            return
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            _log.debug("%r: the broker had closed the connection", self)
        self._sock.close()
        self._sock = None

    def reinit(self) -> None:
        """Close the socket, if there is one, and reconnect.

        Raises:
            ConnectionError: the broker cannot be reached.
        """
        self.close()
        try:
            self._sock = socket.create_connection((self.host, self.port), self.timeout)
        except OSError as error:
            self._lost(error)
