"""Reads and writes schema ids in keys, values and headers, in the formats of Confluent's serializers.

A prefix before the value contains a zero byte, the schema's id and, for Protobuf, the position of the message in its
file. A header contains the same, or the byte 1 and the 16 bytes of a GUID, followed by the position of the message.
Decoders identify schemas by the numbers in prefixes. If headers identify the schemas, `framed_values` adds prefixes to
the values, with a number in place of each GUID.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from kafka.formats.bad_values import PREFIX_SIZE, BadValue, id_at

_HEAD = struct.Struct(">BI")


def prefix_of(schema_id: int | None, indexes: Sequence[int] | None = None) -> bytes:
    """Return the prefix for values: a zero byte, the schema id, and for Protobuf the position of the message.

    Args:
        schema_id: the schema id, or None if there is no registry or a header identifies the schema. The prefix is then
            empty.
        indexes: for Protobuf, the position of the message in its file.
    """
    if schema_id is None:
        return b""
    head = _HEAD.pack(0, schema_id)
    return head if indexes is None else head + index_bytes(indexes)


def prefixed(values: Any, prefix: bytes) -> Any:
    """Add a prefix to each value of a binary array; null stays null."""
    import pyarrow as pa
    import pyarrow.compute

    if not prefix:
        return values
    compute: Any = pyarrow.compute
    return compute.binary_join_element_wise(pa.scalar(prefix, pa.binary()), values, pa.scalar(b"", pa.binary()))


_MAX_INDEXES = 100


class PrefixError(ValueError):
    """Bytes do not begin with a schema id and the position of a message."""


def index_bytes(indexes: Sequence[int]) -> bytes:
    """Encode the position of a message in its file; the position of the first message is a single zero byte."""
    if list(indexes) == [0]:
        return b"\0"
    return b"".join(_varint(each << 1) for each in (len(indexes), *indexes))


def read_indexes(data: bytes | memoryview, at: int) -> tuple[list[int], int]:
    """Read the position of a message; returns the position and the offset of its end. Raises `PrefixError`."""
    size, at = _read(data, at)
    if size == 0:
        return [0], at
    if not 0 < size <= _MAX_INDEXES:
        raise PrefixError(f"expected the position of a message as 1 to {_MAX_INDEXES} numbers, got {size}")
    indexes = []
    for _ in range(size):
        each, at = _read(data, at)
        indexes.append(each)
    return indexes, at


def read_prefix(data: bytes) -> tuple[int, list[int], int]:
    """Read the schema's id and the position of the message; returns both, and the offset of the value."""
    if len(data) < 6 or data[0]:
        found = data[:5].hex(" ") or "no bytes"
        raise PrefixError(f"expected a zero byte, a schema id of 4 bytes and the position of a message, got {found}")
    indexes, at = read_indexes(data, 5)
    return int.from_bytes(data[1:5]), indexes, at


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _read(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """Read a zigzag-encoded number; returns the number and the offset of its end."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 28:
            raise PrefixError("expected the position of a message, as numbers after the schema id")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at


HEADERS = {"key": "__key_schema_id", "value": "__value_schema_id"}
"""The headers that Confluent's `header_schema_id_serializer` writes."""
SchemaName: TypeAlias = "int | str"
"""A schema's id, or its GUID as text."""
_GUID_END = 17
_HIGHEST = 0xFFFFFFFF


class FramedValues:
    """Values that all have a prefix, and the schemas that the prefixes refer to.

    Arguments:
        values: a binary array.
        guids: schema GUIDs by the numbers that replace them in the prefixes.
        causes: by row, the reason why a value became null, if its header does not identify a schema.
    """

    def __init__(self, values: Any, guids: dict[int, str] | None = None, causes: dict[int, str] | None = None) -> None:
        self.values = values
        self.guids = guids or {}
        self._causes = causes or {}

    def name(self, number: int) -> SchemaName:
        """Return the schema for a number in a prefix."""
        return self.guids.get(number, number)

    def finding(self, find: Callable[[Any], Any]) -> Callable[[int], Any]:
        """Adapt `find`, which is called with schema names, to numbers in prefixes."""
        return lambda number: find(self.name(number))

    def bad(self, found: Sequence[BadValue]) -> list[BadValue]:
        """Return all bad values: those that could not be decoded, and those with a bad header."""
        if not self.guids and not self._causes:
            return list(found)
        named = [self._named(each) for each in found]
        return sorted([*named, *(BadValue(row, None, cause) for row, cause in self._causes.items())])

    def _named(self, bad: BadValue) -> BadValue:
        guid = None if bad.schema_id is None else self.guids.get(bad.schema_id)
        return bad if guid is None else BadValue(bad.row, None, f"schema {guid}: {bad.cause}", bad.field)


def framed_values(values: Any, headers: Any, field: str, kind: str) -> FramedValues:
    """Add a prefix to the values whose schema is identified by a header.

    Args:
        values: the keys or values of records, a binary array.
        headers: the records' headers, an array of lists of structs with ``key`` and ``value``; None: there are none.
        field: "key" or "value".
        kind: the schema type: AVRO, JSON or PROTOBUF.
    """
    ids = None if headers is None else _ids_in(headers, field)
    if ids is None:
        return FramedValues(values)
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    values = _in_one(values).cast(pa.binary())
    encoded = ids.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    numbers = _free_numbers([*_heads(pc.filter(values, ids.is_null())), *distinct])
    by_guid: dict[bytes, int] = {}
    prefixes: list[bytes] = []
    why_not: dict[int, str] = {}
    for at, each in enumerate(distinct):
        try:
            prefixes.append(_prefix(each, kind, by_guid, numbers))
        except ValueError as error:
            prefixes.append(b"")
            why_not[at] = f"the header {HEADERS[field]} names no schema: {error}"
    before = pa.array(prefixes, pa.binary()).take(encoded.indices)
    joined = pc.binary_join_element_wise(before, values, pa.scalar(b"", pa.binary()))
    framed = pc.coalesce(joined, values)
    causes: dict[int, str] = {}
    if why_not:
        is_bad = pc.and_(pc.is_in(encoded.indices, pa.array(why_not, encoded.indices.type)), values.is_valid())
        framed = pc.if_else(is_bad, pa.scalar(None, pa.binary()), framed)
        causes = {row: why_not[encoded.indices[row].as_py()] for row in pc.indices_nonzero(is_bad).to_pylist()}
    return FramedValues(framed, {number: str(uuid.UUID(bytes=guid)) for guid, number in by_guid.items()}, causes)


def _ids_in(headers: Any, field: str) -> Any:
    """Return, for each record, the header that identifies the schema, or null; None if no record has such a header."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    headers = _in_one(headers)
    pairs = pc.list_flatten(headers)
    if not len(pairs):
        return None
    is_id = pc.equal(pairs.field("key"), HEADERS[field])
    if not pc.any(is_id).as_py():
        return None
    rows = pc.filter(pc.list_parent_indices(headers), is_id)
    every_row = pc.subtract(pc.cumulative_sum(pa.repeat(pa.scalar(1, rows.type), len(headers))), 1).cast(rows.type)
    first = pc.index_in(every_row, rows)  # only the first such header of a record counts
    return pc.filter(pairs.field("value"), is_id).take(first)


def _prefix(header: bytes, kind: str, by_guid: dict[bytes, int], numbers: Iterator[int]) -> bytes:
    """Return the prefix for values with a header; raises ValueError if the header does not identify a schema."""
    if header[:1] == b"\0" and len(header) >= PREFIX_SIZE:
        made, end = header[:PREFIX_SIZE], PREFIX_SIZE
    elif header[:1] == b"\1" and len(header) >= _GUID_END:
        guid, end = header[1:_GUID_END], _GUID_END
        if guid not in by_guid:
            by_guid[guid] = next(numbers)
        made = prefix_of(by_guid[guid])
    else:
        found = header[:_GUID_END].hex(" ") or "no bytes"
        raise ValueError(f"expected a zero byte and a schema id of 4 bytes, or a byte 1 and a GUID of 16, got {found}")
    if kind != "PROTOBUF":
        return made
    try:
        return made + header[end : read_indexes(header, end)[1]]
    except PrefixError:
        found = header[end:].hex(" ") or "no bytes"
        raise ValueError(f"expected the position of a message after the schema's, got {found}") from None


def _heads(values: Any) -> list[bytes | None]:
    """Return the distinct heads of values, that is, their first bytes."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    heads: list[bytes | None] = pc.unique(pc.binary_slice(values.cast(pa.large_binary()), 0, PREFIX_SIZE)).to_pylist()
    return heads


def ids_before(values: Any) -> list[int]:
    """Return the distinct numbers in the prefixes of values, in order of appearance."""
    return _ids_of(_heads(values))


def _ids_of(heads: Sequence[bytes | None]) -> list[int]:
    return [
        id_at(memoryview(each), 0) for each in heads if each is not None and len(each) >= PREFIX_SIZE and not each[0]
    ]


def _free_numbers(heads: Sequence[bytes | None]) -> Iterator[int]:
    """Yield numbers that do not occur as ids in the prefixes."""
    taken = set(_ids_of(heads))
    return (each for each in range(_HIGHEST, -1, -1) if each not in taken)


def _in_one(array: Any) -> Any:
    import pyarrow as pa

    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
