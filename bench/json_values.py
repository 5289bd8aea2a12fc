"""JSON values of seven fields to Arrow columns and back, on one core: ours, and what else a program might use.

Part of `python -m bench.decode`. orjson is measured where it is installed.
"""

from __future__ import annotations

import importlib
import io
import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.json

from kafka.formats.json.column_decoder import JsonColumnDecoder
from kafka.formats.json.column_encoder import JsonColumnEncoder

SCHEMA = "year int, month int, day int, carrier string, origin string, dep_delay double, arr_delay int"


def flights(count: int) -> list[dict[str, Any]]:
    """Rows of seven fields, of which one is null now and then."""
    rng = random.Random(1)
    return [
        {
            "year": 2013,
            "month": rng.randrange(1, 13),
            "day": rng.randrange(1, 29),
            "carrier": rng.choice(["UA", "AA", "B6", "DL"]),
            "origin": rng.choice(["EWR", "JFK", "LGA"]),
            "dep_delay": round(rng.gauss(10, 30), 1),
            "arr_delay": None if rng.random() < 0.05 else rng.randrange(-60, 400),
        }
        for _ in range(count)
    ]


def cases(count: int) -> list[tuple[str, Callable[[], object]]]:
    """Return the cases to measure, with their names; each processes `count` rows."""
    rows = flights(count)
    values = [json.dumps(row).encode() for row in rows]
    column = pa.array(values, pa.binary())
    decoder = JsonColumnDecoder(SCHEMA)
    encoder = JsonColumnEncoder(SCHEMA)
    table, bad = decoder.decode(column)
    if bad or table.to_pylist() != rows:
        raise SystemExit(f"JSON: expected the rows that were written, got {bad[:3]}")
    fields: Any = decoder.type
    options = pyarrow.json.ParseOptions(explicit_schema=pa.schema(list(fields)))
    lines = b"\n".join(values)
    made: list[tuple[str, Callable[[], object]]] = [
        ("JSON to columns", lambda: decoder.decode(column)),
        ("JSON to columns, pyarrow.json", lambda: pyarrow.json.read_json(io.BytesIO(lines), parse_options=options)),
        ("JSON to columns, json and pa.array", lambda: pa.array([json.loads(each) for each in values], decoder.type)),
        ("columns to JSON", lambda: encoder.encode(table)),
        ("columns to JSON, to_pylist and json", lambda: [json.dumps(row) for row in table.to_pylist()]),
    ]
    try:
        orjson = importlib.import_module("orjson")
    except ImportError:
        return made
    made += [
        (
            "JSON to columns, orjson and pa.array",
            lambda: pa.array([orjson.loads(each) for each in values], decoder.type),
        ),
        ("JSON to objects alone, orjson", lambda: [orjson.loads(each) for each in values]),
        ("columns to JSON, to_pylist and orjson", lambda: [orjson.dumps(row) for row in table.to_pylist()]),
    ]
    return made
