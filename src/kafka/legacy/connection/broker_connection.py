"""`BrokerConnection` of 1.0 to 2.x: sends requests of `kafka.protocol` to a broker, and returns futures."""

from __future__ import annotations

import logging
import queue
import selectors
import socket
import time
from typing import Any, ClassVar, NamedTuple, Self

from kafka._addresses import format_address
from kafka.config import parse_admin
from kafka.config.secrecy import GivenConfigs
from kafka.config.table import option_table, with_defaults
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NodeNotReadyError,
    RequestTimedOutError,
    TooManyInFlightRequests,
)
from kafka.legacy.connection.link import Link, traffic_in
from kafka.legacy.kafka_future import Future
from kafka.legacy.protocol.translation import Translated, translate
from kafka.net.broker_versions import release_of
from kafka.version import __version__


class ConnectionStates:
    """Connection states. CONNECTING covers the whole setup; the other setup states exist only for comparisons."""

    DISCONNECTED = "<disconnected>"
    DISCONNECTING = "<disconnecting>"
    CONNECTING = "<connecting>"
    HANDSHAKE = "<handshake>"
    CONNECTED = "<connected>"
    AUTHENTICATING = "<authenticating>"
    API_VERSIONS_SEND = "<checking_api_versions_send>"
    API_VERSIONS_RECV = "<checking_api_versions_recv>"


class InFlightRequest(NamedTuple):
    """A request in flight."""

    request: Any
    response_type: Any
    correlation_id: int
    future: Future
    timestamp: float


