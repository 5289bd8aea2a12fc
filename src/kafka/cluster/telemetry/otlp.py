"""Encodes metrics in the OpenTelemetry protocol (OTLP 1): gauges and sums, as Protocol Buffers.

Contains only the parts that a client sends. A message consists of its fields in sequence: a varint of the field number
and wire type, then the value. https://github.com/open-telemetry/opentelemetry-proto defines the numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_DELTA, _CUMULATIVE = 1, 2
_FIXED: Final = struct.Struct("<Q")
_DOUBLE: Final = struct.Struct("<d")
_LENGTHS_AND_TAGS = 24
"""Upper bound for the bytes of tags and lengths of a metric and its containers, besides its name and points."""


class Measured(NamedTuple):
    """A metric's value.

    Arguments:
        name: the name with dots, such as "org.apache.kafka.producer.record.send.total".
        attributes: the subject of the metric, such as a topic or a node.
        value: a finite number.
        is_sum: whether the metric is a sum that only grows; otherwise it is a gauge.
        since_ns: time from which a sum counts, in nanoseconds since 1970.
    """

    name: str
    attributes: Mapping[str, str]
    value: float
    is_sum: bool = False
    since_ns: int = 0


class Encoded(NamedTuple):
    """Encoded metrics.

    Arguments:
        data: a ``MetricsData`` message; empty if there are no metrics.
        taken: number of metrics in the message, counted from the first.
    """

    data: bytes
    taken: int


def encode(
    metrics: Sequence[Measured], resource: Mapping[str, str], now_ns: int, delta: bool, max_bytes: int
) -> Encoded:
    """Encode the metrics that fit, with all values of the same name grouped.

    Arguments:
        resource: the labels for the client as a whole.
        now_ns: time at which the values were collected, in nanoseconds since 1970.
        delta: whether sums are deltas since the last push.
        max_bytes: maximum size of the result.
    """
    about = _message(1, _attributes(1, resource))
    size = len(about) + _LENGTHS_AND_TAGS
    by_name: dict[tuple[str, bool], list[bytes]] = {}
    taken = 0
    for each in metrics:
        point = _message(1, _point(each, now_ns))
        key = each.name, each.is_sum
        size += len(point) + (0 if key in by_name else len(each.name.encode()) + _LENGTHS_AND_TAGS)
        if size > max_bytes:
            break
        by_name.setdefault(key, []).append(point)
        taken += 1
    if not taken:
        return Encoded(b"", 0)
    scope = b"".join(
        _message(2, _metric(name, is_sum, b"".join(points), delta)) for (name, is_sum), points in by_name.items()
    )
    return Encoded(_message(1, about + _message(2, scope)), taken)


def _metric(name: str, is_sum: bool, points: bytes, delta: bool) -> bytes:
    named = _message(1, name.encode())
    if not is_sum:
        return named + _message(5, points)
    temporality = _DELTA if delta else _CUMULATIVE
    return named + _message(7, points + _number(2, temporality) + _number(3, 1))


def _point(measured: Measured, now_ns: int) -> bytes:
    since = _tag(2, _FIXED64) + _FIXED.pack(measured.since_ns) if measured.is_sum else b""
    return b"".join(
        (
            since,
            _tag(3, _FIXED64),
            _FIXED.pack(now_ns),
            _tag(4, _FIXED64),
            _DOUBLE.pack(measured.value),
            _attributes(7, measured.attributes),
        )
    )


def _attributes(number: int, attributes: Mapping[str, str]) -> bytes:
    return b"".join(
        _message(number, _message(1, name.encode()) + _message(2, _message(1, value.encode(errors="replace"))))
        for name, value in attributes.items()
    )


def _message(number: int, content: bytes) -> bytes:
    """Encode a field that contains a message, text or bytes."""
    return _tag(number, _BYTES) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _varint(value)


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
