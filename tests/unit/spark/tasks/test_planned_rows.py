"""Rows of small micro-batches that are read where they are planned, and passed to Spark."""

import dataclasses
import io
import json
import pickle
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.serializers import SpecialLengths, read_int
from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming import python_streaming_source_runner as runner
from pyspark.sql.types import BinaryType, StructField, StructType

from kafka.spark.options.field_options import FieldOptions, TypedOptions
from kafka.spark.options.parsing import parse_read
from kafka.spark.planning.ranges import OffsetRange
from kafka.spark.stream_reader import KafkaStreamReader
from kafka.spark.tasks.planned_rows import MOST_BYTES, MOST_OFFSETS, RETRY_AFTER_S, SPARKS_READER, PlannedRows
from kafka.spark.typed.decoding import TypedRead
from kafka.spark.typed.reader_schema import ReaderSchema

BASE = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"}
SCHEMA = StructType([StructField("value", BinaryType())])
SMALL = (OffsetRange("t", 0, 5, 8), OffsetRange("t", 1, 0, 2))


def values(*rows: bytes) -> pa.RecordBatch:
    return pa.record_batch([pa.array(rows, pa.binary())], names=["value"])


class FakeReadTask:
    """A fake `read_task` that yields batches, or raises.

    It records its arguments, and the number of consumed batches.
    """

    def __init__(self, *batches: pa.RecordBatch | BaseException) -> None:
        self.batches = batches
        self.asked: list[tuple] = []
        self.taken = 0
        self.patience_ms = 0
        self.typed: TypedRead | None = None

    def __call__(self, options, columns, ranges, not_null, typed):
        self.typed = typed
        self.asked.append((tuple(columns), tuple(ranges), not_null))
        self.patience_ms = options.poll_timeout_ms
        for each in self.batches:
            if isinstance(each, BaseException):
                raise each
            self.taken += 1
            yield each


def planned(reads: FakeReadTask, columns=("value",), clock=lambda: 0.0, **options: str) -> PlannedRows:
    return PlannedRows(parse_read({**BASE, **options}, streaming=True), columns, frozenset(), clock, reads)


