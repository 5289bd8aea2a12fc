"""What callers get: records by partition, deserialized, and one by one."""

from __future__ import annotations

import json
import operator
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from kafka.config import parse_consumer
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.commit.commit_future import CommittedOffset
from kafka.consumer.records.build_records import ConsumerRecords, Materializer, RecordCursor
from kafka.errors import (
    KafkaConfigurationError,
    KafkaError,
    KafkaTimeoutError,
    RecordDeserializationError,
    UnknownTopicOrPartitionError,
)
from kafka.formats.registry.errors import SchemaRegistryConnectionError
from kafka.record import BatchBuilder, ConsumerRecord
from kafka.record.abc import ABCRecord
from kafka.serializer import adapt_deserializer
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.consumer.batches import at, batch, numbered
from unit.consumer.listeners import BufferCalls

A, B = TopicPartition("a", 0), TopicPartition("b", 1)


def sample() -> ConsumerRecords:
    return ConsumerRecords(
        {A: [ConsumerRecord("a", 0, offset=0), ConsumerRecord("a", 0, offset=1)], B: [ConsumerRecord("b", 1, offset=5)]}
    )


def test_consumer_records_are_a_dict_of_partitions() -> None:
    records = sample()
    assert isinstance(records, dict)
    assert list(records.keys()) == [A, B]
    assert [len(each) for each in records.values()] == [2, 1]
    assert {tp: len(each) for tp, each in records.items()} == {A: 2, B: 1}
    assert A in records
    assert records[A][1].offset == 1
    assert records.get(TopicPartition("c", 0)) is None
    assert records == {A: records[A], B: records[B]}
    assert dict(records) == {A: records[A], B: records[B]}
    assert ConsumerRecords() == {}


def test_consumer_records_are_iterated_and_counted_record_by_record() -> None:
    records = sample()
    assert [record.offset for record in records] == [0, 1, 5]
    assert (len(records), records.count()) == (3, 3)
    assert records
    assert not ConsumerRecords({})
    assert records.records(B) == records[B]
    assert records.records(TopicPartition("c", 0)) == []
    assert {topic: len(each) for topic, each in records.by_topic().items()} == {"a": 2, "b": 1}
    assert records.partitions() == {A, B}


def test_tracing_tools_recognize_records() -> None:
    assert isinstance(sample()[A][0], ABCRecord)


def test_consumer_records_survive_copying_and_pickling() -> None:
    records = sample()
    assert ConsumerRecords(records) == records
    assert pickle.loads(pickle.dumps(records)) == records


def test_a_committed_offset_is_an_int_and_has_the_fields() -> None:
    committed = CommittedOffset(OffsetAndMetadata(42, "note", 3))
    assert committed == 42
    assert (committed.offset, committed.metadata, committed.leader_epoch) == (42, "note", 3)
    offset, metadata, epoch = committed
    assert (offset, metadata, epoch) == (42, "note", 3)
    assert committed == OffsetAndMetadata(42, "note", 3)
    assert committed != OffsetAndMetadata(42, "other", 3)
    assert operator.ne(committed, OffsetAndMetadata(42, "note", 3)) is False
    assert 41 < committed != 41
    assert committed != "42"
    assert {42: "found"}[committed] == "found"
    assert tuple(pickle.loads(pickle.dumps(committed))) == tuple(committed)
    assert CommittedOffset(OffsetAndMetadata(0, "", -1))


class OnePartitionBuffer:
    """A buffer with one partition of integers as text, and what stands on it."""

    def __init__(self, *values: bytes) -> None:
        self.state = PartitionState(TopicPartition("t", 0))
        self.state.locate(0, FetchPosition(0))
        self.buffer = FetchBuffer(parse_consumer({}).fetch, BufferCalls())
        if values:
            self.put(batch(values), 0)

    def put(self, data: bytes, offset: int) -> None:
        self.buffer.put(
            self.state, PartitionResponse(self.state.tp, self.state.generation, offset, memoryview(data), len(data))
        )

    def cursor(self, materializer: Materializer | None = None) -> RecordCursor:
        return RecordCursor(materializer or Materializer(None, None))

    def rest(self) -> list[int]:
        """Take what is left; the offsets."""
        with self.buffer.take(100) as polled:
            offsets = [offset for piece in polled.pieces for offset in piece.columns.offsets]
        polled.commit()
        return offsets

    def iterate(self, materializer: Materializer | None = None) -> Iterator[ConsumerRecord]:
        """As the faces do it, without what waits."""
        cursor = self.cursor(materializer)
        while True:
            for record in cursor.rest:
                cursor.state.last_record = record
                yield record
                break
            else:
                if cursor.load():
                    continue
                polled = self.buffer.take(3)
                if not polled:
                    return
                cursor.begin(polled)


