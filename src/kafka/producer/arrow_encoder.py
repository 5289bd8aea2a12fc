"""Encodes Arrow data as batches and puts them into the queues that `send()` fills, without an object per row.

With slow compression, spare processors encode the next rows in other threads. `as_rows` converts what `send_arrow()`
accepts to Arrow tables, and `typed_rows` encodes typed keys and values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError
from kafka.formats.column_io import ColumnWriter, writer_of
from kafka.net import helper_threads
from kafka.producer.appending.checks import PartitionGone
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.reencode import are_named, regroup
from kafka.producer.core import ProducerCore
from kafka.record import Buffer, decode_batches
from kafka.record.arrow_rows import ArrowRows
from kafka.record.codecs import CODECS
from kafka.structs import TopicPartition

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch, pa.Table | pa.RecordBatch)

NOT_SENT = ("topic", "offset", "timestamp_type", "timestampType", "leader_epoch")
"""Columns of `KafkaConsumer.poll_arrow()` and Spark's source that describe a record's origin, not its content."""
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_OWN = ("key", "value", "headers", "partition", "timestamp")
"""Columns for the parts of a record that are not fields of its value."""
_BATCH_BYTES = 256 * 1024
"""Size in bytes of batches of rows, unless `batch_size` is larger; linger_ms does not apply to rows."""
_CHUNK_BYTES = 8 * 1024 * 1024
_WORTH_BYTES = 2 * 1024 * 1024
"""Minimum number of bytes per thread for compression in several threads; with fewer, batches would be less full."""
_MOST_HELPERS = 3


class EncodedRows(NamedTuple):
    """Encoded rows that form one batch.

    Arguments:
        partition: the destination partition.
        generation: the topic's generation when the partition was chosen; see `TopicQueues`.
        named: see `BatchFields`.
        data: the encoded batch.
        rows: number of rows.
        sizes: see `ProducerBatch.encoded`.
    """

    partition: int
    generation: int
    named: list[int] | None
    data: Buffer
    rows: int
    sizes: tuple[int, int] = (0, 0)


class ArrowEncoder:
    """Encodes the rows of one table or batch as record batches, chunk by chunk, and adds them to the producer's queues.

    Arguments:
        core: the producer.
        topic: the destination topic; its partitions are known.
        data: the rows, see `as_rows`.
    """

    def __init__(self, core: ProducerCore, topic: str, data: Any) -> None:
        self._core = core
        self._topic = topic
        self._data = as_rows(data)
        self.rows: int = self._data.num_rows
        self._timestamp_ms = core.now_ms()
        self.batches: list[ProducerBatch] = []
        """All batches that have been added to a queue."""
        self._first_partition = core.random_partition(topic)
        codec = CODECS.get(core.buffer.options.compression)
        # Fast codecs take less time than the broker needs to write, so more threads would only compete with the broker.
        is_slow = codec is not None and codec.slow_from is not None
        self._helpers = min(helper_threads.processors() - 1, _MOST_HELPERS) if is_slow else 0

    def chunks(self) -> Iterator[list[EncodedRows]]:
        """Iterate over the chunks' batches, encoding each chunk when it is requested."""
        return helper_threads.results_in_order(self._chunks(), self._helpers)

    def progress(self) -> _Progress:
        """Add the number of accepted rows to a `KafkaTimeoutError` raised inside the block."""
        return _Progress(self.batches, self.rows)

    def encode(self, start: int, stop: int) -> list[EncodedRows]:
        """Encode some rows as batches, partition by partition."""
        rows = ArrowRows(self._data.slice(start, stop - start))
        options = self._core.buffer.options
        limit = self._core.config.producer.max_request_size
        count, generation = self._core.buffer.count_and_generation(self._topic)
        by_partition: list[tuple[int, EncodedRows]] = []
        for number, numbers in enumerate(
            rows.partitions(
                count,
                first_partition=(self._first_partition + start) % count,
                ignore_keys=self._core.config.producer.partitioner_ignore_keys,
            )
        ):
            for encoded in rows.encode(
                numbers,
                magic=self._core.buffer.magic,
                compression=options.compression,
                compression_level=options.compression_level,
                max_batch_bytes=min(max(options.batch_size, _BATCH_BYTES), limit),
                timestamp_ms=self._timestamp_ms,
            ):
                if len(encoded.data) > limit:
                    raise MessageSizeTooLargeError(
                        f"a row for topic {self._topic!r} takes {len(encoded.data)} bytes, more than max_request_size "
                        f"({limit}); {_sent_so_far(self.batches)} of {self.rows} rows are on their way"
                    )
                named = rows.named(numbers, encoded.first, encoded.count)
                sizes = encoded.raw_size, encoded.largest_record
                made = EncodedRows(number, generation, named, encoded.data, encoded.count, sizes)
                by_partition.append((encoded.first, made))
        by_partition.sort(key=lambda each: each[0])  # interleave partitions instead of sending one after the other
        return [made for _, made in by_partition]

    def _chunks(self) -> Iterator[Callable[[], list[EncodedRows]]]:
        """Yield functions that encode slices of equal length, which are small compared to the producer's memory."""
        rows, size = self.rows, self._data.nbytes
        limit = max(min(_CHUNK_BYTES, self._core.buffer.options.buffer_memory // 4), 1)
        count = -(-size // limit)
        together = self._helpers + 1
        if size >= together * _WORTH_BYTES:
            count = -(-count // together) * together
        step = max(-(-rows // max(count, 1)), 1)
        for start in range(0, rows, step):
            yield partial(self.encode, start, min(start + step, rows))

    def enqueue(self, rows: EncodedRows, reserved: Reservation) -> None:
        """Add a batch to its queue, using the memory in `reserved`, which equals its size.

        Raises `IllegalArgumentError` if a row names a partition that the topic no longer has after it was recreated.
        """
        place = TopicPartition(self._topic, rows.partition)
        try:
            batch = self._core.buffer.add_encoded(
                place, rows.data, rows.rows, reserved, rows.sizes, generation=rows.generation, named=rows.named
            )
        except PartitionGone:
            for part in self._repartition(place, rows):
                self.enqueue(part, reserved)
        else:
            self.batches.append(batch)

    def _repartition(self, place: TopicPartition, rows: EncodedRows) -> list[EncodedRows]:
        """Encode the same rows for the partitions of the recreated topic."""
        count, generation = self._core.buffer.count_and_generation(self._topic)
        columns = decode_batches(rows.data, check_crcs=False)
        named = are_named(rows.named, len(columns))
        targets = self._core.default_choice.targets(place, columns, named, count, ())
        refusals = [target for target in targets if isinstance(target, KafkaError)]
        if refusals:
            raise type(refusals[0])(
                f"{refusals[0]}; {_sent_so_far(self.batches)} of {self.rows} rows are on their way"
            ) from refusals[0]
        parts, _ = regroup(rows.data, columns, targets, named, self._core.buffer.options)
        return [
            EncodedRows(target, generation, part.named, part.data, part.records)
            for target, part in parts.items()
            if isinstance(target, int)
        ]


class _Progress:
    """A context manager that adds the number of accepted rows to an error."""

    def __init__(self, batches: list[ProducerBatch], rows: int) -> None:
        self.batches = batches
        self._rows = rows

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KafkaTimeoutError):
            raise KafkaTimeoutError(
                f"{error.args[0]}; {_sent_so_far(self.batches)} of {self._rows} rows are on their way"
            ) from error


def _sent_so_far(batches: Sequence[ProducerBatch]) -> int:
    return sum(batch.count for batch in batches)


def as_rows(data: Any) -> pa.Table | pa.RecordBatch:
    """Return Arrow data with only the columns that `send_arrow` uses; see `as_arrow`."""
    return sent_columns(as_arrow(data))


def sent_columns(rows: Rows) -> Rows:
    """Return the rows without columns that describe a record's origin."""
    sent = [name for name in rows.schema.names if name not in NOT_SENT and not _PANDAS_INDEX.fullmatch(name)]
    return rows if len(sent) == rows.num_columns else rows.select(sent)


def as_arrow(data: Any) -> pa.Table | pa.RecordBatch:
    """Convert data to Arrow data of types that can be encoded.

    Arguments:
        data: a `pyarrow.Table` or `RecordBatch`, an object with ``__arrow_c_stream__`` (a polars or pandas DataFrame, a
            `RecordBatchReader`, which is read to its end) or ``__arrow_c_array__``, or a dict of columns.

    Raises `TypeError` for other types of data, and for columns of Python objects with an ambiguous type.
    """
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _plain(data)
    try:
        rows = _made(data)
    except pa.ArrowException as error:
        raise TypeError(
            f"no Arrow columns can be made of this {type(data).__name__}: {'; '.join(map(str, error.args))}; "
            "give a pyarrow.Table, whose columns have types, such as pa.Table.from_pandas(frame, schema=...)"
        ) from error
    return _plain(rows)


def _made(data: Any) -> pa.Table | pa.RecordBatch:
    if isinstance(data, Mapping):
        return pa.table(dict(data))
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    if hasattr(data, "__arrow_c_array__"):
        return pa.record_batch(data)
    raise TypeError(
        "send_arrow() takes a pyarrow Table or RecordBatch, anything with __arrow_c_stream__ or __arrow_c_array__ "
        f"(as polars and pandas have), or a dict of columns, not {type(data).__name__}"
    )


def _plain(rows: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """Return the rows with dictionaries and view types, which polars and DuckDB use, replaced by plain types."""
    schema = pa.schema([each.with_type(_plain_type(each.type)) for each in rows.schema])
    return rows if schema.equals(rows.schema) else rows.cast(schema)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([each.with_type(_plain_type(each.type)) for each in kind])
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain_type(kind.value_type)))
    if types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_plain_type(kind.value_type)))
    return kind


def typed_rows(data: Any, key: Any, value: Any) -> pa.Table:
    """Encode the typed keys and values of rows as bytes.

    Arguments:
        data: see `as_arrow`. If values are typed and there is no column `value`, all columns that are not other parts
            of a record become the fields of the value.
        key, value: see `writer_of`; None for bytes or text.

    Raises `TypeError` and `ValueError` for data that cannot be encoded; the message names the row and field.
    """
    writers = {name: writer_of(each, name) for name, each in (("key", key), ("value", value)) if each is not None}
    rows = as_arrow(data)
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    if "value" in writers and "value" not in table.schema.names:
        _check_names(table.schema.names, writers["value"])
        table = sent_columns(table)
        fields = [field for field in table.schema if field.name not in _OWN]
        columns: list[Any] = [_whole(table.column(field.name)) for field in fields]
        struct = pa.StructArray.from_arrays(columns, fields=fields) if columns else pa.array([{}] * table.num_rows)
        table = table.drop_columns([field.name for field in fields]).append_column("value", struct)
    table = sent_columns(table)
    for name, writer in writers.items():
        if name not in table.schema.names:
            raise ValueError(f"send_arrow() has an encoder for the {name}, but the data have no column {name!r}")
        at = table.schema.names.index(name)
        try:
            encoded = writer.encode(_whole(table.column(at)))
        except (TypeError, ValueError) as error:
            error.add_note(f"in the column {name!r}")
            raise
        table = table.set_column(at, name, encoded)
    return table


def _check_names(names: list[str], writer: ColumnWriter) -> None:
    """Raise `ValueError` for columns that could be either part of the record or fields of its value."""
    both = [name for name in names if name in writer.field_names and name in (*_OWN, *NOT_SENT)]
    if both:
        listed = " and ".join(map(repr, both))
        raise ValueError(
            f"send_arrow() cannot tell whether {listed} of the data is the record's own or a field of its value, whose "
            "schema has it too: give the value's fields as one struct column 'value', such as "
            "pyarrow.table({'value': table.to_struct_array()})"
        )


def _whole(column: Any) -> Any:
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
