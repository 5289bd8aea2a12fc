"""Converts columns to Arrow batches without per-row Python objects. The only reader module that imports pyarrow.

Avoids parts of pyarrow that take 40 MB of memory on first use: pyarrow.compute is loaded only for missing timestamps,
and for headers in Spark's schema; `pyarrow.scalar` and `pyarrow.array`, which import pandas if it is installed, are
called only for headers that are not text.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from kafka.record.column_memory import BinaryColumn, ColumnBuffers, HeaderColumns
from kafka.record.timestamp_columns import LAST_MS, any_missing, first_outside, microseconds

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError(f"Arrow needs pyarrow ({error}): pip install 'kafka-columnar[arrow]'") from error

_INT32 = struct.Struct("=i")
_INT32_PAIR = struct.Struct("=ii")

Array: TypeAlias = Any
"""A pyarrow array of any type; its operations depend on the type more than type stubs can express."""


class Columns(Protocol):
    """The part of the interface of `kafka.record.columns.Columns` used here; `columns` imports this module."""

    @property
    def topic(self) -> str:
        """The topic's name."""

    @property
    def partition(self) -> int:
        """The partition's number."""

    @property
    def offsets(self) -> memoryview:
        """The offsets, int64."""

    @property
    def timestamps(self) -> memoryview:
        """Milliseconds since the epoch, int64."""

    @property
    def buffers(self) -> tuple[ColumnBuffers, int, int]:
        """The memory behind the columns, the first row, and one past the last row."""

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Return the runs of rows with the same batch properties: `(start, stop, leader_epoch, timestamp_type)`."""

    def __len__(self) -> int: ...


HEADERS_TYPE: Any = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))

SCHEMAS = {
    "kafka": pa.schema(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("ms", tz="UTC")),
            ("timestamp_type", pa.int32()),
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("headers", HEADERS_TYPE),
        ]
    ),
    "spark": pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("timestampType", pa.int32()),
            ("headers", HEADERS_TYPE),
        ]
    ),
}
"""The columns in each schema. For "spark", these are the columns of Spark's Kafka source; headers are optional."""

_DEFAULT_COLUMNS = {"kafka": SCHEMAS["kafka"].names, "spark": SCHEMAS["spark"].names[:-1]}


def arrow_schema(columns: Sequence[str] | None = None, schema: str = "kafka") -> pa.Schema:
    """Return the schema of the batches that `Columns.to_arrow` returns for the same arguments.

    Args:
        columns: names of the columns to include, in order; None for all.
        schema: "kafka", or another schema that `Columns.to_arrow` supports.

    Raises:
        ValueError: the schema or a column does not exist.
    """
    if schema not in SCHEMAS:
        raise ValueError(f"Expected the schema as one of {', '.join(SCHEMAS)}, got {schema!r}")
    names = _DEFAULT_COLUMNS[schema] if columns is None else columns
    unknown = [name for name in names if name not in SCHEMAS[schema].names]
    if unknown:
        known = ", ".join(SCHEMAS[schema].names)
        raise ValueError(f"Expected columns of the schema {schema!r} ({known}), got {', '.join(map(repr, unknown))}")
    return pa.schema([SCHEMAS[schema].field(name) for name in names])


def to_arrow(columns: Columns, names: Sequence[str] | None, schema: str) -> pa.RecordBatch:
    """Convert columns to an Arrow batch; see `Columns.to_arrow`."""
    wanted, makers = _plan(None if names is None else tuple(names), schema)
    return pa.RecordBatch.from_arrays([make(columns) for make in makers], schema=wanted)


@functools.lru_cache(maxsize=64)
def _plan(names: tuple[str, ...] | None, schema: str) -> tuple[pa.Schema, list[Callable[[Columns], Array]]]:
    """Return the schema of a batch and the functions that convert each column.

    The result is cached, because creating it would take a third of the time with many small batches.
    """
    wanted = arrow_schema(names, schema)
    makers = _SPARK_MAKERS if schema == "spark" else _KAFKA_MAKERS
    return wanted, [makers[name] for name in wanted.names]


