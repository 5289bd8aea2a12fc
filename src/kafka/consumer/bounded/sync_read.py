# Written by scripts/twins.py from kafka/consumer/bounded/async_read.py: change that file, not this one.
"""Reads what topics hold at the moment of the call, and then ends."""

import bisect
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from kafka._loop_services import wall_clock_ns
from kafka.config import ConsumerConfigs
from kafka.config.option import nearest
from kafka.consumer.arguments import check_timeout
from kafka.consumer.bounded.bounds import (
    WHERE_TOPICS_ARE,
    Bound,
    Edge,
    OffsetRange,
    Parsed,
    Time,
    Topics,
    check_options,
    parse_bound,
    parse_last,
    parse_topics,
)
from kafka.consumer.bounded.frames import check_installed
from kafka.consumer.kafka_consumer import KafkaConsumer
from kafka.display.progress import ProgressReport, Tell
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaTimeoutError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)
from kafka.record import Columns, ConsumerRecord, decode_batches
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_POLL_MS = 50
"""Positions are looked at so often, as they also move over markers and gaps, which wake nobody."""
_TIMEOUT_MS = 60_000


def read(
    topics: Topics,
    *,
    start: Bound = "earliest",
    end: Bound = "latest",
    last: int | None = None,
    progress: bool | Tell = False,
    timeout_ms: float = _TIMEOUT_MS,
    **configs: Unpack[ConsumerConfigs],
) -> "BoundedRead":
    """Take a snapshot of topics: exactly the records that they hold now, within bounds, and then the end.

    The offsets are found in this call; what is written later is not read. Nothing is committed, and there is no group.

    Arguments:
        topics: a topic, a `TopicPartition`, or several of them.
        start: where to begin: an offset (of each partition), a dict of `TopicPartition` to offset, a `datetime` (local
            where it has no time zone), a `timedelta` before now, "earliest" or "latest". An offset that a log no longer
            has, or does not have yet, means its nearer end. What a dict leaves out is read from the beginning.
        end: where to stop, likewise; the offset or time itself is not read. With a time, the first record that is not
            older, and all behind it, are left out, as Kafka looks times up.
        last: at most so many records of each partition, the last ones between start and end.
        progress: True shows a bar (needs Rich); a function is called with the number of offsets done and in all.
        timeout_ms: without progress for so long, a read fails.
        configs: options of `KafkaConsumer`, such as ``bootstrap_servers``, ``isolation_level``, deserializers (for
            records; Arrow has the bytes).

    What it returns, `BoundedRead`, is iterated over for records, or asked for Arrow, pandas or polars.

    Raises `TypeError` or `IllegalArgumentError` for bounds that are none, `UnknownTopicOrPartitionError`,
    `KafkaTimeoutError`, and what the consumer raises.
    """
    check_timeout(timeout_ms)
    check_options(configs)
    chosen, most = parse_topics(topics), parse_last(last)
    now_ms = wall_clock_ns()() // 1_000_000
    bounds = parse_bound("start", start, now_ms), parse_bound("end", end, now_ms)
    consumer = _opened(configs)
    try:
        ranges = _find_ranges(consumer, chosen, *bounds)
        read = BoundedRead(consumer, configs, ranges, progress, timeout_ms)
        if most is not None:
            read._keep_last(most)
    except BaseException:
        consumer.close()
        raise
    return read


def _opened(configs: Mapping[str, Any]) -> KafkaConsumer:
    """A consumer that has been started, which an asyncio one is where a block with it begins."""
    options: Any = {**configs, "auto_offset_reset": "none", "enable_auto_commit": False}
    return KafkaConsumer(**options).__enter__()


def _find_ranges(
    consumer: KafkaConsumer, topics: list[str | TopicPartition], start: Parsed, end: Parsed
) -> dict[TopicPartition, OffsetRange]:
    """What is to be read of each partition."""
    partitions = []
    for each in topics:
        name = each if isinstance(each, str) else each.topic
        there = consumer.partitions_for_topic(name)
        if not there:
            hint = nearest(name, sorted(consumer.topics())) or f"; {WHERE_TOPICS_ARE}"
            raise UnknownTopicOrPartitionError(f"there is no topic {name!r} to read{hint}")
        if isinstance(each, str):
            partitions += [TopicPartition(name, number) for number in sorted(there)]
        elif each.partition in there:
            partitions.append(each)
        else:
            raise UnknownTopicOrPartitionError(
                f"topic {name!r} has the partitions {', '.join(map(str, sorted(there)))}, but not {each.partition}"
            )
    partitions = list(dict.fromkeys(partitions))
    first, last = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
    starts = _offsets(consumer, "start", start, first, last, first)
    ends = _offsets(consumer, "end", end, first, last, last)
    return {tp: OffsetRange(starts[tp], max(starts[tp], ends[tp])) for tp in partitions}