def to_int(topic: str, data: bytes | None, headers: Any) -> int:
    assert data is not None
    return int(data)


def fail_on_key_2(topic: str, data: bytes | None, headers: Any) -> bytes | None:
    if data == b"k2":
        raise KeyError(data)
    return data


def test_records_before_a_failing_one_are_returned_and_the_rest_put_back() -> None:
    harness = OnePartitionBuffer(b"0", b"1", b"two", b"3")
    materializer = Materializer(None, to_int)
    with harness.buffer.take(10) as polled:
        gathered = materializer.batch(polled)
    polled.commit()
    assert [record.value for record in gathered[harness.state.tp]] == [0, 1]
    assert at(harness.state) == 2
    with pytest.raises(RecordDeserializationError) as caught, harness.buffer.take(10) as polled:
        materializer.batch(polled)
    assert (caught.value.topic_partition, caught.value.offset) == (TopicPartition("t", 0), 2)
    assert "the value of the record at offset 2 of partition 0 of topic 't'" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)
    assert at(harness.state) == 2
    assert harness.rest() == [2, 3]


@pytest.mark.parametrize("iterating", [False, True])
def test_unreadable_records_are_skipped_on_request(iterating: bool, caplog: pytest.LogCaptureFixture) -> None:
    harness = OnePartitionBuffer(b"0", b"one", b"2", b"three")
    materializer = Materializer(None, to_int, "skip")
    if iterating:
        assert [record.value for record in harness.iterate(materializer)] == [0, 2]
    else:
        with harness.buffer.take(10) as polled:
            assert [record.value for record in materializer.batch(polled)[harness.state.tp]] == [0, 2]
        polled.commit()
    assert at(harness.state) == 4
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert "left out (on_deserialization_error='skip'): the value of the record at offset 1" in told[0]
    assert told[0].endswith("; it is skipped")


def test_a_slice_of_which_nothing_can_be_read_is_passed() -> None:
    harness = OnePartitionBuffer(b"x", b"y")
    with harness.buffer.take(10) as polled:
        assert Materializer(None, to_int, "skip").batch(polled) == {}
    polled.commit()
    assert at(harness.state) == 2


def test_a_function_replaces_a_bad_record() -> None:
    seen = []

    def repair(error: RecordDeserializationError) -> ConsumerRecord | None:
        seen.append((error.topic_partition, error.offset, error.part, error.record.key, error.record.value))
        return None if error.offset == 1 else error.record._replace(value=-1)

    harness = OnePartitionBuffer(b"0", b"one", b"two", b"3")
    assert [record.value for record in harness.iterate(Materializer(None, to_int, repair))] == [0, -1, 3]
    tp = TopicPartition("t", 0)
    assert seen == [(tp, 1, "value", b"k1", b"one"), (tp, 2, "value", b"k2", b"two")]
    assert at(harness.state) == 4


@pytest.mark.parametrize("iterating", [False, True])
def test_an_exception_of_the_function_takes_the_place_of_the_record(iterating: bool) -> None:
    class Halt(Exception):
        pass

    def refuse(error: RecordDeserializationError) -> None:
        raise Halt(error.offset) from error

    harness = OnePartitionBuffer(b"0", b"one", b"2")
    materializer = Materializer(None, to_int, refuse)
    if iterating:
        records = harness.iterate(materializer)
        assert next(records).value == 0
        with pytest.raises(Halt):
            next(records)
    else:
        with harness.buffer.take(10) as polled:
            assert [record.value for record in materializer.batch(polled)[harness.state.tp]] == [0]
        polled.commit()
        with pytest.raises(Halt), harness.buffer.take(10) as polled:
            materializer.batch(polled)
    assert at(harness.state) == 1


@pytest.mark.parametrize("policy", ["drop", 5])
def test_a_policy_that_is_none_is_refused(policy: Any) -> None:
    with pytest.raises(KafkaConfigurationError, match="'raise', 'skip' or a function"):
        parse_consumer({"on_deserialization_error": policy})


class HasProperties(Exception):
    """It names its properties as `RecordDeserializationError` names its attributes."""

    offset = part = record = property(lambda self: "of the cause")


class Odd(Exception):
    def __init__(self, message: str, extra: int) -> None:
        super().__init__(message)
        self.extra = extra