DEFAULT_CONFIG: dict[str, Any] = {
    "client_id": f"kafka-python-{__version__}",
    "node_id": 0,
    "request_timeout_ms": 30000,
    "reconnect_backoff_ms": 50,
    "reconnect_backoff_max_ms": 30000,
    "max_in_flight_requests_per_connection": 5,
    "receive_message_max_bytes": 100000000,
    "receive_buffer_bytes": None,
    "send_buffer_bytes": None,
    "socket_options": [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
    "sock_chunk_bytes": 4096,
    "sock_chunk_buffer_count": 1000,
    "security_protocol": "PLAINTEXT",
    "ssl_context": None,
    "ssl_check_hostname": True,
    "ssl_cafile": None,
    "ssl_certfile": None,
    "ssl_keyfile": None,
    "ssl_crlfile": None,
    "ssl_password": None,
    "ssl_ciphers": None,
    "api_version": None,
    "api_version_auto_timeout_ms": None,
    "selector": selectors.DefaultSelector,
    "state_change_callback": lambda node_id, sock, conn: True,
    "metrics": None,
    "metric_group_prefix": "",
    "sasl_mechanism": None,
    "sasl_plain_username": None,
    "sasl_plain_password": None,
    "sasl_kerberos_name": None,
    "sasl_kerberos_service_name": "kafka",
    "sasl_kerberos_domain_name": None,
    "sasl_oauth_token_provider": None,
    "socks5_proxy": None,
}


class Answer(Future):
    """A future that its connection completes. As in 2.x, callers may complete it again with the same result."""

    def success(self, value: Any) -> Self:
        """Complete the future with a value."""
        return self if self.is_done and self.value is value else super().success(value)

    def failure(self, e: BaseException | type[BaseException]) -> Self:
        """Complete the future with an error or its class."""
        return self if self.is_done and self.exception is e else super().failure(e)


class Received(list[tuple[Any, Future]]):
    """Pairs of responses and futures, as in 2.x, with the attributes of the first response, for programs using 1.0."""

    @property
    def response(self) -> Any:
        """The first response; None if there is none."""
        return self[0][0] if self else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not self:
            raise AttributeError(name)
        return getattr(self.response, name)


_log = logging.getLogger(__name__)


class BrokerConnection:
    """A connection to one broker, for use by one thread. Only `recv` receives responses and completes futures.

    Requests that the broker no longer supports are sent in the nearest supported version; see
    `kafka.legacy.protocol.translation`.

    Attributes:
        host, port, afi, node_id: the broker.
        config: the settings; see `DEFAULT_CONFIG`.
        state: one of `ConnectionStates`.
        in_flight_requests: requests waiting for a response, by correlation id.
        last_attempt: start of the last connection attempt, in seconds since 1970.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = DEFAULT_CONFIG
    SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    SASL_MECHANISMS = ("PLAIN", "GSSAPI", "OAUTHBEARER")

    def __init__(self, host: str, port: int, afi: int = socket.AF_UNSPEC, **configs: Any) -> None:
        """Store the address and the settings, ignoring unknown settings; `connect` opens the connection."""
        self._link: Link | None = None
        self.host, self.port, self.afi = host, port, afi
        self.config = GivenConfigs(with_defaults(self.DEFAULT_CONFIG, configs))
        self.node_id = self.config["node_id"]
        known = {name for name, row in option_table().items() if "admin" in row.clients and name != "api_version"}
        given = {name: value for name, value in configs.items() if name in known & self.config.keys()}
        self._options = parse_admin({"client_id": self.config["client_id"], **given})
        traffic = traffic_in(self.config["metrics"], self.config["metric_group_prefix"], self._options.connection)
        self._traffic = traffic.node(str(self.node_id))
        self.state = ConnectionStates.DISCONNECTED
        self.in_flight_requests: dict[int, InFlightRequest] = {}
        self._reads: dict[int, Translated] = {}
        self._number = 0
        self._failures = 0
        self.last_attempt = 0.0

    # Connecting

    def connect(self) -> str:
        """Start or continue connecting; return the state. Repeat this until `connected`, or use `connect_blocking`."""
        self._notice()
        if self.state == ConnectionStates.DISCONNECTED and not self.blacked_out():
            self.last_attempt = time.time()
            connection, security = self._options.connection, self._options.security
            self._link = Link(self.host, self.port, connection, security, self._traffic)
            self._enter(ConnectionStates.CONNECTING)
        elif self.state == ConnectionStates.CONNECTING and self._link is not None and self._link.is_settled:
            try:
                connection_made = self._link.connection
            except Exception as error:
                self._failures += 1
                self.close(error)
                return self.state
            self._failures = 0
            _log.debug("%s: connected, %d APIs", self, len(connection_made.api_versions.items()))
            self._enter(ConnectionStates.CONNECTED)
        return self.state

    def connect_blocking(self, timeout: float = float("inf")) -> bool:
        """Connect, waiting up to `timeout` seconds; return whether the connection is open."""
        deadline = time.monotonic() + timeout
        if self.connect() == ConnectionStates.CONNECTING and self._link is not None:
            left = deadline - time.monotonic()
            self._link.wait(None if left == float("inf") else max(left, 0))
            self.connect()
        return self.connected()

    def _enter(self, state: str) -> None:
        """Change the state, and pass it to the callback."""
        self.state = state
        self.config["state_change_callback"](self.node_id, None, self)

    def _notice(self) -> None:
        """Check whether the connection was lost."""
        if self.state == ConnectionStates.CONNECTED and self._link is not None and not self._link.is_open:
            self._failures += 1
            self._deliver(0)
            self.close(KafkaConnectionError(f"{self}: the broker closed the connection"))

    def blacked_out(self) -> bool:
        """Return whether it is too early to reconnect."""
        return self.state == ConnectionStates.DISCONNECTED and self.connection_delay() > 0

    def connection_delay(self) -> float:
        """Return the milliseconds until reconnecting is allowed; infinity while connecting or connected."""
        if self.state != ConnectionStates.DISCONNECTED:
            return float("inf")
        pause = self.config["reconnect_backoff_ms"] * 2 ** max(self._failures - 1, 0) if self._failures else 0
        pause = min(pause, max(self.config["reconnect_backoff_max_ms"], self.config["reconnect_backoff_ms"]))
        return float(max(pause - (time.time() - self.last_attempt) * 1000, 0))

    def connected(self) -> bool:
        """Return whether requests can be sent."""
        self._notice()
        return self.state == ConnectionStates.CONNECTED

    def connecting(self) -> bool:
        """Return whether a connection attempt is in progress."""
        return self.state == ConnectionStates.CONNECTING

    initializing = connecting

    def disconnected(self) -> bool:
        """Return whether the connection is neither open nor being opened."""
        self._notice()
        return self.state == ConnectionStates.DISCONNECTED

    def connect_failed(self) -> bool:
        """Return whether the last attempt to connect failed."""
        return self.disconnected() and self._failures > 0

    def throttled(self) -> bool:
        """Return False: the loop itself delays requests to respect quotas (KIP-219)."""
        return False

    def throttle_delay(self) -> float:
        """Return 0; see `throttled`."""
        return 0

    def close(self, error: Any = None) -> None:
        """Close the connection; requests in flight fail with the error, or with a `ConnectionError`."""
        if self.state == ConnectionStates.DISCONNECTED:
            return
        if self._link is not None:
            self._link.abort()
            self._link = None
        waiting, self.in_flight_requests, self._reads = list(self.in_flight_requests.values()), {}, {}
        self._enter(ConnectionStates.DISCONNECTED)
        why = KafkaConnectionError(f"{self} was closed") if error is None else error
        for entry in waiting:
            entry.future.failure(why)

    def __del__(self) -> None:
        if self._link is not None:
            self._link.abort()

    # Requests

    def send(
        self, request: Any, expect_response: bool | None = None, blocking: bool = True, request_timeout_ms: Any = None
    ) -> Future:
        """Send a request; `recv` completes the returned future with the response or an error.

        Args:
            request: an instance of a request class of `kafka.protocol`.
            expect_response: whether the broker answers; None: as the request specifies.
            blocking: ignored; the call never waits.
            request_timeout_ms: maximum time to wait for the response; None: the setting of that name.
        """
        future = Answer()
        if self.connecting():
            return future.failure(NodeNotReadyError(str(self)))
        if not self.connected() or self._link is None:
            return future.failure(KafkaConnectionError(f"{self} is not connected"))
        if not self.can_send_more():
            return future.failure(TooManyInFlightRequests(str(self)))
        try:
            translated = translate(
                request, self._link.connection.api_versions, f"the broker at {format_address(self.host, self.port)}"
            )
        except (KafkaError, ValueError) as error:
            return future.failure(error)
        self._number += 1
        number = self._number
        if request.expect_response() if expect_response is None else expect_response:
            entry = InFlightRequest(request, request.RESPONSE_TYPE, number, future, time.time())
            self.in_flight_requests[number] = entry
            self._reads[number] = translated
        else:
            future.success(None)
        self._link.send(number, translated, request_timeout_ms)
        return future

    def send_pending_requests(self) -> bool:
        """Return True: `send` has already sent all requests."""
        return self.connected()

    send_pending_requests_v2 = send_pending_requests

    def can_send_more(self) -> bool:
        """Return whether fewer than `max_in_flight_requests_per_connection` requests are in flight."""
        return len(self.in_flight_requests) < int(self.config["max_in_flight_requests_per_connection"])

    def recv(self, timeout: float | None = None) -> Any:
        """Receive responses, and complete their futures.

        Args:
            timeout: seconds to wait for one response, as in 1.0; the call returns that response, or None on a timeout.
                Without a timeout, as in 2.x, the call does not wait, and returns a list of pairs of response and
                future.
        """
        received = self._deliver(timeout or 0, None if timeout is None else 1)
        self._notice()
        return received if timeout is None else received.response

    def _deliver(self, timeout: float, most: int | None = None) -> Received:
        """Complete futures, in the order in which their results arrived."""
        received = Received()
        while self._link is not None and self.in_flight_requests and (most is None or len(received) < most):
            try:
                number, response, error = self._link.outcomes.get(
                    timeout=timeout if timeout > 0 else None, block=timeout > 0
                )
            except queue.Empty:
                break
            entry, read = self.in_flight_requests.pop(number, None), self._reads.pop(number, None)
            if entry is None or read is None:
                continue  # its future is already done
            if error is None:
                try:
                    made = read.read(response)
                except (KafkaError, ValueError) as failure:
                    entry.future.failure(failure)
                    continue
                entry.future.success(made)
                received.append((made, entry.future))
            else:
                is_late = isinstance(error, KafkaTimeoutError)
                entry.future.failure(RequestTimedOutError(str(error)) if is_late else error)
        return received

    def requests_timed_out(self) -> bool:
        """Return whether a request has exceeded its timeout."""
        return bool(self.timed_out_ifrs())

    def timed_out_ifrs(self) -> list[InFlightRequest]:
        """Return the requests in flight for longer than `request_timeout_ms`."""
        oldest = time.time() - self.config["request_timeout_ms"] / 1000
        return [entry for entry in self.in_flight_requests.values() if entry.timestamp < oldest]

    def next_ifr_request_timeout_ms(self) -> float:
        """Return the milliseconds until the first request in flight times out."""
        if not self.in_flight_requests:
            return float("inf")
        first = min(entry.timestamp for entry in self.in_flight_requests.values())
        return float(max(first * 1000 + self.config["request_timeout_ms"] - time.time() * 1000, 0))

    # The broker

    def get_api_versions(self) -> dict[int, tuple[int, int]]:
        """Return the broker's lowest and highest version of each API; connect if necessary."""
        if not self.connect_blocking(self.config["request_timeout_ms"] / 1000) or self._link is None:
            raise NodeNotReadyError(str(self))
        return dict(self._link.connection.api_versions.items())

    def check_version(
        self, timeout: float = 2, strict: bool = False, topics: Any = (), **kwargs: Any
    ) -> tuple[int, ...]:
        """Return the broker's release, based on its APIs; connect within `timeout` seconds if necessary.

        Raises:
            NodeNotReadyError: the broker cannot be reached in that time.
        """
        if not self.connect_blocking(timeout) or self._link is None:
            raise NodeNotReadyError(str(self))
        return release_of(self._link.connection.api_versions)

    def __repr__(self) -> str:
        return f"<BrokerConnection node_id={self.node_id} host={self.host} port={self.port} {self.state}>"
