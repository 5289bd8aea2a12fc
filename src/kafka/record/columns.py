"""Columns of records: the result of decoding, of which records and Arrow batches are views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kafka.record.batch_types import TimestampType
from kafka.record.column_memory import ColumnBuffers
from kafka.record.materialize import Deserialize, RecordMaker
from kafka.record.records import ConsumerRecord

if TYPE_CHECKING:
    import pyarrow


class Run(NamedTuple):
    """Consecutive rows with the same batch properties."""

    first_row: int
    leader_epoch: int
    timestamp_type: int


class Columns:
    """The records of one partition as columns, in the order of their offsets.

    Attributes:
        topic: as passed to `decode_batches`.
        partition: as passed to `decode_batches`.
        next_offset: the offset at which to continue reading. It follows the last complete batch, including control
            batches, aborted records and gaps. Without a batch, it is the `start_offset` that was passed for decoding.
        bytes_consumed: total size of the decoded batches in the data, in bytes.
        leader_epoch: leader epoch of the last magic 2 batch, or -1.

    Decoders create it.

    Arguments:
        buffers: the memory with the values.
        runs: the rows with the same batch properties.
    """

    __slots__ = (
        "_buffers",
        "_first",
        "_last",
        "_made",
        "_runs",
        "bytes_consumed",
        "leader_epoch",
        "next_offset",
        "partition",
        "topic",
    )

    def __init__(
        self,
        buffers: ColumnBuffers,
        runs: Sequence[Run],
        topic: str,
        partition: int,
        next_offset: int,
        bytes_consumed: int,
        leader_epoch: int,
    ) -> None:
        self._buffers = buffers
        self._runs = runs
        self._first = 0
        self._last = buffers.rows
        self._made: RecordMaker | None = None
        self.topic = topic
        self.partition = partition
        self.next_offset = next_offset
        self.bytes_consumed = bytes_consumed
        self.leader_epoch = leader_epoch

    def __len__(self) -> int:
        return self._last - self._first

    def __repr__(self) -> str:
        return f"<Columns of {len(self)} records of {self.topic}-{self.partition}, next offset {self.next_offset}>"

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display: the first records, one per row."""
        from kafka.display.html_tables import MOST_ROWS, many_records

        first = self.slice(0, MOST_ROWS).to_records()
        return many_records(f"{len(self):,} record(s) of {self.topic}-{self.partition}", first, len(self))

    @property
    def offsets(self) -> memoryview:
        """The offsets, int64."""
        return self._buffers.offsets[self._first : self._last]

    @property
    def timestamps(self) -> memoryview:
        """Milliseconds since the epoch, int64; -1 for no timestamp."""
        return self._buffers.timestamps[self._first : self._last]

    @property
    def nbytes(self) -> int:
        """Approximate memory used by the rows, in bytes: keys, values, headers and numeric columns."""
        first, last = self._first, self._last
        total = 24 * (last - first)  # 8 for the offset, 8 for the timestamp, 4 each for the positions of key and value
        for column in (self._buffers.keys, self._buffers.values):
            total += column.ends[last] - column.ends[first]
        if self._buffers.headers is not None:
            ends, *columns = self._buffers.headers
            first, last = ends[first], ends[last]
            total += sum(column.ends[last] - column.ends[first] + 4 * (last - first) for column in columns)
        return total

    @property
    def _maker(self) -> RecordMaker:
        """The factory of record objects, created on first use."""
        if self._made is None:
            self._made = RecordMaker(self._buffers)
        return self._made

    def _row(self, index: int) -> int:
        """Map an index into these columns to its row in the buffers.

        Raises:
            IndexError: the record does not exist.
        """
        row = index + (self._first if index >= 0 else self._last)
        if not self._first <= row < self._last:
            raise IndexError(f"Expected an index below {len(self)}, got {index}")
        return row

    def timestamp_type(self, index: int) -> TimestampType:
        """Return the timestamp type of a record.

        Arguments:
            index: the record's place in these columns, from 0; negative numbers count from the end.
        """
        row = self._row(index)
        return TimestampType(next(run.timestamp_type for run in reversed(self._runs) if run.first_row <= row))

    def key(self, index: int) -> bytes | None:
        """Return the key of a record, or None for null.

        Arguments:
            index: the record's place in these columns, from 0; negative numbers count from the end.
        """
        return self._maker.key(self._row(index))

    def value(self, index: int) -> bytes | None:
        """Return the value of a record, or None for null.

        Arguments:
            index: the record's place in these columns, from 0; negative numbers count from the end.
        """
        return self._maker.value(self._row(index))

    def headers(self, index: int) -> list[tuple[str, bytes | None]]:
        """Return the headers of a record.

        Arguments:
            index: the record's place in these columns, from 0; negative numbers count from the end.
        """
        return self._maker.headers(self._row(index))

    def slice(self, start: int, stop: int) -> Columns:
        """Return some of the rows, like `list[start:stop]`, without a copy.

        If the slice reaches the end, its `next_offset` and `leader_epoch` are the same as in these columns. Otherwise,
        they are derived from its last record; the epoch is -1 if the record has none.
        """
        first, last, _ = slice(start, stop).indices(len(self))
        last = max(first, last)
        part = Columns(
            self._buffers,
            self._runs,
            self.topic,
            self.partition,
            self.next_offset,
            self.bytes_consumed,
            self.leader_epoch,
        )
        part._first, part._last, part._made = self._first + first, self._first + last, self._made
        if last < len(self):
            offsets = self._buffers.offsets
            part.next_offset = offsets[part._last - 1] + 1 if last > first else offsets[part._last]
            last_run = next((run for run in reversed(self._runs) if run.first_row < part._last), None)
            part.leader_epoch = last_run.leader_epoch if last_run is not None and last > first else -1
        return part

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Return the runs of rows with the same batch properties: `(start, stop, leader_epoch, timestamp_type)`."""
        if len(self._runs) == 1:
            return [(0, self._last - self._first, *self._runs[0][1:])] if self._last > self._first else []
        stops = [*(run.first_row for run in self._runs[1:]), self._buffers.rows]
        clipped = (
            (max(run.first_row, self._first) - self._first, min(stop, self._last) - self._first, *run[1:])
            for run, stop in zip(self._runs, stops, strict=False)
        )
        return [run for run in clipped if run[0] < run[1]]

    def to_records(
        self,
        topic: str | None = None,
        partition: int | None = None,
        key_deserializer: Deserialize | None = None,
        value_deserializer: Deserialize | None = None,
        cls: type[ConsumerRecord] = ConsumerRecord,
        more: int | None = None,
        into: list[ConsumerRecord] | None = None,
    ) -> list[ConsumerRecord]:
        """Return the records as objects.

        Args:
            topic: replaces the columns' topic.
            partition: replaces the columns' partition.
            key_deserializer: called with the topic, the key (bytes, or None for null) and the headers of each record.
            value_deserializer: called in the same way with the value.
            cls: class of the records.
            more: value of the additional last field, for a class with one more field than `ConsumerRecord`.
            into: a list to append to and return. If a deserializer raises an exception, the list contains the records
                before the failed record.

        Raises:
            Exception: errors from the deserializers.
        """
        result = [] if into is None else into
        name = self.topic if topic is None else topic
        number = self.partition if partition is None else partition
        if self._made is None:
            self._made = RecordMaker(self._buffers)
        for start, stop, leader_epoch, kind in self.runs():
            self._made.records(
                self._first + start,
                self._first + stop,
                name,
                number,
                leader_epoch,
                kind,
                key_deserializer,
                value_deserializer,
                cls,
                more,
                result,
            )
        return result

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        """Return an Arrow batch for other libraries, such as `polars.DataFrame(columns)`; see `to_arrow`.

        Arguments:
            requested_schema: a capsule for the requested schema; pyarrow casts to this schema if possible.
        """
        batch: Any = self.to_arrow()
        return batch.__arrow_c_array__(requested_schema)

    def to_arrow(
        self, columns: Sequence[str] | None = None, *, schema: Literal["kafka", "spark"] = "kafka"
    ) -> pyarrow.RecordBatch:
        """Return the records as an Arrow batch; offsets, keys, values and headers are not copied.

        Args:
            columns: names of the columns to include, in order; None for all columns in the schema, except the headers
                with `"spark"`.
            schema: `"kafka"` has topic, partition, offset, timestamp (milliseconds, UTC; null if missing),
                timestamp_type (int32), key, value and headers. `"spark"` has the columns of Spark's Kafka source: key,
                value, topic, partition, offset, timestamp (microseconds, UTC), timestampType, and, on request, headers
                (null for a record without headers).

        Raises:
            ImportError: pyarrow is not installed.
            ValueError: the schema or a column does not exist; or, with `"spark"`, a record's time does not fit into
                microseconds.
        """
        from kafka.record.arrow_batches import to_arrow

        return to_arrow(self, columns, schema)

    @property
    def buffers(self) -> tuple[ColumnBuffers, int, int]:
        """The memory behind the columns, the first row, and one past the last row."""
        return self._buffers, self._first, self._last
