"""Batches, the queues that they wait in, and how they leave."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kafka.errors import InvalidRecordError, KafkaTimeoutError
from kafka.net import interruptible
from kafka.producer.appending.checks import PreparedRecord
from kafka.producer.appending.record_buffer import RecordBuffer, Reservations
from kafka.producer.batch import producer_batch
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.batch.producer_batch import ProducerBatch, Stage
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.send.outgoing_batches import OutgoingBatches
from kafka.structs import TopicPartition

PLACE = TopicPartition("t", 0)


def buffer_of(loop: asyncio.AbstractEventLoop, **options: Any) -> RecordBuffer:
    chosen = BufferOptions(**{"batch_size": 1_000, "buffer_memory": 100_000, **options})
    buffer = RecordBuffer(chosen, loop, random.Random(1), lambda run: run())
    buffer.learn_topic("t", 1, [0])
    return buffer


@pytest.fixture
async def buffer() -> RecordBuffer:
    return buffer_of(asyncio.get_running_loop())


def queue_of(buffer: RecordBuffer) -> PartitionQueue:
    return buffer.topics["t"].queues[0]


def append(buffer: RecordBuffer, size: int = 10) -> ProducerBatch:
    future = buffer.append(PreparedRecord("t", 0, 1_000, None, bytes(size), None, -1, size + 82))
    batch: ProducerBatch = future.place()[0]
    return batch


def made(buffer: RecordBuffer, created: float, *order: int) -> ProducerBatch:
    batch = ProducerBatch.encoded(buffer, PLACE, created, bytes(50), 2, 0)
    batch.order = order
    return batch


async def test_closed_batches_leave_before_the_open_one_oldest_first(buffer: RecordBuffer) -> None:
    outgoing, queue = OutgoingBatches(buffer), queue_of(buffer)
    assert outgoing.next_batch(queue) is None
    first = append(buffer, 600)
    second = append(buffer, 600)
    assert (queue.open, list(queue.closed)) == (second, [first])
    assert outgoing.next_batch(queue) is first
    assert queue.open is second, "it may still be filled"
    assert outgoing.next_batch(queue) is second
    assert second.stage is Stage.CLOSED
    assert outgoing.next_batch(queue) is None


async def test_the_size_of_the_next_batch_is_returned(buffer: RecordBuffer) -> None:
    outgoing, queue = OutgoingBatches(buffer), queue_of(buffer)
    assert outgoing.next_size(queue) == 0
    batch = append(buffer)
    assert batch.builder is not None
    assert outgoing.next_size(queue) == batch.builder.size_in_bytes > 10
    assert queue.open is batch
    assert outgoing.next_builder(queue) is batch.builder
    assert queue.open is None
    queue.retry(made(buffer, 1.0, 0))
    assert outgoing.next_size(queue) == 50
    assert outgoing.next_builder(queue) is None, "it is encoded"


async def test_expired_batches_are_taken_from_all_states(buffer: RecordBuffer) -> None:
    outgoing, queue = OutgoingBatches(buffer), queue_of(buffer)
    last = append(buffer)
    retries = [made(buffer, 1.0, 0), made(buffer, 3.0, 1)]
    closed = [made(buffer, 2.0), made(buffer, 4.0)]
    queue.retries[:] = retries
    queue.closed.extend(closed)
    buffer.incomplete.update((*retries, *closed))
    assert outgoing.take_expired(queue, 0.9) == []
    assert outgoing.oldest(-math.inf) == 1.0
    assert outgoing.oldest(1.0) == 2.0
    assert outgoing.take_expired(queue, 2.0) == [retries[0], closed[0]]
    assert (queue.retries, list(queue.closed), queue.open) == (retries[1:], closed[1:], last)
    assert outgoing.take_expired(queue, math.inf) == [retries[1], closed[1], last]
    assert (queue.retries, list(queue.closed), queue.open) == ([], [], None)
    buffer.incomplete.clear()
    assert outgoing.oldest(-math.inf) is None


async def test_batches_that_are_sent_again_keep_their_order(buffer: RecordBuffer) -> None:
    queue = PartitionQueue(PLACE)
    first, part, other, third = (made(buffer, 0.0, *order) for order in ((1,), (2, 0), (2, 1), (3,)))
    for batch in (third, other, first, part):
        queue.retry(batch)
    assert queue.retries == [first, part, other, third]
    assert queue.may_retry()
    assert queue.is_first(first)
    assert not queue.is_first(part)
    queue.in_network[queue.retries.pop(0)] = None
    assert queue.first_in_network() == (1,)
    assert not queue.may_retry(), "what comes before is on its way"
    assert not queue.is_first(part)
    assert queue.is_first(first)
    queue.in_network.clear()
    assert queue.is_first(part)
    assert queue.first_in_network() is None


async def test_at_most_as_many_batches_in_flight_as_a_broker_remembers(buffer: RecordBuffer) -> None:
    queue = PartitionQueue(PLACE)
    queue.next_order = 20
    assert not queue.window_is_full()
    queue.in_network[made(buffer, 0.0, 15)] = None
    assert not queue.window_is_full(), "without an id nobody must remember"
    queue.producer_id = 0
    assert queue.window_is_full()
    queue.next_order = 19
    assert not queue.window_is_full()


async def test_records_are_found_in_the_parts_of_parts(buffer: RecordBuffer) -> None:
    whole, left, right = (made(buffer, 0.0) for _ in range(3))
    leaf, rest = (ProducerBatch.encoded(buffer, PLACE, 0.0, b"", 1, 0) for _ in range(2))
    whole.split_into([left, right])
    right.split_into([leaf, rest])
    assert [whole.locate(index) for index in range(4)] == [(left, 0), (left, 1), (leaf, 0), (rest, 0)]
    assert whole.stage is Stage.SPLIT
    assert (whole.count, whole.done, left.done) == (2, False, False)


async def test_a_record_is_found_at_any_moment_of_a_split(buffer: RecordBuffer) -> None:
    whole, left, right = (ProducerBatch.encoded(buffer, PLACE, 0.0, b"", n, 0) for n in (2, 1, 1))
    found: list[tuple[ProducerBatch, int]] = []

    class Parts(list[ProducerBatch]):
        """As while another thread has its turn between two steps."""

        def __iter__(self) -> Iterator[ProducerBatch]:
            for part in super().__iter__():
                found.append(whole.locate(1))
                assert sum(batch.count for batch in whole.leaves()) == 2
                yield part

    whole.split_into(Parts([left, right]))
    assert found == [(whole, 1)] * 2
    assert whole.locate(1) == (right, 0)
    assert list(whole.leaves()) == [left, right]


async def test_only_the_records_that_a_broker_names_are_at_fault(buffer: RecordBuffer) -> None:
    batch = ProducerBatch.encoded(buffer, PLACE, 0.0, b"", 3, 0)
    error = InvalidRecordError("bad")
    batch.fail(error, {1: "no key", 2: None})
    others = "not written, because the broker refused 2 other(s) of the 3 records in its batch for t-0"
    assert [str(batch.error_of(index)) for index in range(3)] == [
        f"[Error 87] InvalidRecordError: {others}",
        "[Error 87] InvalidRecordError: no key",
        str(error),
    ]
    batch.fail(KafkaTimeoutError("later"))
    assert batch.error is error, "what became of it stays"
    whole = ProducerBatch.encoded(buffer, PLACE, 0.0, b"", 3, 0)
    whole.fail(error, {})
    assert whole.error_of(0) is error


async def test_a_seen_failure_is_not_logged(buffer: RecordBuffer, caplog: pytest.LogCaptureFixture) -> None:
    looked_at, dropped = (ProducerBatch.encoded(buffer, PLACE, 0.0, b"", 3, 0) for _ in range(2))
    for batch in (looked_at, dropped):
        batch.fail(InvalidRecordError("bad"))
    looked_at.look()
    assert looked_at.report is not None
    assert looked_at.report.seen
    del looked_at, dropped, batch
    assert [record.getMessage()[:30] for record in caplog.records] == ["3 record(s) for t-0 not delive"]


@pytest.mark.parametrize(
    ("timeout", "waited"),
    [(None, [1, 1, 1]), (0, [0]), (-5, [0]), (0.25, [0.25]), (1e300, [1, 1, 1])],
)
async def test_a_thread_waits_for_its_timeout(
    buffer: RecordBuffer, timeout: float | None, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    class Lock:
        def acquire(self, *, timeout: float = -1) -> bool:
            asked.append(timeout)
            if len(asked) == 4:
                raise KeyboardInterrupt
            return False

    batch = append(buffer)
    monkeypatch.setattr(interruptible, "SLICE_S", 1.0)
    monkeypatch.setattr(producer_batch.threading, "Lock", Lock)
    with contextlib.suppress(KeyboardInterrupt):
        assert not batch.wait(timeout)
    assert asked == [-1, *waited]
    assert len(batch.waiters) == 1


async def test_waiting_for_a_finished_batch_returns_immediately(buffer: RecordBuffer) -> None:
    batch = append(buffer)
    waiter = threading.Lock()
    waiter.acquire()
    assert not batch.add_waiter(waiter)
    batch.succeed(5, -1)
    assert waiter.acquire(blocking=False)
    assert batch.add_waiter(waiter)
    assert batch.wait(None)
    split = append(buffer_of(asyncio.get_running_loop()))
    split.split_into([])
    assert split.add_waiter(waiter)


async def test_a_topic_with_remaining_batches_is_not_forgotten(buffer: RecordBuffer) -> None:
    batch = append(buffer)
    now = asyncio.get_running_loop().time()
    buffer.topics["t"].used_at = now - 10
    assert buffer.forget_idle(now) == set()
    buffer.completed(batch)
    assert buffer.forget_idle(now - 10) == set(), "it was used just then"
    assert buffer.forget_idle(now) == {"t"}
    assert not buffer.topics
    assert buffer.partition_count("t") == 1
    assert queue_of_known(buffer) == [PLACE]


def queue_of_known(buffer: RecordBuffer) -> list[TopicPartition]:
    return [queue.topic_partition for queue in buffer.queues()]


async def test_the_first_retry_may_be_sent_before_later_batches_in_flight(buffer: RecordBuffer) -> None:
    queue = PartitionQueue(PLACE)
    queue.retries[:] = [made(buffer, 0.0, 1), made(buffer, 0.0, 3)]
    queue.in_network[made(buffer, 0.0, 2)] = None
    assert queue.may_retry()
    queue.retries[:] = queue.retries[1:]
    assert not queue.may_retry()


async def test_batches_do_not_linger_while_a_thread_waits_for_memory_whatever_others_did_before_that(
    buffer: RecordBuffer,
) -> None:
    """Another thread creates a batch after the first one found no memory, and before it is known to wait."""

    class Waiting(dict[Any, None]):
        def __setitem__(self, news: Any, nothing: None) -> None:
            buffer._new_batch(queue_of(buffer), 1_000)
            super().__setitem__(news, nothing)

    append(buffer)
    buffer.memory._blocking = Waiting()
    with pytest.raises(KafkaTimeoutError, match="buffer_memory"):
        Reservations(buffer, 0).acquire_blocking(100_000, Reservation())
    assert buffer.memory_is_short
