"""Encodes Arrow tables as record batches: checks columns once, then encodes rows without a Python object per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kafka.errors import UnsupportedForMessageFormatError
from kafka.partitioner.murmur2 import partition_column
from kafka.record.batch_headers import ProducerState
from kafka.record.batch_types import Buffer, Compression
from kafka.record.builder import BatchBuilder
from kafka.record.partition_rows import fill_round_robin, group_rows, row_numbers
from kafka.record.row_encoder import ByteColumn, RowColumns, append_rows

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise ImportError(f"Arrow needs pyarrow ({error}): pip install 'kafka-columnar[arrow]'") from error

Array: TypeAlias = Any
"""A pyarrow array of any type; its operations depend on the type more than type stubs can express."""
MAX_ROWS = 0x7FFFFFFF
_KNOWN = ("key", "value", "headers", "partition", "timestamp", "topic")


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """A record batch that `ArrowRows.encode` made of some rows, ready for a produce request."""

    data: Buffer
    """The encoded batch. For an idempotent producer, `set_producer_state` adds the sequence (magic 2 only)."""
    count: int
    """Number of records."""
    first: int
    """Index of the batch's first record among the row numbers passed to `encode`; the other records follow in order."""
    max_timestamp: int
    """The latest timestamp, in milliseconds."""
    raw_size: int
    """Uncompressed size in bytes."""
    largest_record: int
    """Uncompressed size of the largest record in bytes."""


