"""Reading a task's ranges from a fake consumer whose logs are lists."""

import itertools
from collections.abc import Collection

import pyarrow as pa
import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaTimeoutError, LogTruncationError, OffsetOutOfRangeError, UnknownTopicOrPartitionError
from kafka.health import Failure, Health, HealthState
from kafka.record import BatchBuilder, Columns, decode_batches
from kafka.spark.options.parsing import parse_read
from kafka.spark.planning.data_loss import DataLossError
from kafka.spark.planning.ranges import OffsetRange
from kafka.spark.tasks.read_task import (
    _CHECK_AFTER_S,
    _POLL_MS,
    LARGEST_BATCH,
    SMALLEST_BATCH,
    RangeFetch,
    read_task,
    to_batches,
)
from kafka.structs import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def columns_of(
    first: int, count: int, partition: int = 0, size: int = 8, start: int = 0, leader_epoch: int = -1
) -> Columns:
    """Return a batch as the consumer decodes it: offsets from ``first``, without those below ``start``."""
    builder = BatchBuilder(size_limit=1 << 30)
    for number in range(count):
        builder.append(1_000 + number, b"k%d" % (first + number), b"v" * size, [])
    data = bytearray(builder.build(base_offset=first))
    data[12:16] = leader_epoch.to_bytes(4, "big", signed=True)
    return decode_batches(data, topic="t", partition=partition, start_offset=start)


class ListConsumer:
    """A fake consumer and lookup, with the methods that the reader uses.

    ``logs`` contains the batches of each partition: first offset and count. A batch without records is a marker with
    one offset, as at the end of a transaction. ``now`` is a clock that advances while something waits.
    """

    def health(self) -> Health:
        """Return a health report in which a broker refuses requests."""
        failing = (Failure("fetching from broker 1", "LeaderNotAvailableError", "no leader", 0.1),)
        return Health(HealthState.DEGRADED, "c", failing=failing)

    def __init__(self, logs, begins=None, ends=None) -> None:
        self.logs = logs
        self.begins = dict.fromkeys(logs, 0) | (begins or {})
        self.ends = {each: batches[-1][0] + max(1, batches[-1][1]) for each, batches in logs.items()} | (ends or {})
        self.positions: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self.gone: set[TopicPartition] = set()
        self.epochs: dict[int, int] = {}
        """Of the batches that begin at an offset."""
        self.truncations: dict[int, TopicPartition] = {}
        """The partition of which the poll of that number says that its log was cut back."""
        self.polls = 0
        self.lookups = 0
        self.now = 1_000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def assign(self, partitions: Collection[TopicPartition]) -> None:
        self.positions = dict.fromkeys(partitions, -1)
        self.paused = set()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.positions[partition] = offset

    def pause(self, *partitions: TopicPartition) -> None:
        self.paused.update(partitions)

    def position(self, partition: TopicPartition) -> int:
        return self.positions[partition]

    def earliest(self, partitions):
        self.lookups += 1
        return {each: self.begins[each] for each in partitions if each not in self.gone}

    def latest(self, partitions, at_least):
        return {each: self.ends[each] for each in partitions if each not in self.gone}

    def poll_columns(self, timeout_ms: int = 0, max_records: int | None = None) -> dict[TopicPartition, Columns]:
        self.polls += 1
        found = {}
        if self.polls in self.truncations:
            raise LogTruncationError({self.truncations[self.polls]: None}, "the log of partition 0 was truncated")
        if self.gone.intersection(self.positions) - self.paused:
            raise UnknownTopicOrPartitionError("t")
        for each, position in self.positions.items():
            if each in self.paused:
                continue
            if not self.begins[each] <= position <= self.ends[each]:
                raise OffsetOutOfRangeError({each: position})
            for first, count in self.logs[each]:
                stop = first + max(1, count)
                if position < stop <= self.ends[each]:
                    if count:
                        epoch = self.epochs.get(first, -1)
                        found[each] = columns_of(first, count, each.partition, start=position, leader_epoch=epoch)
                    self.positions[each] = stop
                    break
        if not found:
            self.sleep(timeout_ms / 1_000)
        return found