def concat_arrow(batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Concatenate batches with the same schema into a single batch, by copying.

    Args:
        batches: at least one batch.

    Raises:
        ValueError: there is no batch, the schemas differ (pyarrow.ArrowInvalid), or a column would exceed 2 GiB.
    """
    given = list(batches)
    if not given:
        raise ValueError("Expected at least one Arrow batch, got none")
    if len(given) == 1:
        return given[0]
    joined = pa.Table.from_batches(given).combine_chunks().to_batches()
    if not joined:
        return given[0]
    if len(joined) > 1:
        raise ValueError("Expected Arrow batches with less than 2 GiB in each column: use them one by one")
    return joined[0]


def _topic(columns: Columns) -> Array:
    name = columns.topic.encode()
    ends = pa.py_buffer(_INT32_PAIR.pack(0, len(name)))
    one: Array = pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(name)])
    return pa.repeat(one[0], len(columns))


def _partition(columns: Columns) -> Array:
    return _repeated(columns.partition, len(columns))


def _repeated(number: int, count: int) -> Array:
    """Return a column that repeats one int32. Avoids `pyarrow.scalar`, which imports pandas if it is installed."""
    one: Array = pa.Array.from_buffers(pa.int32(), 1, [None, pa.py_buffer(_INT32.pack(number))])
    return pa.repeat(one[0], count)


def _numbers(kind: pa.DataType, view: memoryview) -> Array:
    """Return a column without nulls over existing memory."""
    return pa.Array.from_buffers(kind, len(view), [None, pa.py_buffer(view)], 0)


def _offset(columns: Columns) -> Array:
    return _numbers(pa.int64(), columns.offsets)


def _timestamp_ms(columns: Columns) -> Array:
    """Return timestamps in milliseconds, with null for records without a timestamp."""
    kind = pa.timestamp("ms", tz="UTC")
    if not any_missing(columns.timestamps):
        return _numbers(kind, columns.timestamps)
    import pyarrow.compute as pc

    times = _numbers(pa.int64(), columns.timestamps)
    return pc.if_else(pc.equal(times, pa.scalar(-1)), pa.scalar(None, pa.int64()), times).cast(kind)


def _timestamp_us(columns: Columns) -> Array:
    """Return timestamps in microseconds; a missing one is -1 ms, as in Spark's Kafka source.

    Raises `ValueError` for a time that does not fit into int64 microseconds; a producer can write any number.
    """
    row = first_outside(columns.timestamps, -LAST_MS, LAST_MS)
    if row >= 0:
        raise ValueError(
            f"the record of topic {columns.topic!r}, partition {columns.partition}, at offset {columns.offsets[row]} "
            f"has the time {columns.timestamps[row]} (in ms since 1970), which microseconds cannot hold"
        )
    return _numbers(pa.timestamp("us", tz="UTC"), microseconds(columns.timestamps))


def _timestamp_type(columns: Columns) -> Array:
    runs = [_repeated(kind, stop - start) for start, stop, _, kind in columns.runs()]
    if len(runs) == 1:
        return runs[0]
    return pa.concat_arrays(runs) if runs else pa.nulls(0, pa.int32())


def _bytes(column: BinaryColumn, first: int, last: int, kind: pa.DataType) -> Array:
    """Return rows of a column of byte strings, over existing memory."""
    valid = None if column.valid is None else pa.py_buffer(column.valid)
    buffers = [valid, pa.py_buffer(column.ends), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(kind, last - first, buffers, 0 if valid is None else -1, first)


def _key(columns: Columns) -> Array:
    buffers, first, last = columns.buffers
    return _bytes(buffers.keys, first, last, pa.binary())


def _value(columns: Columns) -> Array:
    buffers, first, last = columns.buffers
    return _bytes(buffers.values, first, last, pa.binary())


def _headers(columns: Columns) -> Array:
    """Return the headers, with an empty list for records without headers."""
    buffers, first, last = columns.buffers
    if buffers.headers is None:
        ends, pairs = pa.py_buffer(bytes(4 * (last - first + 1))), pa.nulls(0, HEADERS_TYPE.value_type)
    else:
        ends, pairs = pa.py_buffer(buffers.headers.ends[first : last + 1]), _header_pairs(buffers.headers)
    return pa.Array.from_buffers(HEADERS_TYPE, last - first, [None, ends], 0, children=[pairs])


def _nullable_headers(columns: Columns) -> Array:
    """Return the headers, with null for records without headers, as in Spark's Kafka source."""
    if columns.buffers[0].headers is None:
        return pa.nulls(len(columns), HEADERS_TYPE)
    import pyarrow.compute as pc

    lists = _headers(columns)
    present = pc.greater(pc.list_value_length(lists), pa.scalar(0))
    return pa.Array.from_buffers(
        HEADERS_TYPE, len(lists), [present.buffers()[1], lists.buffers()[1]], children=[lists.values]
    )


def _header_pairs(headers: HeaderColumns) -> Array:
    """Return all headers of all records."""
    count = len(headers.keys.ends) - 1
    keys = _text(_bytes(headers.keys, 0, count, pa.binary()), headers.keys.data)
    values = _bytes(headers.values, 0, count, pa.binary())
    return pa.StructArray.from_arrays([keys, values], fields=list(HEADERS_TYPE.value_type))


def _text(keys: Array, data: memoryview) -> Array:
    """Return header keys as strings. Bytes that are not UTF-8 become replacement characters, as in Java."""
    if bytes(data).isascii():
        return keys.view(pa.string())
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode("utf-8", "replace") for key in keys.to_pylist()], pa.string())


_Makers = dict[str, Callable[["Columns"], Array]]
_COMMON: _Makers = {"topic": _topic, "partition": _partition, "offset": _offset, "key": _key, "value": _value}
_KAFKA_MAKERS: _Makers = {
    **_COMMON,
    "timestamp": _timestamp_ms,
    "timestamp_type": _timestamp_type,
    "headers": _headers,
}
_SPARK_MAKERS: _Makers = {
    **_COMMON,
    "timestamp": _timestamp_us,
    "timestampType": _timestamp_type,
    "headers": _nullable_headers,
}
