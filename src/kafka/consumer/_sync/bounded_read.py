# Written by scripts/twins.py from kafka/consumer/_async/bounded_read.py: change that file, not this one.
"""Reads the records that topics contain at the time of the call, and then ends.

`_find_ranges` determines the offsets to read.
"""

from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack
from uuid import UUID

from kafka._loop_services import wall_clock_ns
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.config import ConsumerConfigs
from kafka.config.option import nearest
from kafka.consumer.arguments import check_timeout
from kafka.consumer.bounds import (
    WHERE_TOPICS_ARE,
    Bound,
    Edge,
    Losses,
    OffsetRange,
    OnMissing,
    Parsed,
    Time,
    Topics,
    before,
    check_options,
    nothing_came,
    parse_bound,
    parse_last,
    parse_on_missing,
    parse_topics,
)
from kafka.consumer.kafka_consumer import KafkaConsumer
from kafka.consumer.records.read_display import (
    PREVIEW_MS,
    SMALL_FETCHES,
    arrow_rows,
    first_ranges,
    read_html,
    record_rows,
)
from kafka.consumer.records.typed_columns import Stop, TypedColumns, check_installed, exact_frame, settled
from kafka.display.progress_bar import ProgressReport, Tell
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaTimeoutError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)
from kafka.formats.column_io import ReadAs, SchemaNeeded
from kafka.record import Columns, ConsumerRecord
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_POLL_MS = 50
"""The interval at which positions are checked, because moving past markers and gaps does not wake the reader."""
_ADVICE = "on_deserialization_error='skip' leaves it out, and error_columns=True keeps its row"


def read(
    topics: Topics,
    *,
    start: Bound = "earliest",
    end: Bound = "latest",
    last: int | None = None,
    progress: bool | Tell = False,
    timeout_ms: float = 60_000,
    on_missing: OnMissing = "raise",
    key: "ReadAs | None" = None,
    value: "ReadAs | None" = None,
    error_columns: bool = False,
    **configs: Unpack[ConsumerConfigs],
) -> "BoundedRead":
    """Read a snapshot of topics: exactly the records that they contain now, within bounds.

    This call looks up the offsets; records written later are not read. The read commits nothing and uses no group.

    Arguments:
        topics: a topic, a `TopicPartition`, or several of them.
        start: where to begin: an offset (for each partition), a dict of `TopicPartition` to offset, a `datetime` (local
            time if it has no time zone), a `timedelta` before now, "earliest" or "latest". An offset outside the log is
            replaced by the nearer end of the log. Partitions missing from a dict are read from the beginning.
        end: where to stop, in the same forms; exclusive. A time stops each partition before its first record with that
            timestamp or a later one, as Kafka resolves times to offsets.
        last: maximum number of records per partition, counted back from the end.
        progress: True shows a progress bar (requires Rich); a function is called with the number of offsets read and
            the total.
        timeout_ms: longest time without progress before a read fails, in milliseconds.
        on_missing: how to handle records that are deleted (by retention, `delete_records`, or with their topic) after
            this call and before they are read. "raise": the read fails with `OffsetOutOfRangeError`, which names them;
            "skip": it continues with the remaining records, logs a warning, and counts the missing ones in ``missing``.
        key: decodes keys to a typed Arrow column, as in `poll_arrow`. Used for batches and tables; iteration over
            records uses the deserializers instead.
        value: the same for values.
        error_columns: as in `poll_arrow`.
        configs: options of `KafkaConsumer`, such as ``bootstrap_servers``, ``isolation_level``, deserializers.

    Returns an `BoundedRead`: iterate over it for records, or convert it to Arrow, pandas or polars.

    Raises `TypeError` or `IllegalArgumentError` for invalid bounds, `UnknownTopicOrPartitionError`,
    `KafkaTimeoutError`, and the consumer's errors.
    """
    check_timeout(timeout_ms)
    check_options(configs)
    on_error = configs.get("on_deserialization_error") or "raise"
    typed = TypedColumns(key, value, error_columns, on_error, _ADVICE)
    chosen, most, skips = parse_topics(topics), parse_last(last), parse_on_missing(on_missing)
    now_ms = wall_clock_ns()() // 1_000_000
    bounds = parse_bound("start", start, now_ms), parse_bound("end", end, now_ms)
    consumer = _opened(configs)
    try:
        ranges = _find_ranges(consumer, chosen, *bounds)
        metadata = consumer._core.client.metadata
        ids = {tp.topic: metadata.topic_id(tp.topic) for tp in ranges}
        read = BoundedRead(consumer, configs, ranges, progress, timeout_ms, skips, ids, typed)
        if most is not None:
            read._keep_last(most)
    except BaseException:
        consumer.close()
        raise
    return read


