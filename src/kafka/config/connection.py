"""Options for connections to brokers: addresses, timeouts and metrics."""

import dataclasses
import operator
import socket
from collections.abc import Sequence
from typing import Any

from kafka._addresses import DEFAULT_PORT, AddressError, bare_host, split_address
from kafka.config.option import (
    accepting,
    anything,
    boolean,
    integer,
    invalid,
    no_object,
    option,
    text,
)
from kafka.errors import KafkaConfigurationError
from kafka.version import __version__


def _host_and_port(name: str, entry: object) -> tuple[str, int]:
    if isinstance(entry, tuple | list) and len(entry) == 2:
        host, port = entry
        if isinstance(host, str) and hasattr(type(port), "__index__"):
            return bare_host(host), operator.index(port)
    if not isinstance(entry, str) or not entry.strip():
        raise invalid(name, "'host:port' strings", entry)
    entry = entry.strip()
    _, sign, rest = entry.partition("://")
    address = rest if sign else entry
    if "@" in address:  # may contain a password
        raise KafkaConfigurationError(f"option {name!r} expects 'host:port' without a user; the value is not shown")
    try:
        host, given_port = split_address(address)
    except AddressError as error:
        raise invalid(name, str(error), entry) from None
    return host, DEFAULT_PORT if given_port is None else given_port


def parse_servers(name: str, value: Any) -> tuple[tuple[str, int], ...]:
    """Convert 'host:port,host:port', or a sequence of addresses, to pairs of host and port, ignoring extra commas."""
    entries: Sequence[object] = value
    if isinstance(value, str):
        entries = [each for each in value.split(",") if each.strip()]
    if not isinstance(entries, list | tuple | set | frozenset) or not entries:
        raise invalid(name, "'host:port' or a list of them", value)
    if len(entries) == 2 and isinstance(value, tuple) and hasattr(type(value[1]), "__index__"):
        entries = [value]
    return tuple(_host_and_port(name, entry) for entry in entries)


def parse_api_version(name: str, value: Any) -> tuple[int, ...] | None:
    """Parse a broker version, such as (0, 10, 2) or '0.10.2'; None means that the broker is asked."""
    if value is None or value == "auto":
        return None
    given = value
    if isinstance(value, str):
        value = tuple(int(part) if part.isdigit() else part for part in value.split("."))
    if not isinstance(value, tuple | list) or not value or not all(hasattr(type(part), "__index__") for part in value):
        raise invalid(name, "a broker version such as (2, 8), '2.8' or None", given)
    return tuple(map(operator.index, value))


def parse_reporters(name: str, value: Any) -> tuple[Any, ...]:
    """Check a sequence of metrics reporters: classes or objects with the methods of `AbstractMetricsReporter`."""
    needed = ("init", "metric_change", "metric_removal", "close")
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    for reporter in found:
        if not all(callable(getattr(reporter, method, None)) for method in needed):
            raise no_object(name, "classes or objects with " + ", ".join(f"{each}()" for each in needed), reporter)
    return found


@accepting("int | None")
def parse_buffer_size(name: str, value: Any) -> int | None:
    """Parse a size in bytes; None, or -1 as in Java, leaves the choice to the operating system."""
    if value == -1:
        return None
    parsed: int | None = integer(1, none=True)(name, value)
    return parsed


DEFAULT_CLIENT_ID = f"kafka-python-{__version__}"
"""Same as in kafka-python, so that quotas and dashboards for this client id still apply when a program migrates."""


