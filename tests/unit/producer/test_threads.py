"""Threads that send at once, while the batches that they fill are closed and sent."""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from collections.abc import Iterator

import pytest

from kafka.producer.appending.appender import RecordAppender
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.send.outgoing_batches import OutgoingBatches
from kafka.record import decode_batches

SENDERS = 3
RECORDS = 3_000


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that is never run: the test itself takes the batches away."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def nimble() -> Iterator[None]:
    """Threads take turns as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("nimble")
@pytest.mark.parametrize("magic", [1, 2])
def test_each_record_of_many_threads_is_where_its_future_says(loop: asyncio.AbstractEventLoop, magic: int) -> None:
    buffer = RecordBuffer(
        BufferOptions(batch_size=3_000, buffer_memory=1 << 30), loop, random.Random(1), lambda run: run()
    )
    buffer.magic = magic
    buffer.learn_topic("t", 2, [0, 1])
    outgoing = OutgoingBatches(buffer)
    appender = RecordAppender(buffer, None, None, None, lambda: None, 1 << 20)  # type: ignore[arg-type, return-value]
    sent: list[list[FutureRecordMetadata]] = [[] for _ in range(SENDERS)]
    logs: list[list[bytes | None]] = [[], []]

    def send(number: int) -> None:
        for count in range(RECORDS):
            sent[number].append(appender.append("t", b"%d-%d" % (number, count), None, None, count % 2))

    def deliver() -> None:
        for queue in buffer.queues():
            while (batch := outgoing.next_batch(queue)) is not None:
                assert batch.builder is not None
                log = logs[queue.topic_partition.partition]
                data = batch.builder.build()
                batch.keep(data)
                batch.succeed(len(log), -1)
                log += [record.value for record in decode_batches(data).to_records("t", 0)]

    threads = [threading.Thread(target=send, args=(number,)) for number in range(SENDERS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        deliver()
    deliver()
    assert len(logs[0]) + len(logs[1]) == SENDERS * RECORDS
    for number, futures in enumerate(sent):
        assert len(futures) == RECORDS
        offsets = [-1, -1]
        for count, future in enumerate(futures):
            place = future.get(0)
            assert place.partition == count % 2
            assert logs[place.partition][place.offset] == b"%d-%d" % (number, count)
            assert place.offset > offsets[place.partition]
            offsets[place.partition] = place.offset
