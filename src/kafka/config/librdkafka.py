"""Converts librdkafka settings, as used by confluent-kafka, to keyword arguments."""

import logging
import math
import socket
from collections.abc import Callable, Mapping
from typing import Any

from kafka.config.java_names import all_java_names, java_names, read_java_names
from kafka.config.librdkafka_table import CONVERTED, IDLE, OWN, REFUSED, RENAMED
from kafka.config.option import nearest
from kafka.config.secrecy import shown, shown_name, shown_number
from kafka.config.table import option_table
from kafka.errors import KafkaConfigurationError

log = logging.getLogger(__name__)

_LONGEST_MS = 2**31 - 1
_TRUTHS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
_RESETS = {"beginning": "earliest", "smallest": "earliest", "end": "latest", "largest": "latest", "error": "none"}


def from_librdkafka_names(settings: Mapping[str, Any], client: str | None = None) -> dict[str, Any]:
    """Convert librdkafka settings, such as the dict of a confluent-kafka client, to keyword arguments.

    ``KafkaProducer(**from_librdkafka_names({"bootstrap.servers": "kafka:9092", "message.timeout.ms": 60_000}))``

    Arguments:
        settings: librdkafka's names and their values, as numbers, booleans or text. Names that librdkafka shares with
            Kafka's Java clients have the same meaning as in Java.
        client: "consumer", "producer", "admin" or "share consumer"; None: accept the names of all of them.

    Only the given settings are converted. Where defaults differ, for example for ``isolation.level``, this package's
    defaults apply; docs/SIDE_BY_SIDE.md has a table. Settings that have no meaning here, or that belong to another
    client, are omitted, and one warning in the log of `kafka.config` lists them. Raises `KafkaConfigurationError` for
    an unknown name; for a setting or a value without an equivalent, suggesting the alternative; and for text that does
    not match the type of its option.
    """
    java, ours, idle = _translated({**settings.get("default.topic.config", {}), **settings}, client)
    configs, others = read_java_names(java, client)
    given = {RENAMED[name]: name for name in settings if name in RENAMED}
    idle += [given.get(name, name) for name in others]
    if idle:
        log.warning("these settings of librdkafka have no effect here: %s", ", ".join(sorted(idle)))
    return configs | ours


def _translated(settings: dict[str, Any], client: str | None) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return Java's properties, keyword arguments, and the settings that have no effect."""
    settings.pop("default.topic.config", None)
    java: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    idle: list[str] = []
    known, booleans = all_java_names(), _booleans()
    for name, value in settings.items():
        if name in RENAMED:
            java[RENAMED[name]] = value
        elif name in REFUSED:
            _refuse_others(name, value)
        elif name in IDLE or (name == "request.timeout.ms" and client not in (None, "producer")):
            idle.append(name)
        elif name not in CONVERTED and name not in known:
            raise KafkaConfigurationError(f"unknown setting {shown_name(name)}{nearest(name, {*OWN, *known})}")
        elif name not in CONVERTED:
            java[name] = _truth(name, value) if name in booleans else value
    for name in CONVERTED:  # last, because some take precedence over renamed settings
        if name in settings and name not in idle:
            made: dict[str, Any] = {}
            _CONVERT[name](name, settings[name], java, made)
            mine = {option: value for option, value in made.items() if _is_for(option, client)}
            ours |= mine
            idle += [] if mine.keys() == made.keys() else [name]
    _set_socket_options(settings, ours)
    return java, ours, idle


def _booleans() -> set[str]:
    """Return the names of boolean settings."""
    return {name for name, row in java_names().items() if "bool" in row.accepts.split(" | ")}


def _is_for(option: str, client: str | None) -> bool:
    return client is None or client in option_table()[option].clients


def _refuse_others(name: str, value: Any) -> None:
    same, instead = REFUSED[name]
    given = str(value).strip().lower()
    if value is not None and str(_TRUTHS.get(given, given)).lower() not in same:
        but = f" but {' or '.join(map(repr, same))}" if same else ""
        raise KafkaConfigurationError(f"setting {name!r} of librdkafka has no equivalent here{but}: {instead}")


Convert = Callable[[str, Any, dict[str, Any], dict[str, Any]], None]
"""Converts a setting and its value, and adds the result to the Java properties or to the keyword arguments."""