@dataclasses.dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Options for finding brokers and communicating with them; all clients have these."""

    bootstrap_servers: tuple[tuple[str, int], ...] = option(
        "localhost:9092",
        parse_servers,
        "Bootstrap brokers, as 'host:port' or a list of them.",
        "bootstrap.servers",
        accepts="str | Collection[str] | Sequence[tuple[str, int]] | tuple[str, int]",
        optional=False,  # otherwise a missing setting, passed as None, would connect to brokers on localhost
    )
    client_id: str | None = option(
        DEFAULT_CLIENT_ID, text(none=True), "Name of this client in broker logs and quotas.", "client.id"
    )
    api_version: tuple[int, ...] | None = option(
        None,
        parse_api_version,
        "Version of the brokers; None detects it. Required for brokers older than 0.10.",
        accepts="tuple[int, ...] | str | None",
    )
    request_timeout_ms: int = option(
        30_000, integer(1), "Maximum time to wait for the response to a request.", "request.timeout.ms"
    )
    bootstrap_timeout_ms: int = option(30_000, integer(1), "Maximum time to find the first broker.")
    api_version_auto_timeout_ms: int | None = option(
        None,
        integer(0, none=True),
        "Maximum time to find the first broker if every server refuses connections; None: bootstrap_timeout_ms.",
    )
    socket_connection_setup_timeout_ms: int = option(
        10_000, integer(1), "Maximum time to set up a connection.", "socket.connection.setup.timeout.ms"
    )
    retry_backoff_ms: int = option(100, integer(0), "Initial delay before a retry.", "retry.backoff.ms")
    retry_backoff_max_ms: int = option(1_000, integer(0), "Maximum delay between retries.", "retry.backoff.max.ms")
    reconnect_backoff_ms: int = option(
        50, integer(0), "Initial delay before reconnecting to a broker.", "reconnect.backoff.ms"
    )
    reconnect_backoff_max_ms: int = option(
        30_000, integer(0), "Maximum delay before reconnecting to a broker.", "reconnect.backoff.max.ms"
    )
    max_in_flight_requests_per_connection: int = option(
        5,
        integer(1),
        "Maximum number of unanswered requests per connection.",
        "max.in.flight.requests.per.connection",
    )
    connections_max_idle_ms: int = option(
        540_000, integer(-1), "Idle time after which a connection is closed.", "connections.max.idle.ms"
    )
    metadata_max_age_ms: int = option(
        300_000, integer(0), "Maximum age of metadata before it is refreshed.", "metadata.max.age.ms"
    )
    allow_auto_create_topics: bool = option(
        True,
        boolean,
        "Whether subscribing or sending to a topic may create it on the broker.",
        "allow.auto.create.topics",
    )
    receive_message_max_bytes: int = option(
        100_000_000, integer(1024), "Maximum size of a response.", "receive.message.max.bytes"
    )
    receive_buffer_bytes: int | None = option(
        None,
        parse_buffer_size,
        "Socket receive buffer (SO_RCVBUF); None or -1: the operating system's default.",
        "receive.buffer.bytes",
    )
    send_buffer_bytes: int | None = option(
        None,
        parse_buffer_size,
        "Socket send buffer (SO_SNDBUF); None or -1: the operating system's default.",
        "send.buffer.bytes",
    )
    socket_options: tuple[tuple[int, int, int], ...] = option(
        [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        lambda _, value: tuple(tuple(each) for each in value),
        "Arguments for setsockopt() on each socket.",
        accepts="Sequence[tuple[int, int, int]]",
    )
    metrics_enabled: bool = option(True, boolean, "Whether metrics() and metric reporters receive values.")
    metric_reporters: tuple[Any, ...] = option(
        [],
        parse_reporters,
        "Classes or objects that are notified of each metric; see AbstractMetricsReporter.",
        "metric.reporters",
        accepts="Sequence[Any]",
    )
    metrics_num_samples: int = option(
        2, integer(1), "Number of time windows that metrics are computed from.", "metrics.num.samples"
    )
    metrics_sample_window_ms: int = option(
        30_000, integer(1), "Length of a metrics time window.", "metrics.sample.window.ms"
    )
    enable_metrics_push: bool = option(
        True, boolean, "Whether to push metrics to brokers that subscribe to them (KIP-714).", "enable.metrics.push"
    )
    selector: Any = option(None, anything, "", inert=True)
    kafka_client: Any = option(None, anything, "", inert=True)
    sock_chunk_bytes: int = option(4_096, anything, "", inert=True)
    sock_chunk_buffer_count: int = option(1_000, anything, "", inert=True)
    bootstrap_topics_filter: Any = option((), anything, "", inert=True)
    client_dns_lookup: str = option("use_all_dns_ips", anything, "", inert=True)
