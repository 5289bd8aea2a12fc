"""Record batches to test with: 74 made by Apache Kafka's own code, and ours."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kafka.record import BatchBuilder, Columns, Compression

DATA = Path(__file__).parents[2] / "data" / "batches.jsonl.xz"

Record = tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]
"""Offset, timestamp, key, value, headers."""


class Sample(NamedTuple):
    """A batch or message set of Apache Kafka, and what a consumer must see of it."""

    name: str
    data: bytes
    facts: dict[str, Any]
    records: list[Record]


@cache
def kafka_batches() -> list[Sample]:
    """All samples; `batches.jsonl.xz` has one a line."""
    with lzma.open(DATA, "rt") as lines:
        return [_sample(number, json.loads(line)) for number, line in enumerate(lines)]


def _sample(number: int, line: dict[str, Any]) -> Sample:
    records = [
        (
            record["offset"],
            record["timestamp"],
            _bytes(record["key"]),
            _bytes(record["value"]),
            [(key, _bytes(value)) for key, value in record["headers"]],
        )
        for record in line["records"]
    ]
    return Sample(f"{number}-magic{line['magic']}-{line['codec']}", bytes.fromhex(line["hex"]), line, records)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def rows(columns: Columns) -> list[Record]:
    """What columns hold, read through records."""
    return [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in columns.to_records()]


def batch(
    *values: bytes | None,
    base_offset: int = 0,
    producer_id: int = -1,
    transactional: bool = False,
    compression: Compression = Compression.NONE,
    magic: int = 2,
    timestamp_ms: int = 1_700_000_000_000,
) -> bytes:
    """A batch of records that have only values, one millisecond apart."""
    builder = BatchBuilder(magic, compression)
    for index, value in enumerate(values):
        builder.append(timestamp_ms + index, None, value)
    return builder.build(base_offset=base_offset, producer_id=producer_id, transactional=transactional)


def control_batch(base_offset: int, producer_id: int, commit: bool) -> bytes:
    """The marker that ends a transaction."""
    builder = BatchBuilder()
    builder.append(1_700_000_000_000, b"\x00\x00\x00" + bytes((commit,)), bytes(6))
    return with_attributes(builder.build(base_offset=base_offset, producer_id=producer_id, transactional=True), 0x30)


def with_attributes(data: bytes, attributes: int) -> bytes:
    """A batch of magic 2 with other attributes and the right checksum."""
    from crc32c import crc32c

    changed = bytearray(data)
    changed[21:23] = attributes.to_bytes(2, "big")
    changed[17:21] = crc32c(bytes(changed[21:])).to_bytes(4, "big")
    return bytes(changed)
