"""kafka-python's import path of connections to brokers."""

from ssl import SSLEOFError, SSLWantReadError, SSLWantWriteError, SSLZeroReturnError
from typing import Any

from kafka import _old_names
from kafka.legacy.connection.broker_connection import BrokerConnection
from kafka.legacy.connection.hosts import (
    AFI_NAMES,
    DEFAULT_KAFKA_PORT,
    SASL_QOP_AUTH,
    SASL_QOP_AUTH_CONF,
    SASL_QOP_AUTH_INT,
    collect_hosts,
    dns_lookup,
    get_ip_port_afi,
    is_inet_4_or_6,
)
from kafka.legacy.connection.socket_connection import DEFAULT_SOCKET_TIMEOUT_SECONDS, KafkaConnection
from kafka.legacy.connection.states import ConnectionStates, InFlightRequest

ssl_available = True

__all__ = [
    "AFI_NAMES",
    "DEFAULT_KAFKA_PORT",
    "DEFAULT_SOCKET_TIMEOUT_SECONDS",
    "BrokerConnection",
    "ConnectionStates",
    "SASL_QOP_AUTH",
    "SASL_QOP_AUTH_CONF",
    "SASL_QOP_AUTH_INT",
    "InFlightRequest",
    "KafkaConnection",
    "SSLEOFError",
    "SSLWantReadError",
    "SSLWantWriteError",
    "SSLZeroReturnError",
    "collect_hosts",
    "dns_lookup",
    "get_ip_port_afi",
    "is_inet_4_or_6",
    "ssl_available",
]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
