"""Values of all types, for tests of the functions of `kafka.spark.functions` with each PySpark."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from typing import Any

from kafka.formats import Avro, Protobuf

_INNER = {
    "type": "record",
    "name": "Inner",
    "fields": [{"name": "counts", "type": {"type": "map", "values": ["null", "long"]}}],
}
_MIDDLE = {
    "type": "record",
    "name": "Middle",
    "fields": [{"name": "inners", "type": {"type": "array", "items": ["null", _INNER]}}],
}
_AVRO_TYPES: dict[str, Any] = {
    "yes": "boolean",
    "small": "int",
    "big": "long",
    "ratio": "float",
    "exact": "double",
    "raw": "bytes",
    "four": {"type": "fixed", "name": "Four", "size": 4},
    "text": "string",
    "suit": {"type": "enum", "name": "Suit", "symbols": ["HEARTS", "SPADES"]},
    "middle": _MIDDLE,
    "mixed": ["null", "int", "string"],
    "day": {"type": "int", "logicalType": "date"},
    "clock_ms": {"type": "int", "logicalType": "time-millis"},
    "clock_us": {"type": "long", "logicalType": "time-micros"},
    "at_ms": {"type": "long", "logicalType": "timestamp-millis"},
    "at_us": {"type": "long", "logicalType": "timestamp-micros"},
    "at_ns": {"type": "long", "logicalType": "timestamp-nanos"},
    "local_ms": {"type": "long", "logicalType": "local-timestamp-millis"},
    "local_us": {"type": "long", "logicalType": "local-timestamp-micros"},
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 18},
    "fee": {"type": "fixed", "name": "Fee", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
    "id": {"type": "string", "logicalType": "uuid"},
    "nothing": "null",
}
AVRO = json.dumps(
    {
        "type": "record",
        "name": "All",
        "fields": [
            {"name": name, "type": each if isinstance(each, list) or each == "null" else ["null", each]}
            for name, each in _AVRO_TYPES.items()
        ],
    }
)
PROTOBUF = """syntax = "proto3";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message All {
  int64 big = 1;
  uint32 count = 2;
  uint64 huge = 3;
  float ratio = 4;
  double exact = 5;
  bool yes = 6;
  optional string text = 7;
  bytes raw = 8;
  Suit suit = 9;
  Middle middle = 10;
  map<int32, string> names = 11;
  map<bool, int64> flags = 12;
  google.protobuf.Timestamp at = 13;
  google.protobuf.Duration took = 14;
  google.protobuf.Int64Value boxed = 15;
  oneof choice { int32 left = 16; string right = 17; }
}
message Middle { repeated Inner inners = 1; }
message Inner { map<string, int64> counts = 1; optional double ratio = 2; }
enum Suit { HEARTS = 0; SPADES = 1; }
"""
JSON = (
    "yes boolean, tiny tinyint, small smallint, number int, big bigint, ratio float, exact double, text string, "
    "raw binary, day date, at timestamp, local timestamp_ntz, price decimal(38,18), nothing void, `a:b c,d` int, "
    "middle struct<inners: array<struct<counts: map<string, bigint>>>>"
)
ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"item","type":"string"}]}'
WIDER = ORDER.replace("]}", ',{"name":"note","type":["null","string"],"default":null}]}')

_TWICE_IN_BERLIN = datetime.datetime(2015, 10, 25, 0, 30, 0, 123456, datetime.UTC)
_LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
_BIG = 9_007_199_254_740_993


def avro_values(schema: str = AVRO) -> list[bytes]:
    """Values of `AVRO`: full, at the ends of their ranges, and all null."""
    full = {
        "yes": True,
        "small": -(2**31),
        "big": _BIG,
        "ratio": 0.1,
        "exact": 0.1,
        "raw": b"\x00\xff",
        "four": b"\x00abc",
        "text": 'ä "\\\n\u2028',
        "suit": "SPADES",
        "middle": {"inners": [None, {"counts": {"a": _BIG, "b": None}}, {"counts": {}}]},
        "mixed": 7,
        "day": datetime.date(1969, 12, 31),
        "clock_ms": datetime.time(23, 59, 59, 999000),
        "clock_us": datetime.time(23, 59, 59, 999999),
        "at_ms": _TWICE_IN_BERLIN.replace(microsecond=123000),
        "at_us": _TWICE_IN_BERLIN,
        "at_ns": 1_445_733_000_123_456_000,
        "local_ms": datetime.datetime(2015, 3, 29, 2, 30),
        "local_us": datetime.datetime(2015, 3, 29, 2, 30, 0, 1),
        "price": decimal.Decimal("12345678901234567890.000000000000000001"),
        "fee": decimal.Decimal("-0.01"),
        "id": uuid.UUID(int=7),
    }
    ends = {
        "big": -(2**63),
        "ratio": float("inf"),
        "exact": float("nan"),
        "text": "",
        "raw": b"",
        "middle": {"inners": []},
        "mixed": "seven",
        "day": datetime.date(9999, 12, 31),
        "at_us": _LAST.replace(tzinfo=datetime.UTC),
        "local_us": datetime.datetime(1, 1, 1),
        "price": decimal.Decimal(0),
    }
    return [Avro(schema).encode({**dict.fromkeys(_AVRO_TYPES), **each}) for each in (full, ends, {})]


def protobuf_values() -> list[bytes]:
    """Values of `PROTOBUF`: full, with the other field of the oneof, and empty."""
    full = {
        "big": _BIG,
        "count": 2**32 - 1,
        "huge": 2**64 - 1,
        "ratio": 0.1,
        "exact": 0.1,
        "yes": True,
        "text": "",
        "raw": b"\x00\xff",
        "suit": "SPADES",
        "middle": {"inners": [{"counts": {"a": _BIG}, "ratio": 0.0}, {}]},
        "names": {-7: "seven"},
        "flags": {True: _BIG},
        "at": _TWICE_IN_BERLIN,
        "took": datetime.timedelta(days=-1, microseconds=1),
        "boxed": {"value": 0},
        "left": 0,
    }
    other = {"middle": {}, "took": datetime.timedelta(hours=25, microseconds=1), "right": "r", "at": _LAST}
    other["at"] = _LAST.replace(tzinfo=datetime.UTC)
    return [Protobuf(PROTOBUF).encode(each) for each in (full, other, {})]


def json_values() -> list[bytes]:
    """Values of `JSON`."""
    full = {
        "yes": True,
        "tiny": -128,
        "small": 32767,
        "number": -1,
        "big": _BIG,
        "ratio": 0.1,
        "exact": 0.1,
        "text": 'ä "\\\n\u2028',
        "raw": "AP8=",
        "day": "1969-12-31",
        "at": "2015-10-25T00:30:00.123456Z",
        "local": "2015-03-29T02:30:00.000001",
        "price": 1,
        "a:b c,d": 7,
        "middle": {"inners": [None, {"counts": {"a": _BIG, "b": None}}, {"counts": {}}, {}]},
    }
    ends = {"at": "9999-12-31T23:59:59.999999Z", "local": "0001-01-01T00:00:00", "day": "9999-12-31", "exact": 1e300}
    return [json.dumps(each).encode() for each in (full, ends, {})]