@pytest.mark.parametrize(
    ("cause", "kept"),
    [
        (ValueError("x"), {}),
        (KeyError("x"), {}),
        (Odd("x", 5), {"extra": 5}),
        (UnicodeDecodeError("utf-8", b"ab", 1, 2, "why"), {"start": 1, "object": b"ab"}),
        (json.JSONDecodeError("why", "doc", 2), {"pos": 2, "doc": "doc"}),
        (OSError(2, "x"), {"errno": 2, "strerror": "x"}),
        (SyntaxError("x", ("doc", 3, 8, "text")), {"lineno": 3}),
        (HasProperties("x"), {}),
        (KafkaError("x"), {}),
        (KafkaTimeoutError("x"), {}),
        (UnknownTopicOrPartitionError("x"), {"errno": 3}),
        (StopIteration(), {}),
        (StopAsyncIteration(), {}),
    ],
    ids=lambda given: type(given).__name__,
)
def test_the_error_is_of_the_type_of_its_cause_too(cause: Exception, kept: dict[str, Any]) -> None:
    def fail(topic: str, data: bytes | None, headers: Any) -> None:
        raise cause

    _, failure = Materializer(None, fail).records(OnePartitionBuffer(b"0").buffer.take(10).pieces[0])
    assert failure is not None
    error = failure.error
    assert isinstance(error, RecordDeserializationError)
    assert error.__cause__ is cause
    ends_loops = isinstance(cause, StopIteration | StopAsyncIteration)
    assert isinstance(error, type(cause)) is not ends_loops
    assert (error.topic_partition, error.offset) == (TopicPartition("t", 0), 0)
    assert str(error).startswith("the value of the record at offset 0 of partition 0")
    assert (error.part, error.record.value, error.retriable) == ("value", b"0", False)
    assert {name: getattr(error, name) for name in kept} == kept
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is RecordDeserializationError
    assert (copy.offset, copy.part, str(copy)) == (error.offset, error.part, str(error))


class OfProgram(RecordDeserializationError):
    remedy = "Ask the team that writes the topic."


def test_an_error_class_of_a_program_keeps_its_type_and_attributes_when_it_is_pickled() -> None:
    error = OfProgram(TopicPartition("t", 0), 3, "key", "too short")
    error.team = "orders"  # type: ignore[attr-defined]  # an attribute of the program's
    error.add_note("seen twice")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.remedy, copy.offset) == (OfProgram, OfProgram.remedy, 3)
    assert (copy.team, copy.__notes__) == ("orders", ["seen twice"])


def test_a_class_that_forbids_subclasses_is_no_base_of_the_error() -> None:
    class Final(Exception):
        def __init_subclass__(cls) -> None:
            raise RuntimeError("no subclasses")

    def fail(topic: str, data: bytes | None, headers: Any) -> None:
        raise Final("why")

    _, failure = Materializer(None, fail).records(OnePartitionBuffer(b"0").buffer.take(10).pieces[0])
    assert failure is not None
    assert type(failure.error) is RecordDeserializationError


@pytest.mark.parametrize("on_error", ["raise", "skip", lambda error: None])
def test_a_registry_that_is_down_is_no_fault_of_a_record_and_is_asked_once(on_error: Any) -> None:
    asked = []
    down = SchemaRegistryConnectionError(0, -1, "no answer")

    def of_registry(topic: str, data: bytes | None, headers: Any) -> bytes | None:
        if data == b"unknown":
            asked.append(data)
            raise down
        return data

    harness = OnePartitionBuffer(b"0", b"1", b"unknown", b"3")
    with harness.buffer.take(10) as polled:
        gathered = Materializer(of_registry, of_registry, on_error).batch(polled)
    polled.commit()
    assert [record.value for record in gathered[harness.state.tp]] == [b"0", b"1"]
    assert len(asked) == 1
    for count in (2, 3):
        with harness.buffer.take(10) as polled, pytest.raises(SchemaRegistryConnectionError) as caught:
            Materializer(of_registry, of_registry, on_error).batch(polled)
        assert caught.value is down
        assert at(harness.state) == 2
        assert len(asked) == count
    [note] = down.__notes__
    assert note.startswith(
        "The record at offset 2 of partition 0 of topic 't' could not be deserialized because of this;"
    )


