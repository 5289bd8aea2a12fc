"""Reads the ranges of a task with a cached consumer, as Arrow batches that are fetched ahead of Spark's pipe."""

import bisect
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kafka.errors import KafkaTimeoutError, LogTruncationError, OffsetOutOfRangeError, UnknownTopicOrPartitionError
from kafka.health import meanwhile
from kafka.spark.client_cache import CONSUMERS
from kafka.spark.options.parsing import ReadOptions
from kafka.spark.planning.cluster_lookup import ClusterLookup
from kafka.spark.planning.data_loss import DataLoss
from kafka.spark.planning.lookup import OffsetLookup
from kafka.spark.planning.ranges import OffsetRange, describe
from kafka.spark.tasks.channel import coalesced, prefetched
from kafka.spark.tasks.timestamp_checks import RecordTimes
from kafka.structs import TopicPartition, is_another_topic

if TYPE_CHECKING:
    import pyarrow

    from kafka import KafkaConsumer
    from kafka.record import Columns
    from kafka.spark.typed.decoding import TypedRead

log = logging.getLogger(__name__)

SMALLEST_BATCH = 1 << 20
"""Minimum size of Arrow batches in bytes. Smaller ones are merged, because Spark's JVM has a fixed cost per batch."""
LARGEST_BATCH = 8 << 20
"""Maximum size of Arrow batches in bytes. Larger batches are split, because the JVM loads each batch as a whole."""
BATCHES_AHEAD = 2
_POLL_MS = 100
"""Interval in ms at which positions are checked. Positions also move past markers and gaps, which yield no records."""
_CHECK_AFTER_S = 1.0
"""Seconds without progress after which the task checks whether the records still exist."""


def read_task(
    options: ReadOptions,
    columns: Sequence[str],
    ranges: Sequence[OffsetRange],
    not_null: Collection[str] = (),
    typed: "TypedRead | None" = None,
) -> Iterator["pyarrow.RecordBatch"]:
    """Return exactly the records of the ranges, as Arrow batches of up to 8 MiB with Spark's types.

    Arguments:
        options: the options of the read.
        columns: the names of the columns (`options.columns`), in order.
        ranges: the ranges to read, at most one for each partition.
        not_null: columns that the batches' schema declares as not null; Spark compares it with its own schema.
        typed: how to decode keys and values; None if they are bytes.

    Raises `KafkaTimeoutError` if no data arrives in time, `DataLossError` if data is missing and `failOnDataLoss` is
    true, `RecordTimeError` for a timestamp that Spark cannot represent, `RecordDecodingError` for a key or value that
    cannot be decoded, and the consumer's errors. Each error names the topic, partition and offset.
    """
    if not ranges:
        return iter(())
    return _read(options, tuple(columns), tuple(ranges), not_null, typed)


def _read(
    options: ReadOptions,
    columns: tuple[str, ...],
    ranges: tuple[OffsetRange, ...],
    not_null: Collection[str],
    typed: "TypedRead | None",
) -> Iterator["pyarrow.RecordBatch"]:
    times = RecordTimes(options.invalid_time_as_null, options.max_time_ahead_ms)
    with CONSUMERS.borrow(options.configs) as consumer, ClusterLookup(options, consumer) as lookup:
        fetch = RangeFetch(consumer, lookup, options, ranges)
        try:
            yield from prefetched(lambda: _batches(fetch.columns(), columns, not_null, times, typed), BATCHES_AHEAD)
        except Exception as error:
            error.add_note(f"while reading {describe(ranges)} of Kafka for Spark")
            raise
        finally:
            consumer.assign([])


def _batches(
    found: Iterator["Columns"],
    names: Sequence[str],
    not_null: Collection[str],
    times: RecordTimes,
    typed: "TypedRead | None",
) -> Iterator["pyarrow.RecordBatch"]:
    if typed is None:
        return to_batches(found, names, not_null, times)
    raw = to_batches(found, typed.raw_columns(names), not_null, times)
    return typed.decoder(names, not_null).batches(raw)


