"""Sequence numbers of batches that are sent again under another epoch, or without any."""

from __future__ import annotations

import asyncio
import random

import pytest

from kafka.cluster.backoff import Backoff
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.idempotence import Idempotence, IdempotenceState
from kafka.record import BatchBuilder, Compression, batch_headers, check_batch
from kafka.structs import TopicPartition
from unit.producer.producing_cluster import ProducingCluster

PLACE = TopicPartition("t", 0)
LAST_EPOCH = 2**15 - 1


def encoded(magic: int, count: int) -> bytes:
    builder = BatchBuilder(magic)
    for _ in range(count):
        builder.append(1_000, None, b"value")
    return builder.build(producer_id=7, producer_epoch=3, base_sequence=40) if magic == 2 else builder.build()


def idempotence(state: IdempotenceState, producer_id: int) -> Idempotence:
    made = Idempotence(
        ProducingCluster({"t": 1}),
        enabled=True,
        required=False,
        backoff=Backoff(100, 1_000, random.Random(1)),
        on_change=lambda: None,
    )
    made.state, made.producer_id = state, producer_id
    return made


def queue_with_retries(producer_id: int, epoch: int) -> PartitionQueue:
    loop = asyncio.get_running_loop()
    options = BufferOptions(16_384, 1 << 20, Compression.NONE, None)
    buffer = RecordBuffer(options, loop, random.Random(1), lambda run: run())
    queue = PartitionQueue(PLACE)
    queue.producer_id, queue.producer_epoch, queue.renumber = producer_id, epoch, True
    for number, (magic, count) in enumerate(((2, 3), (1, 2), (2, 1))):
        batch = ProducerBatch.encoded(buffer, PLACE, 0.0, encoded(magic, count), count, 0)
        batch.order = (number,)
        queue.retry(batch)
    return queue


def numbers(queue: PartitionQueue) -> list[tuple[int, int, int]]:
    """What the batches say, which is what their bytes say where these can."""
    for batch in queue.retries:
        (header, *_) = batch_headers(batch.data)
        check_batch(batch.data, header)
        if header.magic == 2:
            said = header.producer_id, header.producer_epoch, header.base_sequence
            assert said == (batch.producer_id, batch.producer_epoch, batch.base_sequence)
    return [(batch.producer_id, batch.producer_epoch, batch.base_sequence) for batch in queue.retries]


@pytest.mark.parametrize(
    ("state", "producer_id", "expected"),
    [
        pytest.param(IdempotenceState.READY, 7, [(7, 4, 0), (7, 4, 3), (7, 4, 5)], id="the same id, the next epoch"),
        pytest.param(IdempotenceState.READY, 8, [(8, 0, 0), (8, 0, 3), (8, 0, 5)], id="another id"),
        pytest.param(IdempotenceState.OFF, -1, [(-1, -1, -1)] * 3, id="without"),
    ],
)
async def test_retried_batches_are_renumbered_from_0(
    state: IdempotenceState, producer_id: int, expected: list[tuple[int, int, int]]
) -> None:
    queue = queue_with_retries(7, 3)
    sent = [batch.data for batch in queue.retries]
    before = [bytes(data) for data in sent]
    assert idempotence(state, producer_id).renumber(queue)
    assert numbers(queue) == expected
    assert not queue.renumber
    assert [bytes(data) for data in sent] == before, "what was sent may still lie in a connection"


async def test_unencoded_batches_are_numbered_too() -> None:
    queue = queue_with_retries(7, 3)
    for batch in queue.retries:
        batch.data = None
    assert idempotence(IdempotenceState.READY, 7).renumber(queue)
    assert [batch.base_sequence for batch in queue.retries] == [0, 3, 5]


@pytest.mark.parametrize("epoch", [LAST_EPOCH - 1, LAST_EPOCH])
async def test_a_new_id_is_requested_after_the_last_epoch(epoch: int) -> None:
    queue = queue_with_retries(7, epoch)
    made = idempotence(IdempotenceState.READY, 7)
    is_last = epoch == LAST_EPOCH
    assert made.renumber(queue) is not is_last
    assert queue.renumber is is_last
    assert made.state is (IdempotenceState.WANTED if is_last else IdempotenceState.READY)
    assert made.producer_id == (-1 if is_last else 7)
    made.stop()


@pytest.mark.parametrize("state", [IdempotenceState.WANTED, IdempotenceState.REFUSED])
async def test_without_an_id_renumbering_waits(state: IdempotenceState) -> None:
    queue = queue_with_retries(7, 3)
    assert not idempotence(state, -1).renumber(queue)
    assert queue.renumber
    assert [batch.data for batch in queue.retries] == [encoded(2, 3), encoded(1, 2), encoded(2, 1)]


async def test_sequence_numbers_wrap_after_the_maximum() -> None:
    queue = queue_with_retries(7, 3)
    made = idempotence(IdempotenceState.READY, 7)
    queue.next_sequence = 2**31 - 3
    first, _, second = queue.retries
    for batch in (first, second):
        made.number(queue, batch)
    assert [batch.base_sequence for batch in (first, second)] == [2**31 - 3, 0]
    assert [batch.order for batch in (first, second)] == [(0,), (1,)]