def _opened(configs: Mapping[str, Any]) -> KafkaConsumer:
    """Return a started consumer; the asyncio one starts when its block is entered."""
    creates = {"allow_auto_create_topics": False}  # otherwise a topic that was just deleted would be recreated
    recreated = {"on_topic_recreated": "continue"}  # `Losses` detects recreated topics by their ids
    options: Any = {**creates, **configs, **recreated, "auto_offset_reset": "none", "enable_auto_commit": False}
    consumer = KafkaConsumer(**options).__enter__()
    consumer._core.history.is_told_elsewhere = True
    return consumer


class BoundedRead:
    """The records between two offsets in each partition, as determined by `read`.

    Arguments:
        consumer: used by the first iteration, and closed at its end.
        configs: the options for the consumer of each later iteration.
        ranges: the offsets to read from each partition.
        progress: see `read`.
        timeout_ms: longest time without progress, in milliseconds.
        skips: whether missing records are skipped and counted.
        topic_ids: ids of the topics, if brokers have topic ids.
        typed: converts columns to Arrow batches.

    Iterate over it for `ConsumerRecord` objects, which are in order within each partition. Each iteration, and each of
    the methods below, reads from the start and closes the consumer at its end. Only one may run at a time.

    `ranges` contains the offsets to read from each partition; some offsets have no record because of compaction and
    transactions. `missing` contains the number of offsets that the latest iteration found deleted.

    Raises `OffsetOutOfRangeError` if offsets to be read were deleted in the meantime (unless ``on_missing="skip"``),
    `LogTruncationError` if a log was truncated, `KafkaTimeoutError` if there is no progress for ``timeout_ms``.
    """

    def __init__(
        self,
        consumer: KafkaConsumer,
        configs: Mapping[str, Any],
        ranges: dict[TopicPartition, OffsetRange],
        progress: bool | Tell,
        timeout_ms: float,
        skips: bool,
        topic_ids: Mapping[str, UUID | None],
        typed: TypedColumns,
    ) -> None:
        ProgressReport(progress, 0, "reading")  # raises early if the argument is invalid
        self._consumer: KafkaConsumer | None = consumer
        self._configs = dict(configs)
        self._progress = progress
        self._timeout_ms = timeout_ms
        self._skips = skips
        self._topic_ids = topic_ids
        self._losses = Losses(skips, topic_ids)
        self._typed = typed
        self._reading = False
        self.ranges = ranges

    def __repr__(self) -> str:
        total = sum(each.end - each.start for each in self.ranges.values())
        missing = sum(self._losses.missing.values())
        gone = f", {missing} of them missing" if missing else ""
        return f"{type(self).__name__}({len(self.ranges)} partitions, {total} offsets{gone})"

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display: the first rows with their types, and the offsets to read.

        The synchronous read fetches the rows with a separate consumer, for a few seconds at most; it neither waits for
        nor affects an iteration. Never raises.
        """
        return read_html(type(self).__name__, self.ranges, self._first_rows)

    def _first_rows(self, most: int) -> list[Mapping[str, Any]]:
        """Return the first rows as mappings: of Arrow batches for typed columns, otherwise of records."""
        configs = {**self._configs, **SMALL_FETCHES}
        preview = BoundedRead(_opened(configs), configs, {}, False, PREVIEW_MS, True, self._topic_ids, self._typed)
        rows: list[Mapping[str, Any]] = []
        with closing(preview._columns(first_ranges(self.ranges, most), False)) as found:
            for columns in found:
                part, consumer = columns.slice(0, most), preview._consumer
                if self._typed.is_typed:
                    rows += arrow_rows((preview._batch([part]))[0])
                elif consumer is not None:
                    records, failure = consumer._materializer.of_columns(part)
                    rows += record_rows(records)
                    if failure is not None and not rows:
                        raise failure.error
                if len(rows) >= most:
                    break
        return rows

    @property
    def missing(self) -> dict[TopicPartition, int]:
        """The number of deleted offsets that the latest iteration found, for each partition that has any.

        Some of these offsets may never have had a record. The dict is empty before the first iteration, and always with
        ``on_missing="raise"``.
        """
        return dict(self._losses.missing)

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """Iterate over the records. Raises `RecordDeserializationError` for a key or value that cannot be deserialized,
        and `IllegalStateError` if ``key`` or ``value`` request typed columns, which records do not have.
        """
        if self._typed.is_typed:
            raise IllegalStateError(
                "key= and value= create typed columns: use batches(), to_arrow(), to_pandas() or to_polars(); for "
                "records pass value_deserializer, such as an AvroDeserializer"
            )
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
        """Iterate over `Columns`, each from one partition, as `KafkaConsumer.poll_columns` returns them."""
        with closing(self._columns(self.ranges, self._progress)) as found:
            for columns in found:
                yield columns

    def batches(self) -> "Generator[pyarrow.RecordBatch]":
        """Iterate over Arrow batches, each from one partition, with the columns of `poll_arrow`.

        Requires the extra "arrow".

        Raises `RecordDeserializationError` for a typed key or value that cannot be decoded, after the rows before it.
        """
        check_installed("batches()", "pyarrow")
        with closing(self._columns(self.ranges, self._progress)) as found:
            for columns in found:
                batch, stop = self._batch([columns])
                if batch.num_rows:
                    yield batch
                if stop is not None:
                    raise stop.error

    def _batch(self, columns: list[Columns]) -> tuple[Any, Stop | None]:
        """Convert columns to an Arrow batch; see `TypedColumns.of`."""
        while True:
            try:
                return self._typed.of(columns)
            except SchemaNeeded as needed:
                settled(needed.look_up())

    def to_arrow(self) -> "pyarrow.Table":
        """Read everything into one Arrow table, partition by partition, with the columns of `poll_arrow`.

        Raises `ImportError` if pyarrow, the extra "arrow", is not installed.
        """
        check_installed("to_arrow()", "pyarrow")
        import pyarrow

        found = [batch for batch in self.batches()]
        return pyarrow.Table.from_batches(found or [(self._batch([]))[0]])

    def to_pandas(self) -> "pandas.DataFrame":
        """Read everything into a pandas data frame. Raises `ImportError` if pyarrow or pandas is not installed.

        Integer columns with nulls get a nullable type of pandas, such as ``Int64``.
        """
        check_installed("to_pandas()", "pyarrow", "pandas")
        return exact_frame(self.to_arrow())

    def to_polars(self) -> "polars.DataFrame":
        """Read everything into a polars data frame. Raises `ImportError` if pyarrow or polars is not installed."""
        check_installed("to_polars()", "pyarrow", "polars")
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def close(self) -> None:
        """Close the consumer, if there is one; an iteration in progress fails."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()

    def __enter__(self) -> Self:
        """Return this object, which is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the read."""
        self.close()

    def _keep_last(self, most: int) -> None:
        """Move the start of each range to ``most`` records before its end.

        Some or all offsets may have no record, so the records have to be counted. Each round starts twice as far back.
        A range of at most ``most`` offsets is left unchanged.
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
        self._losses = Losses(self._skips, self._topic_ids)

    def _columns(self, ranges: Mapping[TopicPartition, OffsetRange], progress: bool | Tell) -> Generator[Columns]:
        """Iterate over the columns that the ranges contain."""
        if self._reading:
            raise IllegalStateError(
                "this bounded read is already being iterated over: finish that, or call kafka.read() again"
            )
        self._reading = True
        self._losses = Losses(self._skips, self._topic_ids)
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
        """Iterate over columns until all positions reach the ends of their ranges.

        Counting records would not work, because markers and compaction leave gaps.
        """
        left = {tp: each for tp, each in ranges.items() if each.start < each.end}
        consumer.assign(left)
        for tp, each in left.items():
            consumer.seek(tp, each.start)
        total, done, waited_ms = sum(each.end - each.start for each in left.values()), -1, 0.0
        at = {tp: each.start for tp, each in left.items()}
        while left:
            found = self._poll(consumer, left)
            if self._losses.in_doubt:
                consumer.bootstrap(self._timeout_ms, refresh=True)
            finished = self._without_deleted_topics(consumer._core.client.metadata, left, at, found)
            for tp, columns in found.items():
                if tp in left and (cut := before(columns, left[tp].end)) is not None:
                    yield cut
            at = {tp: consumer.position(tp) for tp in left}
            last_done, done = done, total - sum(max(0, left[tp].end - at[tp]) for tp in left)
            waited_ms = waited_ms + _POLL_MS if done == last_done else 0.0
            if waited_ms >= self._timeout_ms:
                raise KafkaTimeoutError(nothing_came(self._timeout_ms, left, at, consumer.health()))
            finished += [tp for tp in left if at[tp] >= left[tp].end]
            for tp in finished:
                left.pop(tp, None)
            if finished and left:
                consumer.pause(*finished)
            report.reached(done)

    def _without_deleted_topics(
        self,
        metadata: ClusterMetadata,
        left: dict[TopicPartition, OffsetRange],
        at: Mapping[TopicPartition, int],
        found: dict[TopicPartition, Columns],
    ) -> list[TopicPartition]:
        """Remove partitions of deleted topics from ``left``, and return them.

        Data received for a recreated topic may belong to the new topic and is dropped. Data received for a deleted
        topic is still read.
        """
        losses = self._losses
        topics = losses.look_for({tp.topic for tp in left}, metadata)
        if not topics:
            return []
        again = {topic for topic in topics if losses.made_again(topic, metadata)}
        for tp in [tp for tp in found if tp.topic in again]:
            del found[tp]
        deleted = [tp for tp in left if tp.topic in topics and tp not in found]
        losses.leave_out({tp: OffsetRange(at[tp], left[tp].end) for tp in deleted}, "their topic was deleted")
        for tp in deleted:
            del left[tp]
        return deleted

    def _poll(
        self, consumer: KafkaConsumer, left: Mapping[TopicPartition, OffsetRange]
    ) -> dict[TopicPartition, Columns]:
        try:
            return consumer.poll_columns(timeout_ms=_POLL_MS)
        except OffsetOutOfRangeError as error:
            self._pass_over_deleted(consumer, left, error)
            return {}

    def _pass_over_deleted(
        self, consumer: KafkaConsumer, left: Mapping[TopicPartition, OffsetRange], error: OffsetOutOfRangeError
    ) -> None:
        """Continue after records that were deleted from the start of a log."""
        consumer.bootstrap(self._timeout_ms, refresh=True)
        metadata = consumer._core.client.metadata
        there = [tp for tp in left if metadata.partition_metadata(tp) is not None]
        if len(there) < len(left) or any(self._losses.made_again(tp.topic, metadata) for tp in there):
            return  # a topic was deleted; the caller checks for that anyway, and until then the error is raised again
        first = consumer.beginning_offsets(there)
        at = {tp: consumer.position(tp) for tp in there}
        gone = {tp: OffsetRange(at[tp], min(first[tp], left[tp].end)) for tp in there if at[tp] < first[tp]}
        if not gone:
            raise error
        try:
            self._losses.leave_out(gone, "deleted")
        except OffsetOutOfRangeError as described:
            raise described from error
        for tp, each in gone.items():
            consumer.seek(tp, each.end)


def _find_ranges(
    consumer: KafkaConsumer, topics: list[str | TopicPartition], start: Parsed, end: Parsed
) -> dict[TopicPartition, OffsetRange]:
    """Return the offsets to read from each partition."""
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
    """Return the offset of a bound in each partition, limited to the offsets of the partition's log."""
    if bound is Edge.EARLIEST or bound is Edge.LATEST:
        return dict(first if bound is Edge.EARLIEST else last)
    if isinstance(bound, Time):
        found = consumer.offsets_for_times(dict.fromkeys(first, bound.timestamp_ms))
        wanted = {tp: last[tp] if each is None else each.offset for tp, each in found.items()}
    elif isinstance(bound, dict):
        strangers = [tp for tp in bound if tp not in first]
        if strangers:
            raise IllegalArgumentError(f"{name} contains {strangers[0]!r}, which is not among the partitions to read")
        wanted = {tp: bound.get(tp, default[tp]) for tp in first}
    else:
        assert isinstance(bound, int)
        wanted = dict.fromkeys(first, bound)
    return {tp: max(first[tp], min(offset, last[tp])) for tp, offset in wanted.items()}