def options(**given: str):
    base = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"}
    return parse_read({**base, **{name.lower(): value for name, value in given.items()}}, streaming=True)


def range_fetch(consumer: ListConsumer, *ranges: OffsetRange, **given: str) -> RangeFetch:
    return RangeFetch(consumer, consumer, options(**given), ranges, clock=lambda: consumer.now, sleep=consumer.sleep)


def fetched(consumer: ListConsumer, *ranges: OffsetRange, **given: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for columns in range_fetch(consumer, *ranges, **given).columns():
        found.setdefault(columns.partition, []).extend(columns.offsets)
    return found


def test_exactly_the_ranges_are_read():
    consumer = ListConsumer({T0: [(0, 10), (10, 10), (20, 10)], T1: [(0, 5), (5, 50)]})
    assert fetched(consumer, OffsetRange("t", 0, 7, 23), OffsetRange("t", 1, 0, 6)) == {
        0: list(range(7, 23)),
        1: list(range(6)),
    }


def test_a_finished_partition_is_not_fetched_further():
    consumer = ListConsumer({T0: [(0, 10), (10, 10), (20, 10)], T1: [(0, 1)]})
    fetched(consumer, OffsetRange("t", 0, 0, 30), OffsetRange("t", 1, 0, 1))
    assert consumer.paused == {T1}
    assert consumer.polls == 3


def test_gaps_and_markers_at_the_end_do_not_delay_the_task():
    consumer = ListConsumer({T0: [(0, 3), (9, 2), (11, 0)]})
    assert fetched(consumer, OffsetRange("t", 0, 0, 12)) == {0: [0, 1, 2, 9, 10]}


def test_a_range_that_ends_in_a_gap_ends():
    consumer = ListConsumer({T0: [(0, 3), (9, 2)]})
    assert fetched(consumer, OffsetRange("t", 0, 1, 6)) == {0: [1, 2]}


def test_records_deleted_before_they_were_read_are_data_loss():
    consumer = ListConsumer({T0: [(5, 5)]}, begins={T0: 5})
    with pytest.raises(DataLossError, match="t-0 was to be read from offset 2, but its log begins at 5"):
        fetched(consumer, OffsetRange("t", 0, 2, 8))
    assert fetched(consumer, OffsetRange("t", 0, 2, 8), failOnDataLoss="false") == {0: [5, 6, 7]}
    assert fetched(consumer, OffsetRange("t", 0, 0, 4), failOnDataLoss="false") == {}


def test_a_shortened_log_is_data_loss():
    consumer = ListConsumer({T0: [(0, 5)]})
    with pytest.raises(DataLossError, match="t-0 was to be read from offset 5, up to 9, but its log ends at 5"):
        fetched(consumer, OffsetRange("t", 0, 0, 9))
    assert fetched(consumer, OffsetRange("t", 0, 0, 9), failOnDataLoss="false") == {0: [0, 1, 2, 3, 4]}
    assert fetched(consumer, OffsetRange("t", 0, 7, 9), failOnDataLoss="false") == {}


def test_a_shortened_log_is_skipped_however_short_the_timeout_is():
    consumer = ListConsumer({T0: [(0, 5)], T1: [(0, 5)]})
    ranges = OffsetRange("t", 0, 0, 9), OffsetRange("t", 1, 0, 9)
    given = {"failOnDataLoss": "false", "kafkaConsumer.pollTimeoutMs": "512"}
    assert fetched(consumer, *ranges, **given) == {0: [0, 1, 2, 3, 4], 1: [0, 1, 2, 3, 4]}


def test_a_missing_topic_is_data_loss_and_the_others_are_read(caplog):
    consumer = ListConsumer({T0: [(0, 5)], T1: [(0, 5)]})
    consumer.gone = {T1}
    ranges = OffsetRange("t", 0, 0, 5), OffsetRange("t", 1, 0, 5)
    with pytest.raises(DataLossError, match="t-1 was to be read from offset 0, but it no longer exists"):
        fetched(consumer, *ranges)
    assert fetched(consumer, *ranges, failOnDataLoss="false") == {0: [0, 1, 2, 3, 4]}
    assert "t-1 was to be read from offset 0, but it no longer exists; continuing" in caplog.text


def test_replaced_records_are_data_loss():
    consumer = ListConsumer({T0: [(0, 5), (5, 5), (10, 5)], T1: [(0, 5)]})
    consumer.epochs = {0: 3, 5: 6, 10: 6}
    ranges = OffsetRange("t", 0, 2, 12, leader_epoch=5), OffsetRange("t", 1, 0, 5, leader_epoch=3)
    with pytest.raises(
        DataLossError, match=r"truncated by an unclean leader election: offset 5 contains .* epoch 6, .* 5\."
    ):
        fetched(consumer, *ranges)
    allowed = fetched(consumer, *ranges, failOnDataLoss="false")
    assert allowed == {0: [2, 3, 4], 1: [0, 1, 2, 3, 4]}, "the next micro-batch begins where the log was truncated"


def test_records_after_the_range_or_of_the_planned_epoch_are_not_data_loss():
    consumer = ListConsumer({T0: [(0, 5), (5, 5), (10, 5)]})
    consumer.epochs = {0: 3, 5: 5, 10: 6}
    assert fetched(consumer, OffsetRange("t", 0, 0, 10, leader_epoch=5)) == {0: list(range(10))}
    assert fetched(consumer, OffsetRange("t", 0, 0, 12)) == {0: list(range(12))}  # planned without an epoch


def test_a_log_truncated_during_the_read_is_data_loss():
    consumer = ListConsumer({T0: [(0, 5), (5, 5)], T1: [(0, 5), (5, 5), (10, 5)]})
    ranges = OffsetRange("t", 0, 0, 10), OffsetRange("t", 1, 0, 15)
    consumer.truncations = {2: T0}
    with pytest.raises(
        DataLossError, match="t-0 was to be read from offset 5, but: the log of partition 0 was truncated"
    ):
        fetched(consumer, *ranges)
    consumer.polls = 0
    assert fetched(consumer, *ranges, failOnDataLoss="false") == {0: [0, 1, 2, 3, 4], 1: list(range(15))}
    consumer.truncations = {3: T0}  # after it has been read
    consumer.polls = 0
    assert fetched(consumer, *ranges) == {0: list(range(10)), 1: list(range(15))}


def test_waiting_for_records_ends_with_an_error_that_names_the_place():
    consumer = ListConsumer({T0: [(0, 5)]}, ends={T0: 20})
    with pytest.raises(
        KafkaTimeoutError,
        match=r"for 30000 ms \(option kafkaConsumer.pollTimeoutMs\) from t-0 at offset 5 of t-0 \[0, 9\)",
    ):
        fetched(consumer, OffsetRange("t", 0, 0, 9), **{"kafkaConsumer.pollTimeoutMs": "30000"})
    assert 1_030 <= consumer.now < 1_032
    assert consumer.lookups == 30  # once per second


@pytest.mark.once
def test_a_slow_response_is_waited_for():
    with EmbeddedBroker() as broker:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for _ in range(10):
                producer.send("t", b"v", partition=0)
        broker.faults.delay(seconds=_CHECK_AFTER_S * 1.5, api="Fetch")
        given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "kafkaConsumer.pollTimeoutMs": "10000"}
        batches = read_task(options(**given), ("value",), (OffsetRange("t", 0, 0, 10),))
        assert sum(batch.num_rows for batch in batches) == 10


