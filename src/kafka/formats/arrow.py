"""Arrow arrays from the memory of columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka.formats.columns import Column, Taken


def array_of(column: Column, type_: pa.DataType) -> Any:
    """Return a column as an array of its type, without copying, and leave the column empty."""
    return array_of_taken(column.take(), type_)


def array_of_taken(taken: Taken, type_: pa.DataType) -> Any:
    """Return the memory that a column gave as an array of its type."""
    if pa.types.is_null(type_):
        return pa.nulls(taken.rows)
    buffers = [None if each is None else pa.py_buffer(each) for each in taken.buffers]
    children = [array_of_taken(child, each) for child, each in zip(taken.children, _children(type_), strict=True)]
    return pa.Array.from_buffers(type_, taken.rows, buffers, taken.nulls, children=children)


def _children(type_: pa.DataType) -> list[pa.DataType]:
    """Return the types of the columns inside a type."""
    if pa.types.is_map(type_):
        return [pa.struct([type_.key_field, type_.item_field])]
    return [type_.field(at).type for at in range(type_.num_fields)]


def binary_buffers(values: Any) -> tuple[memoryview, memoryview, memoryview, bool]:
    """Return data, int32 end positions and bitmap of an array of binary or string, and whether it has nulls."""
    if values.offset or len(values.buffers()[1] or b"") < 4:
        values = pa.concat_arrays([values, values.slice(0, 0)]) if len(values) else values
    valid, ends, data = values.buffers()
    has_nulls = valid is not None and values.null_count > 0
    return (
        memoryview(data if data is not None else b"").cast("B"),
        memoryview(ends if ends is not None and len(ends) >= 4 else bytes(4)).cast("B").cast("i")[: len(values) + 1],
        memoryview(valid if valid is not None else b"\0").cast("B"),
        has_nulls,
    )