class RangeFetch:
    """Fetches offset ranges until every position has reached the end of its range.

    Positions determine the end, not the number of records, because transaction markers and compaction leave gaps.

    Arguments:
        consumer: a consumer that has no group and raises an error if an offset is out of range.
        lookup: queries the cluster if no records arrive.
        options: the options of the read.
        ranges: the ranges to read, at most one for each partition.
        clock: returns the time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        consumer: "KafkaConsumer",
        lookup: OffsetLookup,
        options: ReadOptions,
        ranges: Sequence[OffsetRange],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._consumer = consumer
        self._lookup = lookup
        self._options = options
        self._loss = DataLoss(options.fail_on_data_loss)
        self._open = {each.topic_partition: each for each in ranges}
        self._positions = {each.topic_partition: each.start for each in ranges}
        self._topic_ids = {each.topic: UUID(each.topic_id) for each in ranges if each.topic_id is not None}
        self._clock = clock
        self._sleep = sleep

    def columns(self) -> Iterator["Columns"]:
        """Yield the fetched records, limited to the ranges."""
        consumer = self._consumer
        consumer.assign(list(self._open))
        for partition, each in self._open.items():
            consumer.seek(partition, each.start)
        moved = checked = self._clock()
        while self._open:
            found, out_of_range = self._poll()
            self._leave_out_made_again(found)
            for partition, columns in found.items():
                if partition in self._open:
                    yield from _cut(self._planned(columns, self._open[partition]))
            if self._has_moved():
                moved = checked = self._clock()
            elif out_of_range or self._clock() - checked >= _CHECK_AFTER_S:
                self._skip_lost(out_of_range)
                checked = self._clock()
                if self._has_moved():
                    moved = checked
                self._check_time(moved)

    def _poll(self) -> tuple[dict[TopicPartition, "Columns"], Collection[TopicPartition]]:
        """Return the fetched records, and the partitions whose offset is out of range."""
        try:
            return self._consumer.poll_columns(timeout_ms=_POLL_MS), ()
        except OffsetOutOfRangeError as error:
            return {}, set(error.args[0])
        except LogTruncationError as error:
            divergent: Any = error.divergent_offsets
            for each in divergent:
                if each in self._open:
                    self._give_up(each, f"but: {error}")
                else:  # the range is finished; a seek clears the error
                    self._consumer.seek(each, self._consumer.position(each))
            return {}, ()
        except UnknownTopicOrPartitionError:  # the partition may be new to the broker; `_skip_lost` checks that
            self._sleep(_POLL_MS / 1_000)
            return {}, ()

    def _leave_out_made_again(self, found: dict[TopicPartition, "Columns"]) -> None:
        """Drop records of recreated topics, which the next micro-batch reads from the beginning.

        Since Kafka 3.1, fetches use topic ids. With earlier versions, records from a recreated topic are accepted until
        its new id is known.
        """
        if not self._topic_ids:
            return
        now = self._consumer._core.client.metadata
        others = {topic for topic, before in self._topic_ids.items() if is_another_topic(before, now.topic_id(topic))}
        for topic in others:
            del self._topic_ids[topic]
            for each in [each for each in self._open if each.topic == topic]:
                found.pop(each, None)
                self._give_up(each, "but its topic was deleted and recreated after the micro-batch was planned")

    def _planned(self, columns: "Columns", whole: OffsetRange) -> "Columns":
        """Return the records within the range.

        Records of a later leader epoch have replaced the planned records, and are dropped.
        """
        count = len(columns)
        if count and columns.offsets[count - 1] >= whole.stop:
            columns = columns.slice(0, bisect.bisect_left(columns.offsets, whole.stop))
        epoch = whole.leader_epoch
        if epoch is None or columns.leader_epoch <= epoch:
            return columns
        later = next(((first, found) for first, _, found, _ in columns.runs() if found > epoch), None)
        if later is None:  # only markers belong to later epochs
            return columns
        self._give_up(
            whole.topic_partition,
            f"but its log was truncated by an unclean leader election: offset {columns.offsets[later[0]]} contains a "
            f"record of leader epoch {later[1]}, and the micro-batch was planned in leader epoch {epoch}",
        )
        return columns.slice(0, later[0])

    def _give_up(self, partition: TopicPartition, why: str) -> None:
        """Report that the remaining records of a range are lost, and end the range.

        The next micro-batch determines where the log was truncated.
        """
        self._report(partition, self._positions[partition], why)
        self._consumer.seek(partition, self._open[partition].stop)

    def _has_moved(self) -> bool:
        """Close finished ranges; return whether a position has changed, possibly because of markers and gaps."""
        before, self._positions = self._positions, {each: self._consumer.position(each) for each in self._open}
        has_moved = self._positions != before
        done = [each for each, position in self._positions.items() if position >= self._open[each].stop]
        for each in done:
            del self._open[each], self._positions[each]
        if done and self._open:
            self._consumer.pause(*done)
        return has_moved

    def _check_time(self, moved: float) -> None:
        if (self._clock() - moved) * 1_000 < self._options.poll_timeout_ms:
            return
        waiting = ", ".join(
            f"{each.topic}-{each.partition} at offset {self._consumer.position(each)} of {whole}"
            for each, whole in list(self._open.items())[:8]
        )
        raise KafkaTimeoutError(
            f"no records arrived for {self._options.poll_timeout_ms} ms (option kafkaConsumer.pollTimeoutMs) from "
            f"{waiting}"
            + (meanwhile(self._consumer.health().failing) or "; is the leader of that partition reachable?")
        )

    def _skip_lost(self, out_of_range: Collection[TopicPartition]) -> None:
        """If a log no longer contains the planned records, raise an error or skip them, according to `failOnDataLoss`.

        A partition that is only waiting for records is left alone, because a seek, even to the same position, drops
        the pending response.
        """
        partitions = list(self._open)
        first = self._lookup.earliest(partitions)
        last = self._lookup.latest(first.keys(), {})
        for each in partitions:
            whole, position = self._open[each], self._consumer.position(each)
            if each not in first or each not in last:
                self._report(each, position, "but it no longer exists")
                del self._open[each]
                self._consumer.pause(each)
            elif position < first[each]:
                self._report(each, position, f"but its log begins at {first[each]}")
                self._consumer.seek(each, min(first[each], whole.stop))
            elif whole.stop > last[each] and position >= last[each]:
                self._report(each, position, f"up to {whole.stop}, but its log ends at {last[each]}")
                self._consumer.seek(each, whole.stop)
            elif each in out_of_range:
                self._consumer.seek(each, position)

    def _report(self, partition: TopicPartition, position: int, what: str) -> None:
        self._loss.report(f"{partition.topic}-{partition.partition} was to be read from offset {position}, {what}")


def _cut(columns: "Columns") -> Iterator["Columns"]:
    """Split columns into pieces of at most `LARGEST_BATCH` bytes, except for single records."""
    count = len(columns)
    if count == 0:
        return
    if count == 1 or columns.nbytes <= LARGEST_BATCH:
        yield columns
        return
    yield from _cut(columns.slice(0, count // 2))
    yield from _cut(columns.slice(count // 2, count))


def to_batches(
    found: Iterator["Columns"],
    names: Sequence[str],
    not_null: Collection[str] = (),
    times: RecordTimes | None = None,
) -> Iterator["pyarrow.RecordBatch"]:
    """Convert columns to Arrow batches; small ones are merged up to `SMALLEST_BATCH` bytes.

    Raises `RecordTimeError` for an unsupported timestamp, unless `times` reads it as null.
    """
    import pyarrow as pa

    from kafka.record import arrow_schema, concat_arrow

    schema = pa.schema([each.with_nullable(each.name not in not_null) for each in arrow_schema(names, "spark")])

    checked = times or RecordTimes()
    arrow = (checked.to_arrow(columns, names) for columns in found)
    for together in coalesced(arrow, SMALLEST_BATCH):
        yield pa.RecordBatch.from_arrays(concat_arrow(together).columns, schema=schema)