class ArrowRows:
    """The rows of an Arrow table or batch, to be encoded as records.

    Columns with a single chunk are not copied. The column ``value`` is required; the others may be missing:

    - ``value``: string or binary, including large and view variants and dictionaries. A null is a tombstone.
    - ``key``: like ``value``. A null is a record without a key.
    - ``headers``: a list of structs of ``key`` and ``value``, or a map.
    - ``partition``: integer. With a null, the key determines the partition.
    - ``timestamp``: a timestamp of any unit, or integer milliseconds. A null is replaced by the timestamp that the
      caller passes to `encode`.
    - ``topic``: string.

    Attributes:
        has_key: whether there is a column ``key``.
        has_partition: whether there is a column ``partition``.
        has_topic: whether there is a column ``topic``.
    """

    def __init__(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Check the columns and convert them to the encoder's layout.

        Args:
            rows: a row for each record.

        Raises:
            TypeError: `rows` is not a table, or a column has an unsupported type.
            ValueError: there is an unknown column, no column `value`, more than 2**31 - 1 rows, or a null header key.
        """
        if not isinstance(rows, (pa.Table, pa.RecordBatch)):
            raise TypeError(f"Expected a pyarrow Table or RecordBatch, got {type(rows).__name__}")
        names = rows.schema.names
        unknown = [name for name in names if name not in _KNOWN]
        if unknown or "value" not in names or len(set(names)) != len(names):
            raise ValueError(
                f"Expected a column 'value' and any of {', '.join(_KNOWN)}, each once, got {', '.join(names) or 'none'}"
            )
        if rows.num_rows > MAX_ROWS:
            raise ValueError(
                f"Expected at most {MAX_ROWS} rows at a time, got {rows.num_rows}: send slices of the table"
            )
        self._count: int = rows.num_rows
        self._source = rows
        self.has_key = "key" in names
        self.has_partition = "partition" in names
        self.has_topic = "topic" in names
        self._key_array = byte_array(rows, "key") if self.has_key else pa.nulls(self._count, pa.large_binary())
        self._value_array = byte_array(rows, "value")
        header_ends, header_keys, header_values = (
            header_columns(one_array(rows, "headers")) if "headers" in names else (None,) * 3
        )
        self._has_headers = header_keys is not None and header_keys.rows > 0
        self._times = (
            timestamp_view(one_array(rows, "timestamp"))
            if "timestamp" in names
            else int64_view(pa.repeat(-1, self._count))
        )
        keys, values = byte_column(self._key_array), byte_column(self._value_array)
        self._columns = RowColumns(keys, values, self._times, header_ends, header_keys, header_values)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The approximate size of the keys and values in bytes."""
        return int(self._key_array.nbytes + self._value_array.nbytes)

    def all_rows(self) -> memoryview:
        """Return the numbers of all rows, 0 to ``len(self) - 1`` in order, as a memoryview of int32."""
        return row_numbers(self._count)

    def topics(self) -> dict[str, memoryview]:
        """Return the row numbers (int32) of each topic in the column `topic`.

        Raises:
            ValueError: there is no such column, or a topic is null.
        """
        if not self.has_topic:
            raise ValueError("Expected a column 'topic', there is none: give the topic to the call")
        column = one_array(self._source, "topic")
        if column.null_count:
            raise ValueError(f"Expected a topic in each row, {column.null_count} of {self._count} are null")
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        names = column.dictionary.to_pylist()
        wrong = [name for name in names if not isinstance(name, str)]
        if wrong:
            raise TypeError(f"Expected the column 'topic' as string, got {column.type.value_type}")
        groups = group_rows(number_view(column.indices.cast(pa.int32()), "i"), self.all_rows(), len(names))
        return {name: rows for name, rows in zip(names, groups, strict=True) if len(rows)}

    def partitions(
        self,
        n_partitions: int,
        *,
        rows: memoryview | Sequence[int] | None = None,
        null_key_partition: int | None = None,
        first_partition: int = 0,
        ignore_keys: bool = False,
    ) -> list[memoryview]:
        """Assign rows to the partitions of a topic as Kafka's default partitioner does.

        A value in the column `partition` takes precedence. Otherwise, murmur2 of the key determines the partition. Rows
        with neither go to `null_key_partition`, or, if that is None, to each partition in turn, starting with
        `first_partition`.

        Args:
            n_partitions: number of partitions of the topic.
            rows: row numbers, int32; None for all.
            null_key_partition: partition for rows without a key.
            first_partition: first partition for rows without a key.
            ignore_keys: whether to treat rows with a key like rows without a key.

        Returns:
            For each partition, its row numbers (int32) in order.

        Raises:
            ValueError: a row specifies a partition that the topic does not have.
        """
        if n_partitions < 1:
            raise ValueError(f"Expected a topic with at least one partition, got {n_partitions}")
        assigned = memoryview(bytearray(4 * max(self._count, 1))).cast("i")[: self._count]
        if self.has_key and not ignore_keys:
            ends, data, valid, valid_at = byte_parts(self._key_array)
            partition_column(data, ends, valid, valid_at, n_partitions, assigned)
        else:
            assigned = number_view(pa.repeat(pa.scalar(-1, pa.int32()), self._count), "i")
        if self.has_partition:
            assigned = self._explicit(assigned, n_partitions)
        if null_key_partition is not None:
            first_partition, n_targets = null_key_partition, 1
        else:
            n_targets = n_partitions
        return self._grouped(assigned, n_partitions, n_targets, first_partition, rows)

    def _grouped(
        self,
        assigned: memoryview,
        n_partitions: int,
        n_targets: int,
        first: int,
        rows: memoryview | Sequence[int] | None,
    ) -> list[memoryview]:
        """Assign a partition to rows without a partition, and sort the row numbers by partition."""
        if not 0 <= first < n_partitions:
            raise ValueError(f"Expected a partition from 0 to {n_partitions - 1} for rows without a key, got {first}")
        own = memoryview(bytearray(assigned)).cast("i") if self._count else assigned
        if self._count:
            if n_targets == 1:
                filled = pa.Array.from_buffers(pa.int32(), self._count, [None, pa.py_buffer(own)], 0)
                own = number_view(
                    pc.if_else(pc.equal(filled, pa.scalar(-1)), pa.scalar(first, pa.int32()), filled), "i"
                )
            else:
                fill_round_robin(own, n_partitions, first)
        return group_rows(own, self.all_rows() if rows is None else int32_view(rows), n_partitions)

    def _explicit(self, assigned: memoryview, n_partitions: int) -> memoryview:
        """Return the values of the column `partition`, with nulls replaced by `assigned`."""
        column = one_array(self._source, "partition")
        if not (pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
            raise TypeError(f"Expected the column 'partition' as integer, got {column.type}")
        column = column.cast(pa.int64())
        lowest, highest = pc.min_max(column).values()
        if lowest.is_valid and (lowest.as_py() < 0 or highest.as_py() >= n_partitions):
            raise ValueError(
                f"Expected partitions from 0 to {n_partitions - 1}, the column 'partition' has "
                f"{lowest.as_py()} to {highest.as_py()}"
            )
        chosen = pa.Array.from_buffers(pa.int32(), self._count, [None, pa.py_buffer(assigned)], 0)
        return number_view(pc.coalesce(column.cast(pa.int32()), chosen), "i")

    def named(self, rows: memoryview | Sequence[int], first: int, count: int) -> list[int] | None:
        """Find the rows whose partition comes from the column `partition`.

        Args:
            rows: row numbers, as returned by `partitions`.
            first: index of the first row in `rows` to check.
            count: number of rows to check.

        Returns:
            The runs of such rows, counted from `first`: for each run the index of its first row and one past its last
            row; None if there is no run.
        """
        if not self.has_partition:
            return None
        column = one_array(self._source, "partition")
        if not column.null_count:
            return [0, count]
        numbers = pa.Array.from_buffers(pa.int32(), len(rows), [None, pa.py_buffer(int32_view(rows))], 0)
        runs = pc.call_function("run_end_encode", [column.is_valid().take(numbers.slice(first, count))])
        named: list[int] = []
        start = 0
        for stop, is_named in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
            if is_named:
                named += (start, stop)
            start = stop
        return named or None

    def encode(
        self,
        rows: memoryview | Sequence[int],
        *,
        magic: int = 2,
        compression: Compression = Compression.NONE,
        compression_level: int | None = None,
        max_batch_bytes: int = 1 << 20,
        timestamp_ms: int = -1,
        transactional: bool = False,
    ) -> list[EncodedBatch]:
        """Encode rows into batches, in order.

        Args:
            rows: row numbers, int32, as returned by `partitions`.
            magic: format of the batches; 0 and 1 are encoded record by record.
            compression: the codec.
            compression_level: the codec's level, None for its default.
            max_batch_bytes: maximum uncompressed size of a batch; a single record may exceed it.
            timestamp_ms: timestamp of rows without one.
            transactional: whether the batches belong to a transaction.

        Raises:
            ValueError: a row does not exist or cannot be encoded.
            UnsupportedForMessageFormatError: a row has headers, and `magic` is less than 2.
        """
        numbers = int32_view(rows)
        batches: list[EncodedBatch] = []
        builder = BatchBuilder(magic, compression, compression_level=compression_level, size_limit=max_batch_bytes)
        at = 0
        while at < len(numbers):
            if batches:
                builder.clear()
            if magic == 2:
                following = append_rows(builder, self._columns, numbers, at, timestamp_ms)
            else:
                following = self._append_messages(builder, numbers, at, timestamp_ms)
            data = builder.build_in_place(ProducerState(transactional=transactional))
            sizes = builder.size_in_bytes, builder.largest_record
            batches.append(EncodedBatch(data, builder.count, at, builder.max_timestamp, *sizes))
            at = following
        return batches

    def _append_messages(self, builder: BatchBuilder, numbers: memoryview, at: int, timestamp_ms: int) -> int:
        """Add rows one by one, for the formats of old brokers; return the index of the next row."""
        if self._has_headers:
            raise UnsupportedForMessageFormatError(
                "Headers need magic 2 (Kafka 0.11 and later): leave out the column 'headers' for this broker"
            )
        while at < len(numbers):
            row = numbers[at]
            key, value = self._key_array[row].as_py(), self._value_array[row].as_py()
            if not builder.has_room_for(key, value, None):
                break
            builder.append(timestamp_ms if self._times[row] < 0 else self._times[row], key, value)
            at += 1
        return at


def one_array(rows: pa.Table | pa.RecordBatch, name: str) -> Array:
    """Return a column as one array."""
    column = rows.column(name)
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def byte_array(rows: pa.Table | pa.RecordBatch, name: str) -> Array:
    """Return a column of strings or bytes as one array of large_binary, which may exceed 2 GiB."""
    column = rows.column(name)
    if not isinstance(column, pa.ChunkedArray):
        return _binary(column, name)
    chunks = [_binary(chunk, name) for chunk in column.chunks] or [_binary(pa.array([], column.type), name)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _binary(column: Array, name: str) -> Array:
    """Convert a column of strings or bytes to large_binary."""
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
    """Return a view of the numbers of a column without nulls."""
    width = 8 if code == "q" else 4
    if not len(column):
        return memoryview(b"").cast(code)
    data = memoryview(column.buffers()[1]).cast("B")
    return data[column.offset * width : (column.offset + len(column)) * width].cast(code)


def int64_view(column: Array) -> memoryview:
    """Return a view of the numbers of an int64 column without nulls."""
    return number_view(column.cast(pa.int64()), "q")


def int32_view(rows: memoryview | Sequence[int]) -> memoryview:
    """Return row numbers as int32."""
    if isinstance(rows, memoryview) and rows.format == "i":
        return rows
    return number_view(pa.array(rows, pa.int32()), "i")


def byte_parts(column: Array) -> tuple[memoryview, memoryview, memoryview | None, int]:
    """Return the end positions, data, validity bitmap and first bit in the bitmap for a large_binary column."""
    valid, ends, data = column.buffers()
    view = memoryview(data).cast("B") if data is not None else memoryview(b"")
    bits = None if valid is None or not column.null_count else memoryview(valid).cast("B")
    if ends is None or not ends.size:
        return memoryview(bytes(8)).cast("q"), view, bits, column.offset
    positions = memoryview(ends).cast("B")[column.offset * 8 : (column.offset + len(column) + 1) * 8]
    return positions.cast("q"), view, bits, column.offset


def byte_column(column: Array) -> ByteColumn:
    """Return a large_binary column in the form that the encoder uses."""
    return ByteColumn(*byte_parts(column))


def timestamp_view(column: Array) -> memoryview:
    """Return the timestamps in milliseconds, with -1 for null."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False).cast(pa.int64())
    elif not (pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        raise TypeError(f"Expected the column 'timestamp' as timestamp or integer milliseconds, got {column.type}")
    return int64_view(column.cast(pa.int64()).fill_null(-1))


def _pair(headers: Array) -> tuple[Array, Array]:
    """Return the keys and values of an array of structs, by name, because users may order the fields either way."""
    return headers.field("key"), headers.field("value")


def _hides_headers(column: Array) -> bool:
    """Return whether a null row has positions of headers, as Arrow permits. Others read like rows without headers."""
    ends = column.offsets
    sizes = pc.subtract(ends[1:], ends[:-1])
    return bool(pc.any(pc.and_(column.is_null(), pc.not_equal(sizes, pa.scalar(0, sizes.type)))).as_py())


def header_columns(column: Array) -> tuple[memoryview | None, ByteColumn | None, ByteColumn | None]:
    """Return the positions of each row's headers, and all header keys and values; None if no row can have headers."""
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
    if column.null_count and _hides_headers(column):
        column = pc.coalesce(column, pa.scalar([], kind))
        keys, values = (column.keys, column.items) if pa.types.is_map(kind) else _pair(column.values)
    return (
        int64_view(column.offsets),
        byte_column(_binary(keys, "headers.key")),
        byte_column(_binary(values, "headers.value")),
    )