def test_only_a_partition_out_of_range_is_sought_again():
    consumer = ListConsumer({T0: [(0, 5)], T1: [(0, 5)]}, ends={T0: 20})
    begun = range_fetch(consumer, OffsetRange("t", 0, 0, 9), OffsetRange("t", 1, 0, 9), failOnDataLoss="false")
    sought: list[TopicPartition] = []
    list(itertools.islice(begun.columns(), 2))
    consumer.seek = lambda partition, offset: sought.append(partition)  # type: ignore[method-assign]
    consumer.positions = {T0: 5, T1: 3}
    begun._skip_lost(())
    assert sought == []
    begun._skip_lost({T1})
    assert sought == [T1]


def test_a_task_that_passes_markers_and_gaps_is_not_considered_stuck():
    markers = [(offset, 0) for offset in range(1_000)]
    consumer = ListConsumer({T0: [*markers, (1_000, 5)]})
    assert fetched(consumer, OffsetRange("t", 0, 0, 1_005), **{"kafkaConsumer.pollTimeoutMs": "5000"}) == {
        0: [1_000, 1_001, 1_002, 1_003, 1_004]
    }
    assert consumer.now > 1_090


def test_the_timeout_counts_from_the_last_passed_offset():
    markers = [(offset, 0) for offset in range(100)]
    consumer = ListConsumer({T0: markers}, ends={T0: 200})
    with pytest.raises(
        KafkaTimeoutError, match=r"at offset 100 of.*; meanwhile fetching from broker 1 failed: no leader"
    ):
        fetched(consumer, OffsetRange("t", 0, 0, 150), **{"kafkaConsumer.pollTimeoutMs": "5000"})
    walked_s = 100 * _POLL_MS / 1_000
    assert 5 <= consumer.now - 1_000 - walked_s < 5 + _CHECK_AFTER_S + 1


