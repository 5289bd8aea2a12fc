"""The records of the pipeline trial, some of which are bad in known ways, and the pipeline that reads them.

A record has a number, which is also in its header `n`. The number determines the partition, the offset and the content,
so that the trial knows what must become of each position. To plant another kind of bad record: `Kind` and `_bad_value`.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import random

import pyarrow as pa

from harness.topics import create_topic
from kafka import KafkaProducer

PARTITIONS = 8
_TOGETHER = 40_000


class Kind(enum.IntEnum):
    """What is wrong with a bad record."""

    NOT_JSON = 0
    WRONG_TYPE = 1
    NULL_DOCUMENT = 2
    EMPTY = 3
    MISSING_FIELD = 4
    OUT_OF_RANGE = 5
    UNKNOWN_CODE = 6
    FAILING_EXPRESSION = 7
    TOO_FAR_AHEAD = 8
    TOMBSTONE = 9


RULES = {
    Kind.NOT_JSON: "decodes",
    Kind.WRONG_TYPE: "decodes",
    Kind.EMPTY: "required fields are present",
    Kind.MISSING_FIELD: "required fields are present",
    Kind.OUT_OF_RANGE: "amount is plausible",
    Kind.UNKNOWN_CODE: "code is known",
    Kind.FAILING_EXPRESSION: "parts divide the total",
    Kind.TOO_FAR_AHEAD: "times are within bounds",
}
"""A rule that each bad record fails; of the other kinds, any."""


@dataclasses.dataclass(frozen=True)
class Records:
    """The records with some numbers.

    Arguments:
        first, end: the numbers; `end` is exclusive. Both are multiples of `PARTITIONS`.
        kinds: the kind of each bad record, by its number: 1 % of the records.
    """

    first: int
    end: int
    kinds: dict[int, Kind]

    def dropped(self) -> set[int]:
        """Return the numbers of the records that a rule drops."""
        return {number for number in range(self.first, self.end) if _is_large(number) and number not in self.kinds}


def plant(first: int, count: int, seed: int) -> Records:
    """Choose the bad ones of some records: 1 %, of each kind the same number."""
    assert first % PARTITIONS == count % PARTITIONS == 0, "each partition continues where it ended"
    dice = random.Random(seed)
    chosen = sorted(dice.sample(range(first, first + count), count // 100))
    return Records(first, first + count, {number: Kind(index % len(Kind)) for index, number in enumerate(chosen)})


def _is_large(number: int) -> bool:
    return number % 500 == 7


def _value(number: int, kind: Kind | None) -> bytes | None:
    value: dict[str, object] = {
        "id": number,
        "code": "ABC"[number % 3],
        "amount": number % 1_000,
        "total": 5_000 if _is_large(number) else number % 999,
        "parts": 1 + number % 4,
        "made": "2026-11-01 12:00:00",
    }
    return json.dumps(value).encode() if kind is None else _bad_value(number, kind, value)


def _bad_value(number: int, kind: Kind, value: dict[str, object]) -> bytes | None:
    value["total"] = 1
    changes: dict[Kind, dict[str, object]] = {
        Kind.WRONG_TYPE: {"total": 7.5},
        Kind.MISSING_FIELD: {"code": None},
        Kind.OUT_OF_RANGE: {"amount": 5_000},
        Kind.UNKNOWN_CODE: {"code": "Z"},
        Kind.FAILING_EXPRESSION: {"parts": 0},
        Kind.TOO_FAR_AHEAD: {"made": "2999-01-01 00:00:00"},
    }
    if kind in changes:
        # Spaces, and a field that the schema does not have: only the original bytes contain them.
        return json.dumps({**value, **changes[kind], "more": number}, indent=2).encode()
    return {
        Kind.NOT_JSON: b"\x00\xff broken %d" % number,
        Kind.NULL_DOCUMENT: b"null",
        Kind.EMPTY: b"{}",
        Kind.TOMBSTONE: None,
    }[kind]


def _headers(number: int, kind: Kind | None) -> list[dict[str, object]]:
    own: list[dict[str, object]] = [{"key": "n", "value": b"%d" % number}]
    if kind is None:
        return own
    return [
        *own,
        {"key": "trace", "value": b"\x00\xfe\xff%d" % number},
        {"key": "trace", "value": b""},
        {"key": "nothing", "value": None},
    ]


def _key(number: int, kind: Kind | None) -> bytes | None:
    if kind is None:
        return b"key %d" % number
    return (None, b"", b"\xff\x00 key %d" % number)[number % 3]


def produce(servers: str, topic: str, records: Records) -> None:
    """Write records, so that number n has the offset n // `PARTITIONS` in the partition n % `PARTITIONS`."""
    create_topic(servers, topic, PARTITIONS)
    headers_type = pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()}))
    with KafkaProducer(bootstrap_servers=servers, compression_type="lz4", linger_ms=20) as producer:
        for first in range(records.first, records.end, _TOGETHER):
            numbers = range(first, min(first + _TOGETHER, records.end))
            kinds = [records.kinds.get(number) for number in numbers]
            together = [*zip(numbers, kinds, strict=True)]
            columns = {
                "partition": pa.array([number % PARTITIONS for number in numbers], pa.int32()),
                "key": pa.array([_key(*each) for each in together], pa.binary()),
                "value": pa.array([_value(*each) for each in together], pa.binary()),
                "headers": pa.array([_headers(*each) for each in together], headers_type),
            }
            producer.send_arrow(topic, pa.table(columns)).get(600)


@dataclasses.dataclass(frozen=True)
class Version:
    """A version of the pipeline; each has another fault corrected.

    Arguments:
        largest: of the amounts that are plausible.
        codes: that are known.
        total: the type of the field `total`.
    """

    largest: int = 1_000
    codes: str = "ABC"
    total: str = "int"

    @property
    def accepts(self) -> set[Kind]:
        """The kinds of bad records that are good in this version."""
        found = {
            Kind.OUT_OF_RANGE: self.largest >= 5_000,
            Kind.UNKNOWN_CODE: "Z" in self.codes,
            Kind.WRONG_TYPE: self.total == "double",
        }
        return {kind for kind, is_good in found.items() if is_good}


def declaration(
    name: str, servers: str, checkpoint: str, topics: tuple[str, str, str], batch: int, version: Version
) -> str:
    """Return the pipeline as YAML.

    Arguments:
        name: of the pipeline.
        servers: the brokers.
        checkpoint: the pipeline's directory.
        topics: of the source, the sink and the dead letters.
        batch: most offsets of a micro-batch.
        version: of the rules and the schema.
    """
    source, sink, dead = topics
    codes = ", ".join(f"'{code}'" for code in version.codes)
    return f"""
pipeline: {name}
kafka: {{bootstrap.servers: "{servers}"}}
checkpoint: {checkpoint}
source:
  topic: {source}
  value:
    format: json
    schema: "id bigint, code string, amount double, total {version.total}, parts int, made string"
  required: [id, code]
  times: [made]
  max_offsets_per_trigger: {batch}
rules:
  - {{name: amount is plausible, holds: amount between 0 and {version.largest}}}
  - {{name: code is known, holds: "code in ({codes})"}}
  - {{name: parts divide the total, holds: total / parts >= 0}}
  - {{name: total is not large, holds: total < 1000, otherwise: drop}}
  - {{name: id is a multiple of three, holds: id % 3 = 0, otherwise: keep}}
  - {{name: id is not negative, holds: id >= 0, keep_null: true, otherwise: fail}}
query: select id, code, amount from source
sink: {{topic: {sink}, key: id}}
dead_letters: {{topic: {dead}}}
"""
