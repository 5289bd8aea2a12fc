"""Columns of a table as the buffers that the encoder reads: what types are taken, and how they are converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from kafka.record.row_encoder import ByteColumn

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise ImportError(f"Arrow needs pyarrow ({error}): pip install 'kafka-columnar[arrow]'") from error

Array: TypeAlias = Any
"""A pyarrow array of any type; what can be done with it depends on the type more than type stubs can say."""


def one_array(rows: pa.Table | pa.RecordBatch, name: str) -> Array:
    """A column as one array."""
    column = rows.column(name)
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def byte_array(rows: pa.Table | pa.RecordBatch, name: str) -> Array:
    """A column of strings or bytes as one array of large_binary, which may pass 2 GiB."""
    column = rows.column(name)
    if not isinstance(column, pa.ChunkedArray):
        return _binary(column, name)
    chunks = [_binary(chunk, name) for chunk in column.chunks] or [_binary(pa.array([], column.type), name)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _binary(column: Array, name: str) -> Array:
    """A column of strings or bytes as large_binary."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    readable = (
        pa.types.is_binary(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )
    if not readable:
        raise TypeError(f"Expected the column {name!r} as string or binary, got {column.type}: serialize it first")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.large_binary())


def number_view(column: Array, code: Literal["i", "q"]) -> memoryview:
    """The numbers of a column without nulls."""
    width = 8 if code == "q" else 4
    if not len(column):
        return memoryview(b"").cast(code)
    data = memoryview(column.buffers()[1]).cast("B")
    return data[column.offset * width : (column.offset + len(column)) * width].cast(code)


def int64_view(column: Array) -> memoryview:
    """The numbers of an int64 column without nulls."""
    return number_view(column.cast(pa.int64()), "q")


def int32_view(rows: memoryview | Sequence[int]) -> memoryview:
    """Row numbers as int32."""
    if isinstance(rows, memoryview) and rows.format == "i":
        return rows
    return number_view(pa.array(rows, pa.int32()), "i")


def byte_parts(column: Array) -> tuple[memoryview, memoryview, memoryview | None, int]:
    """End positions, data, validity and its first bit of a large_binary column."""
    valid, ends, data = column.buffers()
    view = memoryview(data).cast("B") if data is not None else memoryview(b"")
    bits = None if valid is None or not column.null_count else memoryview(valid).cast("B")
    if ends is None or not ends.size:
        return memoryview(bytes(8)).cast("q"), view, bits, column.offset
    positions = memoryview(ends).cast("B")[column.offset * 8 : (column.offset + len(column) + 1) * 8]
    return positions.cast("q"), view, bits, column.offset


def byte_column(column: Array) -> ByteColumn:
    """A large_binary column for the encoder."""
    return ByteColumn(*byte_parts(column))


def timestamp_view(column: Array) -> memoryview:
    """Milliseconds, -1 for null."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False).cast(pa.int64())
    elif not (pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        raise TypeError(f"Expected the column 'timestamp' as timestamp or integer milliseconds, got {column.type}")
    return int64_view(column.cast(pa.int64()).fill_null(-1))


def _pair(headers: Array) -> tuple[Array, Array]:
    """The keys and the values of an array of structs, by their names: users order the fields as they like."""
    return headers.field("key"), headers.field("value")


def header_columns(column: Array) -> tuple[memoryview | None, ByteColumn | None, ByteColumn | None]:
    """Positions of each row's headers, and all their keys and values; None where no row can have any."""
    kind = column.type
    if pa.types.is_null(kind):
        return None, None, None
    if pa.types.is_map(kind):
        keys, values = column.keys, column.items
    elif (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and pa.types.is_struct(kind.value_type):
        pairs = column.values
        if sorted(field.name for field in kind.value_type) != ["key", "value"]:
            raise TypeError(f"Expected headers with the fields key and value, got {kind.value_type}")
        if pairs.null_count:
            raise ValueError(f"Expected headers that are not null, {pairs.null_count} are")
        keys, values = _pair(pairs)
    else:
        raise TypeError(f"Expected the column 'headers' as list<struct<key: string, value: binary>>, got {kind}")
    if column.null_count:
        column = pc.coalesce(column, pa.scalar([], kind))
        keys, values = (column.keys, column.items) if pa.types.is_map(kind) else _pair(column.values)
    return (
        int64_view(column.offsets),
        byte_column(_binary(keys, "headers.key")),
        byte_column(_binary(values, "headers.value")),
    )