def test_a_plan_is_read_on_request_if_no_thread_can_start(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    rows = planned(FakeReadTask(values(b"a")))
    rows.begin([SMALL])
    assert rows.of([SMALL]) == [values(b"a")]


def test_a_small_plan_of_one_task_is_read():
    reads = FakeReadTask(values(b"a", b"b"), values(b"c"))
    assert planned(reads).of([SMALL]) == [values(b"a", b"b"), values(b"c")]
    assert reads.asked == [(("value",), SMALL, frozenset())]


@pytest.mark.parametrize(
    "tasks",
    [
        [],
        [()],
        [SMALL, (OffsetRange("t", 2, 0, 1),)],
        [(OffsetRange("t", 0, 0, MOST_OFFSETS), OffsetRange("t", 1, 0, 1))],
    ],
)
def test_a_plan_of_several_or_no_tasks_or_many_offsets_is_left_to_tasks(tasks):
    reads = FakeReadTask(values(b"a"))
    assert planned(reads).of(tasks) is None
    assert reads.asked == []


def test_headers_are_read_as_well():
    reads = FakeReadTask(values(b"a"))
    assert planned(reads, columns=("value", "headers")).of([SMALL]) == [values(b"a")]
    assert reads.asked == [(("value", "headers"), SMALL, frozenset())]


def test_typed_values_are_decoded_without_waiting_for_a_registry():
    options = TypedOptions((FieldOptions("value", "string"),), registry_wait_ms=600_000)
    typed = TypedRead(options, (ReaderSchema("value", "string", ""),))
    reads = FakeReadTask(values(b"a"))
    found = PlannedRows(parse_read(BASE, streaming=True), ("value",), frozenset(), lambda: 0.0, reads, typed=typed)
    assert found.of([SMALL]) == [values(b"a")]
    assert reads.typed == TypedRead(dataclasses.replace(options, registry_wait_ms=0), typed.schemas)


def test_a_plan_without_records_is_left_to_a_task():
    assert planned(FakeReadTask()).of([SMALL]) is None


def test_large_records_are_left_to_tasks_and_not_retried():
    reads = FakeReadTask(values(b"a" * MOST_BYTES), values(b"b"))
    found = planned(reads)
    assert found.of([SMALL]) is None
    assert reads.taken == 1
    assert found.of([SMALL]) is None
    assert len(reads.asked) == 1
    reads.batches = (values(b"a" * (MOST_BYTES // 5)),)
    assert found.of([(OffsetRange("t", 0, 0, 1),)]) is not None  # fewer of them stay within the limit


def test_after_a_failure_tasks_read_for_a_while():
    now = [100.0]
    reads = FakeReadTask(OSError("no way there"))
    found = planned(reads, clock=lambda: now[0])
    assert found.of([SMALL]) is None
    now[0] += RETRY_AFTER_S - 1
    assert found.of([SMALL]) is None
    assert len(reads.asked) == 1
    now[0] += 1
    reads.batches = (values(b"a"),)
    assert found.of([SMALL]) == [values(b"a")]


def test_the_planner_waits_less_than_a_task():
    reads = FakeReadTask(values(b"a"))
    planned(reads, **{"kafkaconsumer.polltimeoutms": "8000"}).of([SMALL])
    assert reads.patience_ms == 2_000


def test_a_prefetched_plan_is_not_read_again_but_another_one_is():
    reads = FakeReadTask(values(b"a"))
    found = planned(reads)
    found.begin([SMALL])
    assert found.of([SMALL]) == [values(b"a")]
    assert len(reads.asked) == 1
    other = (OffsetRange("t", 0, 8, 9),)
    by_ranges = PlannedRows(
        parse_read(BASE, streaming=True),
        ("value",),
        frozenset(),
        lambda: 0.0,
        lambda options, columns, ranges, not_null, typed: (values(b"%d" % each.start) for each in ranges),
    )
    by_ranges.begin([SMALL])
    assert by_ranges.of([other]) == [values(b"8")]
    assert by_ranges.of([SMALL]) == [values(b"5"), values(b"0")]


def test_an_interrupt_of_the_prefetch_reaches_the_waiter():
    reads = FakeReadTask(KeyboardInterrupt())
    found = planned(reads)
    found.begin([SMALL])
    with pytest.raises(KeyboardInterrupt):
        found.of([SMALL])


def reader_with(plan: list, reads: FakeReadTask) -> KafkaStreamReader:
    reader = KafkaStreamReader(BASE, SCHEMA)
    reader._planner = SimpleNamespace(tasks=lambda start, end: plan)  # type: ignore[assignment]
    reader._planned = planned(reads)
    return reader


def what_spark_gets(reader: KafkaStreamReader) -> tuple[list, list[pa.RecordBatch] | None]:
    """Plan a batch with Spark's own code; return the ranges of each task, and the rows, if any."""
    given = io.BytesIO()
    for _ in range(2):
        offset = json.dumps({"t": {"0": 1}}).encode()
        given.write(len(offset).to_bytes(4, "big") + offset)
    given.seek(0)
    taken = io.BytesIO()
    runner.partitions_func(reader, None, SCHEMA, 1_000, given, taken)  # type: ignore[arg-type]
    taken.seek(0)
    tasks = [pickle.loads(taken.read(read_int(taken))).value for _ in range(read_int(taken))]
    status = read_int(taken)
    if status == runner.PREFETCHED_RECORDS_NOT_FOUND:
        return tasks, None
    assert (status, read_int(taken)) == (runner.NON_EMPTY_PYARROW_RECORD_BATCHES, SpecialLengths.START_ARROW_STREAM)
    with pa.ipc.open_stream(taken) as stream:
        return tasks, list(stream)


def test_spark_accepts_rows_with_the_plan_and_can_still_run_its_task():
    reader = reader_with([SMALL], FakeReadTask(values(b"a", b"b")))
    assert what_spark_gets(reader) == ([SMALL], [values(b"a", b"b")])
    reader = reader_with([SMALL, SMALL], FakeReadTask())
    assert what_spark_gets(reader) == ([SMALL, SMALL], None)


def test_a_reader_has_sparks_wrapper_class_only_while_it_has_rows():
    reader = reader_with([SMALL], FakeReadTask(values(b"a")))
    assert SPARKS_READER is not None
    assert not isinstance(reader, SPARKS_READER)
    reader.partitions({}, {})
    assert isinstance(reader, SPARKS_READER)
    assert isinstance(reader, DataSourceStreamReader)
    assert not isinstance(pickle.loads(cloudpickle.dumps(reader)), SPARKS_READER)
    rows = reader.getCache({}, {})
    assert rows is not None
    assert list(rows) == [values(b"a")]
    assert not isinstance(reader, SPARKS_READER)
    assert reader.getCache({}, {}) is None