def _whole(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise KafkaConfigurationError(
            f"setting {name!r} expects a whole number, not {shown_number(name, value)}"
        ) from None


def _truth(name: str, value: Any) -> bool:
    """Parse a boolean in any of librdkafka's spellings."""
    found = _TRUTHS.get(str(value).strip().lower())
    if found is None:
        raise KafkaConfigurationError(f"setting {name!r} expects true or false, not {shown_number(name, value)}")
    return found


def _timeout(name: str, value: Any, _: dict[str, Any], ours: dict[str, Any]) -> None:
    """Convert a timeout; 0 means no limit."""
    ours["delivery_timeout_ms"] = _whole(name, value) or math.inf


def _idle_time(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    """Convert the idle time; 0 keeps connections open."""
    java[name] = _whole(name, value) or -1


def _commit_interval(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    """Convert the commit interval; 0 means committing only when partitions are revoked and on close."""
    java[name] = _whole(name, value) or _LONGEST_MS


def _kilobytes(name: str, value: Any, _: dict[str, Any], ours: dict[str, Any]) -> None:
    ours["buffer_memory"] = 1024 * _whole(name, value)


def _level(name: str, value: Any, _: dict[str, Any], ours: dict[str, Any]) -> None:
    """Convert the compression level; -1 selects the codec's default."""
    level = _whole(name, value)
    ours["compression_level"] = None if level == -1 else level


def _buffer(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    """Convert a buffer size; 0 selects the operating system's default."""
    if _whole(name, value):
        java[name.removeprefix("socket.")] = _whole(name, value)


def _refresh(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    """Override ``metadata.max.age.ms``, after which librdkafka discards metadata that has not been refreshed."""
    age = _whole(name, value)
    if age < 0:
        raise KafkaConfigurationError(
            f"setting {name!r} of librdkafka has no equivalent here for -1: metadata is always refreshed"
        )
    java["metadata.max.age.ms"] = age


def _partitioner(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    if value == "random":
        java["partitioner.ignore.keys"] = True
    elif value != "murmur2_random":
        raise KafkaConfigurationError(
            f"setting {name!r} of librdkafka has no equivalent here for {shown(name, value)}: 'murmur2_random' is the "
            "default; for another, pass a function as the keyword argument 'partitioner' (docs/SIDE_BY_SIDE.md shows "
            "'consistent_random')"
        )


def _reset(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    java[name] = _RESETS.get(str(value).lower(), value)


def _same(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    java[name] = value


def _request_timeout(_: str, value: Any, java: dict[str, Any], __: dict[str, Any]) -> None:
    """Override ``request.timeout.ms``, which limits how long a broker waits for replicas."""
    java["request.timeout.ms"] = value


def _authorities(name: str, value: Any, java: dict[str, Any], _: dict[str, Any]) -> None:
    """Convert the certificate authorities; "probe" selects those of the operating system."""
    if value != "probe":
        java[name] = value


def _ciphers(_: str, value: Any, __: dict[str, Any], ours: dict[str, Any]) -> None:
    """Pass ciphers in OpenSSL's notation, which Java's property does not accept."""
    ours["ssl_ciphers"] = value


def _assignors(_: str, value: Any, __: dict[str, Any], ours: dict[str, Any]) -> None:
    """Convert assignor names; Java's property contains classes."""
    ours["partition_assignment_strategy"] = [each.strip() for each in str(value).split(",") if each.strip()]


def _elsewhere(*_: Any) -> None:
    """Do nothing: `_set_socket_options` converts these settings."""


def _serde(name: str, value: Any, java: dict[str, Any], ours: dict[str, Any]) -> None:
    """Pass a serializer or deserializer unchanged; clients pass it a context if it accepts one."""
    ours[name.replace(".", "_")] = value


_CONVERT: dict[str, Convert] = {
    "auto.commit.interval.ms": _commit_interval,
    "auto.offset.reset": _reset,
    "compression.level": _level,
    "connections.max.idle.ms": _idle_time,
    "delivery.timeout.ms": _timeout,
    "key.deserializer": _serde,
    "key.serializer": _serde,
    "message.timeout.ms": _timeout,
    "partition.assignment.strategy": _assignors,
    "partitioner": _partitioner,
    "queue.buffering.max.kbytes": _kilobytes,
    "request.timeout.ms": _same,
    "socket.keepalive.enable": _elsewhere,
    "socket.nagle.disable": _elsewhere,
    "socket.receive.buffer.bytes": _buffer,
    "socket.send.buffer.bytes": _buffer,
    "socket.timeout.ms": _request_timeout,
    "ssl.ca.location": _authorities,
    "ssl.cipher.suites": _ciphers,
    "topic.metadata.refresh.interval.ms": _refresh,
    "value.deserializer": _serde,
    "value.serializer": _serde,
}


_SOCKET = {"socket.nagle.disable": True, "socket.keepalive.enable": False}
"""Two settings that are combined into one option, and their defaults."""


def _set_socket_options(settings: Mapping[str, Any], ours: dict[str, Any]) -> None:
    if settings.keys() & _SOCKET.keys():
        no_delay, keep_alive = (_truth(name, settings.get(name, default)) for name, default in _SOCKET.items())
        options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)] if no_delay else []
        ours["socket_options"] = options + ([(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)] if keep_alive else [])