def _offsets(
    consumer: KafkaConsumer,
    name: str,
    bound: Parsed,
    first: Mapping[TopicPartition, int],
    last: Mapping[TopicPartition, int],
    default: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int]:
    """The offset of a bound in each partition, within its log."""
    if bound is Edge.EARLIEST or bound is Edge.LATEST:
        return dict(first if bound is Edge.EARLIEST else last)
    if isinstance(bound, Time):
        found = consumer.offsets_for_times(dict.fromkeys(first, bound.timestamp_ms))
        wanted = {tp: last[tp] if each is None else each.offset for tp, each in found.items()}
    elif isinstance(bound, dict):
        strangers = [tp for tp in bound if tp not in first]
        if strangers:
            raise IllegalArgumentError(f"{name} has {strangers[0]!r}, which is not among the partitions to read")
        wanted = {tp: bound.get(tp, default[tp]) for tp in first}
    else:
        assert isinstance(bound, int)
        wanted = dict.fromkeys(first, bound)
    return {tp: max(first[tp], min(offset, last[tp])) for tp, offset in wanted.items()}


class BoundedRead:
    """The records between two offsets of each partition, as they were when `read` was called.

    Arguments:
        consumer: reads, and is closed at the end of the first iteration.
        configs: the options from which the consumer of each later iteration is made.
        ranges: the offsets of each partition.
        progress: see `read`.
        timeout_ms: how long a read waits while nothing comes.

    Iterate over it for `ConsumerRecord` objects: those of a partition are in order. Each iteration, and each of the
    methods below, reads from the start; one after the other, not two at a time. The consumer is closed at the end of
    each.

    `ranges` has the offsets of each partition; compaction and transactions leave some of them without a record.

    Raises `OffsetOutOfRangeError` where a log has lost offsets meanwhile that were to be read, `KafkaTimeoutError`
    where nothing comes for ``timeout_ms``.
    """

    def __init__(
        self,
        consumer: KafkaConsumer,
        configs: Mapping[str, Any],
        ranges: dict[TopicPartition, OffsetRange],
        progress: bool | Tell,
        timeout_ms: float,
    ) -> None:
        ProgressReport(progress, 0, "reading")  # what it cannot be is said at once
        self._consumer: KafkaConsumer | None = consumer
        self._configs = dict(configs)
        self._progress = progress
        self._timeout_ms = timeout_ms
        self._reading = False
        self.ranges = ranges

    def __repr__(self) -> str:
        total = sum(each.end - each.start for each in self.ranges.values())
        return f"{type(self).__name__}({len(self.ranges)} partitions, {total} offsets)"

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """The records, one by one. Raises `RecordDeserializationError` for one whose key or value cannot be read."""
        with closing(self._columns(self.ranges, self._progress)) as found:
            for columns in found:
                consumer = self._consumer
                if consumer is None:
                    raise IllegalStateError("this bounded read was closed while it was being read")
                records, failure = consumer._materializer.of_columns(columns)
                for record in records:
                    yield record
                if failure is not None:
                    raise failure.error

    def columns(self) -> Generator[Columns]:
        """Columns, each of one partition, as of `poll_columns`."""
        with closing(self._columns(self.ranges, self._progress)) as found:
            for columns in found:
                yield columns

    def batches(self) -> "Generator[pyarrow.RecordBatch]":
        """Arrow batches, each of one partition, with the columns of `poll_arrow`. Needs the extra "arrow"."""
        check_installed("batches()", "pyarrow")
        with closing(self._columns(self.ranges, self._progress)) as found:
            for columns in found:
                yield columns.to_arrow()

    def to_arrow(self) -> "pyarrow.Table":
        """All of it as one Arrow table, with the columns of `poll_arrow`, partition by partition in the order read.

        Raises `ImportError` where pyarrow, the extra "arrow", is not installed.
        """
        check_installed("to_arrow()", "pyarrow")
        import pyarrow

        found = [batch for batch in self.batches()]
        return pyarrow.Table.from_batches(found or [decode_batches(b"").to_arrow()])

    def to_pandas(self) -> "pandas.DataFrame":
        """All of it as a pandas data frame. Raises `ImportError` where pyarrow or pandas is not installed."""
        check_installed("to_pandas()", "pyarrow", "pandas")
        return (self.to_arrow()).to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """All of it as a polars data frame. Raises `ImportError` where pyarrow or polars is not installed."""
        check_installed("to_polars()", "pyarrow", "polars")
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def close(self) -> None:
        """Close the consumer, if there is one; a read that is under way fails."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()

    def __enter__(self) -> Self:
        """The read itself, which is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _keep_last(self, most: int) -> None:
        """Move the start of each range to so many records before its end.

        Offsets without a record are many or none, so it is counted: what begins twice as far back each time. A range
        of no more offsets has no more records.
        """
        whole = self.ranges
        counted = {tp: each for tp, each in whole.items() if each.end - each.start <= most}
        back = {tp: most for tp in whole if tp not in counted}
        while back:
            tail = {
                tp: OffsetRange(max(whole[tp].start, whole[tp].end - each), whole[tp].end) for tp, each in back.items()
            }
            offsets: dict[TopicPartition, deque[int]] = {tp: deque(maxlen=most) for tp in tail}
            for columns in self._columns(tail, False):
                offsets[TopicPartition(columns.topic, columns.partition)] += columns.offsets
            for tp, each in tail.items():
                if len(offsets[tp]) == most:
                    counted[tp] = OffsetRange(offsets[tp][0], each.end)
                elif each.start == whole[tp].start:
                    counted[tp] = each
            back = {tp: 2 * each for tp, each in back.items() if tp not in counted}
        self.ranges = {tp: counted[tp] for tp in whole}

    def _columns(self, ranges: Mapping[TopicPartition, OffsetRange], progress: bool | Tell) -> Generator[Columns]:
        """What the ranges hold, cut to them."""
        if self._reading:
            raise IllegalStateError(
                "this bounded read is being read already: go on with that, or call kafka.read() again"
            )
        self._reading = True
        try:
            total = sum(each.end - each.start for each in ranges.values())
            with ProgressReport(progress, total, "reading") as report:
                if self._consumer is None:
                    self._consumer = _opened(self._configs)
                with closing(self._between(self._consumer, ranges, report)) as found:
                    for columns in found:
                        yield columns
        finally:
            self._reading = False
            self.close()

    def _between(
        self, consumer: KafkaConsumer, ranges: Mapping[TopicPartition, OffsetRange], report: ProgressReport
    ) -> Generator[Columns]:
        """The end is known by position, not by counting records: markers and compaction leave gaps."""
        left = {tp: each for tp, each in ranges.items() if each.start < each.end}
        consumer.assign(left)
        for tp, each in left.items():
            consumer.seek(tp, each.start)
        total, done, waited_ms = sum(each.end - each.start for each in left.values()), -1, 0.0
        while left:
            for tp, columns in (self._poll(consumer, left)).items():
                if tp in left and (cut := _before(columns, left[tp].end)) is not None:
                    yield cut
            at = {tp: consumer.position(tp) for tp in left}
            before, done = done, total - sum(max(0, left[tp].end - at[tp]) for tp in left)
            waited_ms = waited_ms + _POLL_MS if done == before else 0.0
            if waited_ms >= self._timeout_ms:
                raise KafkaTimeoutError(_nothing_came(self._timeout_ms, left, at))
            finished = [tp for tp in left if at[tp] >= left[tp].end]
            for tp in finished:
                del left[tp]
            if finished and left:
                consumer.pause(*finished)
            report.reached(done)

    def _poll(
        self, consumer: KafkaConsumer, left: Mapping[TopicPartition, OffsetRange]
    ) -> dict[TopicPartition, Columns]:
        try:
            return consumer.poll_columns(timeout_ms=_POLL_MS)
        except OffsetOutOfRangeError as error:
            first = consumer.beginning_offsets(left)
            lost = []
            for tp, each in left.items():
                position = consumer.position(tp)
                if position < first[tp]:
                    lost.append(f"{position} to {min(first[tp], each.end) - 1} of {tp.topic}-{tp.partition}")
            if not lost:
                raise
            raise OffsetOutOfRangeError(
                f"offsets {', '.join(lost)} were to be read and are gone: deleted since the read found them"
            ) from error


def _before(columns: Columns, end: int) -> Columns | None:
    """Those before an offset; None if there are none."""
    count = len(columns)
    if count and columns.offsets[count - 1] >= end:
        count = bisect.bisect_left(columns.offsets, end)
        columns = columns.slice(0, count)
    return columns if count else None


def _nothing_came(
    timeout_ms: float, left: Mapping[TopicPartition, OffsetRange], at: Mapping[TopicPartition, int]
) -> str:
    waiting = ", ".join(f"{tp.topic}-{tp.partition} at offset {at[tp]} of {left[tp].end}" for tp in list(left)[:8])
    return f"nothing came for {timeout_ms:g} ms from {waiting}; is the leader of that partition reachable?"