def test_partitions_wrongly_reported_out_of_range_are_fetched_again():
    consumer = ListConsumer({T0: [(0, 5)], T1: [(0, 5)]})
    poll, seek, sought = consumer.poll_columns, consumer.seek, []

    def poll_once_in_vain(timeout_ms: int) -> dict[TopicPartition, Columns]:
        consumer.poll_columns = poll  # type: ignore[method-assign]
        sought.clear()
        raise OffsetOutOfRangeError(dict.fromkeys((T0, T1), 0))  # the answer of a lagging follower

    consumer.poll_columns = poll_once_in_vain  # type: ignore[method-assign,assignment]
    consumer.seek = lambda *given: sought.append(given) or seek(*given)  # type: ignore[method-assign]
    assert fetched(consumer, OffsetRange("t", 0, 0, 5), OffsetRange("t", 1, 0, 5)) == {
        0: [0, 1, 2, 3, 4],
        1: [0, 1, 2, 3, 4],
    }
    assert sought == [(T0, 0), (T1, 0)]


def test_small_fetches_become_one_batch_and_large_ones_several():
    names = ("value", "offset")
    small = list(to_batches(iter(columns_of(10 * n, 10) for n in range(100)), names))
    assert [batch.num_rows for batch in small] == [1_000]
    assert small[0].schema.names == ["value", "offset"]
    assert small[0].column("offset").to_pylist() == list(range(1_000))
    consumer = ListConsumer({T0: [(0, 1)]})
    consumer.poll_columns = lambda timeout_ms: (  # type: ignore[method-assign]
        consumer.seek(T0, 30_000) or {T0: columns_of(0, 30_000, size=1_000)}
    )
    cut = list(to_batches(range_fetch(consumer, OffsetRange("t", 0, 0, 30_000)).columns(), names))
    assert all(SMALLEST_BATCH <= batch.nbytes <= LARGEST_BATCH for batch in cut)
    assert pa.Table.from_batches(cut).column("offset").to_pylist() == list(range(30_000))


def test_batches_declare_as_not_null_what_the_schema_does():
    names = ("value", "offset", "timestamp")
    (batch,) = to_batches(iter([columns_of(0, 10)]), names, {"offset"})
    assert [field.nullable for field in batch.schema] == [True, False, True]
    assert batch.column("offset").to_pylist() == list(range(10))


def test_a_task_without_ranges_reads_nothing():
    assert list(read_task(options(), ("value",), ())) == []
