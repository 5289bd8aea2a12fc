"""What is done with bytes that may be Avro values: decoded as objects and as columns, and encoded again."""

from __future__ import annotations

import json
from pprint import pformat
from random import Random
from typing import Any

import pyarrow as pa

from fuzz import Disagreement
from fuzz.avro_inputs import Schemas, later, named, payload, value
from kafka.formats.avro.column_decoder import AvroColumnDecoder
from kafka.formats.avro.column_encoder import AvroColumnEncoder
from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
from kafka.formats.avro.object_decoder import AvroObjectDecoder, AvroObjectEncoder
from kafka.formats.avro.resolution import AvroResolutionError
from kafka.formats.avro.schema import AvroSchemaError, Schema, parse

PAYLOADS = 50
"""Payloads of each input."""
_NARROWER_OBJECTS = ("date", "timestamp", "uuid")
"""Logical types of which a column has values that Python's have not."""


def avro(rng: Random) -> str:
    """Decode values of a random schema, most of them changed somewhere, with it or with a later version of it."""
    schema = Schemas(rng).schema()
    as_read = schema if rng.random() < 0.6 else later(rng, schema)
    writer, reader = parse(schema), parse(as_read)
    objects = AvroObjectEncoder(writer)
    records = named(schema)
    good = [objects.encode(value(rng, schema, records)) for _ in range(6)]
    payloads = [payload(rng, good) for _ in range(PAYLOADS)]
    try:
        decoder = AvroObjectDecoder(writer, reader)
    except AvroResolutionError as error:
        return str(error)
    said: list[str] = []
    found: list[Any] = []
    for data in payloads:
        try:
            found.append(decoder.decode(data))
            said.append(f"{found[-1]!r} {_again(reader, as_read, found[-1])}")
        except AvroDecodeError as error:
            found.append(error)
            said.append(str(error))
    try:
        columns = AvroColumnDecoder(reader)
    except AvroSchemaError as error:
        return "\n".join([*said, str(error)])
    columns.use(None, writer)
    column, bad = columns.decode(pa.array(payloads, pa.binary()), framed=False)
    column.validate(full=True)
    _compare(as_read, payloads, found, {each.row: each.cause for each in bad})
    return "\n".join([*said, column.to_string(window=PAYLOADS), repr(bad), _column_again(reader, as_read, column)])


def _again(reader: Schema, schema: Any, found: Any) -> str:
    """Encode an object again; decoded it is the same."""
    try:
        data = AvroObjectEncoder(reader).encode(found)
    except AvroEncodeError as error:
        return str(error)
    if not _has_choice(schema) and not _same(AvroObjectDecoder(reader).decode(data), found):
        raise Disagreement(f"{json.dumps(schema)}\n{found!r} is another value after encoding: {data.hex()}")
    return data.hex()


def _same(one: Any, other: Any) -> bool:
    """Whether objects are the same, whatever the order of their fields; NaN is NaN."""
    return repr(one) == repr(other) or pformat(one) == pformat(other)  # which sorts, and is slow for a million items


def _column_again(reader: Schema, schema: Any, column: Any) -> str:
    """Encode a column again; decoded it is the same."""
    data = AvroColumnEncoder(reader).encode(column)
    data.validate(full=True)
    decoder = AvroColumnDecoder(reader)
    decoder.use(None, reader)
    again, bad = decoder.decode(data, framed=False)
    if bad or again.to_string(window=PAYLOADS) != column.to_string(window=PAYLOADS):
        raise Disagreement(f"{json.dumps(schema)}\n{bad}\n{column}\nis another column after encoding:\n{again}")
    return repr(data.to_pylist())


def _compare(schema: Any, payloads: list[bytes], objects: list[Any], bad: dict[int, str]) -> None:
    """Values that are no objects are null, as far as both have the same bounds."""
    text = json.dumps(schema)
    for row, found in enumerate(objects):
        is_bad = isinstance(found, AvroDecodeError)
        if is_bad and row not in bad and not any(name in text for name in _NARROWER_OBJECTS):
            raise Disagreement(f"{text}\n{payloads[row].hex()} is a value of a column, but as an object: {found}")
        if not is_bad and row in bad and '"duration"' not in text:
            raise Disagreement(f"{text}\n{payloads[row].hex()} is {found!r}, but in a column: {bad[row]}")


def _has_choice(schema: Any) -> bool:
    """Whether a union has several branches beside null, of which a value may fit more than one."""
    if isinstance(schema, list):
        return len(schema) > 2 or "null" not in schema or any(map(_has_choice, schema))
    if not isinstance(schema, dict):
        return False
    inner = [field["type"] for field in schema.get("fields", ())]
    return any(map(_has_choice, [*inner, schema.get("items"), schema.get("values")]))