@pytest.mark.parametrize(("part", "what"), [("value", "value is null, a tombstone"), ("key", "key is null")])
def test_the_error_for_null_says_how_to_write_the_deserializer(part: str, what: str) -> None:
    decode = adapt_deserializer(bytes.decode)
    builder = BatchBuilder(magic=2, size_limit=1 << 20)
    builder.append(1, None if part == "key" else b"k", None if part == "value" else b"v", [])
    harness = OnePartitionBuffer()
    harness.put(bytes(builder.build()), 0)
    key, value = (decode, None) if part == "key" else (None, decode)
    _, failure = Materializer(key, value).records(harness.buffer.take(10).pieces[0])
    assert failure is not None
    assert isinstance(failure.error, RecordDeserializationError)
    assert str(failure.error).endswith(
        f"the {what}: let {part}_deserializer return None for None, as in lambda data: None if data is None else "
        "data.decode(); or set on_deserialization_error='skip'"
    )
    assert "offset 0 of partition 0 of topic 't'" in str(failure.error)


def test_a_deserializer_of_kafka_python_3_gets_the_headers() -> None:
    class ByHeader:
        def deserialize(self, topic: str, headers: Any, data: bytes | None) -> Any:
            return topic, headers, data

    builder = BatchBuilder(magic=2, size_limit=1 << 20)
    builder.append(1, None, b"v", [("kind", b"a")])
    harness = OnePartitionBuffer()
    harness.put(bytes(builder.build()), 0)
    ((record,), error) = Materializer(None, adapt_deserializer(ByHeader())).records(harness.buffer.take(10).pieces[0])
    assert record.value == ("t", [("kind", b"a")], b"v")
    assert error is None


def test_records_after_a_failing_one_are_not_returned_with_those_before() -> None:
    harness = OnePartitionBuffer(b"0", b"1", b"two")
    harness.put(batch([b"3", b"4"], 3), 3)
    with harness.buffer.take(10) as polled:
        gathered = Materializer(None, to_int).batch(polled)
    polled.commit()
    assert [record.value for record in gathered[harness.state.tp]] == [0, 1]
    assert at(harness.state) == 2
    assert harness.rest() == [2, 3, 4]


def test_key_and_value_failures_are_distinguished() -> None:
    harness = OnePartitionBuffer(b"0", b"1", b"2")
    records, error = Materializer(fail_on_key_2, to_int).records(harness.buffer.take(10).pieces[0])
    assert len(records) == 2
    assert "the key of the record at offset 2" in str(error)


def test_iteration_moves_the_position_with_each_record() -> None:
    harness = OnePartitionBuffer(*[b"%d" % n for n in range(5)])
    run = harness.iterate()
    for expected in range(5):
        assert next(run).offset == expected
        assert at(harness.state) == expected + 1
    with pytest.raises(StopIteration):
        next(run)


def test_iteration_skips_slices_without_records() -> None:
    harness = OnePartitionBuffer(b"0", b"1")
    harness.put(numbered(3, 6), 6)  # nothing up to there, as of control records
    run = harness.iterate()
    assert [next(run).offset, next(run).offset, at(harness.state)] == [0, 1, 2]
    with pytest.raises(StopIteration):
        next(run)
    assert at(harness.state) == 6


def test_records_not_returned_by_iteration_are_returned_by_the_next_call() -> None:
    harness = OnePartitionBuffer(*[b"%d" % n for n in range(7)])
    run = harness.iterate()
    assert [next(run).offset for _ in range(2)] == [0, 1]
    with harness.buffer.take(3) as polled:
        assert [list(piece.columns.offsets) for piece in polled.pieces] == [[2], [3, 4]]
    polled.commit()
    assert next(run).offset == 5
    assert at(harness.state) == 6
    assert harness.buffer.records_taken == 6 + 1  # the last is in the hands of the iteration


def test_a_seek_between_two_records_is_followed() -> None:
    harness = OnePartitionBuffer(*[b"%d" % n for n in range(3)])
    run = harness.iterate()
    assert next(run).offset == 0
    harness.buffer.discard(harness.state, FetchPosition(10))
    harness.put(numbered(10, 12), 10)
    assert [record.offset for record in run] == [10, 11]


def test_a_pause_between_two_records_holds_back_the_rest() -> None:
    harness = OnePartitionBuffer(b"0", b"1", b"2")
    run = harness.iterate()
    assert next(run).offset == 0
    harness.buffer.pause(harness.state)
    assert list(run) == []
    harness.buffer.resume(harness.state)
    assert [record.offset for record in harness.iterate()] == [1, 2]


def test_iteration_raises_at_a_record_that_fails_and_again_until_a_seek() -> None:
    harness = OnePartitionBuffer(b"0", b"x", b"2")
    materializer = Materializer(None, to_int)
    run = harness.iterate(materializer)
    assert next(run).value == 0
    for _ in range(2):
        with pytest.raises(RecordDeserializationError):
            next(run)
        run = harness.iterate(materializer)
    assert at(harness.state) == 1
