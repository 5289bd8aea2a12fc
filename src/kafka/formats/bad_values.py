"""Describes values that could not be decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

PREFIX_SIZE = 5
"""Size of Confluent's prefix in bytes: a zero byte and the big-endian schema id."""


_HIGHEST_LIKELY_ID = 1 << 24


class BadValue(NamedTuple):
    """A value that could not be decoded; its row is null."""

    row: int
    schema_id: int | None
    """The id of the value's schema; None if the value has no schema id."""
    cause: str
    """The path of the field, and what was expected and found."""
    field: str | None = None
    """The path of the field, such as ``items[3].price``; None if the value as a whole is invalid."""

    @property
    def text(self) -> str:
        """The cause, preceded by the schema id if there is one."""
        return self.cause if self.schema_id is None else f"schema id {self.schema_id}: {self.cause}"


def error_column(values: Any, bad: Mapping[int, BadValue]) -> Any:
    """Make a struct column with the fields ``cause`` and ``bytes`` that shows why rows could not be decoded.

    Args:
        values: the encoded values, a binary array.
        bad: the values that could not be decoded, by row; all other rows are null.
    """
    import pyarrow as pa

    type_ = pa.struct([("cause", pa.string()), ("bytes", pa.binary())])
    if not bad:
        return pa.nulls(len(values), type_)
    rows: list[dict[str, Any] | None] = [None] * len(values)
    for row, each in bad.items():
        rows[row] = {"cause": each.text, "bytes": values[row].as_py()}
    return pa.array(rows, type_)


def id_at(data: memoryview, at: int) -> int:
    """Return the schema id from the prefix at a position."""
    return int.from_bytes(data[at + 1 : at + PREFIX_SIZE], "big")


def prefix_hint(value: bytes | memoryview) -> str:
    """Return a hint for the error message if a value decoded without a registry seems to begin with a prefix."""
    if len(value) < PREFIX_SIZE or value[0] != 0:
        return ""
    schema_id = int.from_bytes(value[1:PREFIX_SIZE], "big")
    if not 0 < schema_id < _HIGHEST_LIKELY_ID:
        return ""
    return f"; it begins like a value with the schema id {schema_id}, which is read by a schema registry"


def bad_value(data: memoryview, ends: memoryview, row: int, cause: str | None, field: str, framed: bool) -> BadValue:
    """Describe a row that could not be decoded. If `cause` is None, the prefix is missing."""
    if cause is not None and framed:
        return BadValue(row, id_at(data, ends[row]), cause, field or None)
    if cause is not None:
        return BadValue(row, None, cause + prefix_hint(data[ends[row] : ends[row + 1]]), field or None)
    start = bytes(data[ends[row] : min(ends[row + 1], ends[row] + PREFIX_SIZE)])
    return BadValue(
        row, None, f"expected a zero byte and a schema id of 4 bytes first, got {start.hex(' ') or 'no bytes'}"
    )
