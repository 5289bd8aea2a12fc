"""Columns of records: what decoding gives, and what records and Arrow batches are views of."""

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
    """Neighbouring rows that share what a batch has only once."""

    first_row: int
    leader_epoch: int
    timestamp_type: int


class Columns:
    """The records of one partition as columns, in the order of their offsets.

    Attributes:
        topic: as given to `decode_batches`.
        partition: likewise.
        next_offset: where to go on: behind the last whole batch seen, so it moves over control batches, aborted records
            and gaps; the `start_offset` of the decoding if there was no batch.
        bytes_consumed: how many bytes of the data those batches had.
        leader_epoch: of the last batch of magic 2, -1 if there was none.
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
        """Milliseconds since the epoch, int64; -1 where there is none."""
        return self._buffers.timestamps[self._first : self._last]

    @property
    def nbytes(self) -> int:
        """How many bytes the rows take in memory, roughly: keys, values and headers, and the columns of numbers."""
        first, last = self._first, self._last
        total = 24 * (last - first)  # 8 for the offset, 8 for the timestamp, 4 for the positions of key and of value
        for column in (self._buffers.keys, self._buffers.values):
            total += column.ends[last] - column.ends[first]
        if self._buffers.headers is not None:
            ends, *columns = self._buffers.headers
            first, last = ends[first], ends[last]
            total += sum(column.ends[last] - column.ends[first] + 4 * (last - first) for column in columns)
        return total

    @property
    def _maker(self) -> RecordMaker:
        """What makes objects of rows; made when first used."""
        if self._made is None:
            self._made = RecordMaker(self._buffers)
        return self._made

    def _row(self, index: int) -> int:
        """The row of the buffers that an index into these columns means.

        Raises:
            IndexError: there is no such record.
        """
        row = index + (self._first if index >= 0 else self._last)
        if not self._first <= row < self._last:
            raise IndexError(f"Expected an index below {len(self)}, got {index}")
        return row

    def timestamp_type(self, index: int) -> TimestampType:
        """What the timestamp of a record means."""
        row = self._row(index)
        return TimestampType(next(run.timestamp_type for run in reversed(self._runs) if run.first_row <= row))

    def key(self, index: int) -> bytes | None:
        """Return the key of a record, None for null."""
        return self._maker.key(self._row(index))

    def value(self, index: int) -> bytes | None:
        """Return the value of a record, None for null."""
        return self._maker.value(self._row(index))

    def headers(self, index: int) -> list[tuple[str, bytes | None]]:
        """Return the headers of a record."""
        return self._maker.headers(self._row(index))

    def slice(self, start: int, stop: int) -> Columns:
        """Return some of the rows, as `list[start:stop]` would, without a copy.

        If the slice reaches the end, its `next_offset` and `leader_epoch` are those of the whole. Otherwise, they are
        those of its last record; the epoch is -1 if the record has none.
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
        """Where the rows share what their batch has once: `(start, stop, leader_epoch, timestamp_type)`."""
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
            topic: in the place of the columns' own.
            partition: likewise.
            key_deserializer: called with the topic, the key (bytes, or None for null) and the headers of each record.
            value_deserializer: likewise with the value.
            cls: their class.
            more: the value of the last field of a class that has one field more than `ConsumerRecord`.
            into: a list to add them to, and to return. If a deserializer raises, it has the records before that one.

        Raises:
            Exception: what a deserializer raises.
        """
        result = [] if into is None else into
        name = self.topic if topic is None else topic
        number = self.partition if partition is None else partition
        for start, stop, leader_epoch, kind in self.runs():
            self._maker.records(
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
        """The records as an Arrow batch for other libraries, such as `polars.DataFrame(columns)`; as `to_arrow`.

        Arguments:
            requested_schema: a capsule of the schema that is wanted, as far as pyarrow can cast to it.
        """
        batch: Any = self.to_arrow()
        return batch.__arrow_c_array__(requested_schema)

    def to_arrow(
        self, columns: Sequence[str] | None = None, *, schema: Literal["kafka", "spark"] = "kafka"
    ) -> pyarrow.RecordBatch:
        """Return the records as an Arrow batch; offsets, keys, values and headers are not copied.

        Args:
            columns: names of the columns wanted, in their order; None for all of the schema but, with `"spark"`, the
                headers.
            schema: `"kafka"` has topic, partition, offset, timestamp (milliseconds, UTC; null where there is none),
                timestamp_type (int32), key, value and headers. `"spark"` has what Spark's Kafka source gives: key,
                value, topic, partition, offset, timestamp (microseconds, UTC), timestampType, and headers when asked
                for (null where a record has none).

        Raises:
            ImportError: pyarrow is not installed.
            ValueError: no such schema or column; or, with `"spark"`, a record's time does not fit into microseconds.
        """
        from kafka.record.arrow_batches import to_arrow

        return to_arrow(self, columns, schema)

    @property
    def buffers(self) -> tuple[ColumnBuffers, int, int]:
        """The memory behind the columns, with the first row and the row behind the last one."""
        return self._buffers, self._first, self._last
