"""What a `BrokerConnection` is about, what it waits for, and its settings."""

from __future__ import annotations

import selectors
import socket
from typing import Any, NamedTuple

from kafka.legacy.future import Future
from kafka.version import __version__


class ConnectionStates:
    """The states of a connection. Setting up has one state here; the others are there to be compared with."""

    DISCONNECTED = "<disconnected>"
    DISCONNECTING = "<disconnecting>"
    CONNECTING = "<connecting>"
    HANDSHAKE = "<handshake>"
    CONNECTED = "<connected>"
    AUTHENTICATING = "<authenticating>"
    API_VERSIONS_SEND = "<checking_api_versions_send>"
    API_VERSIONS_RECV = "<checking_api_versions_recv>"


class InFlightRequest(NamedTuple):
    """A request that waits for its response."""

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
