"""What goes wrong, and under which name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerStoppedError, IllegalOperation, TopicPartition
from aiokafka.errors import (
    IllegalStateError,
    KafkaError,
    MessageSizeTooLargeError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    ProducerClosed,
    UnsupportedVersionError,
    for_code,
)

SERVERS, TOPIC, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["TOPIC"], os.environ["GROUP"]


async def caught(what: str, awaitable: Awaitable[object], *kinds: type[Exception]) -> None:
    try:
        await awaitable
    except kinds as error:
        print(what, [kind.__name__ for kind in kinds if isinstance(error, kind)], isinstance(error, Exception))
    else:
        print(what, "went well")


async def main() -> None:
    print(for_code(3).__name__, for_code(36).__name__, issubclass(UnsupportedVersionError, KafkaError))
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, max_request_size=1000)
    await producer.start()
    await caught("too large", producer.send(TOPIC, b"x" * 2000), MessageSizeTooLargeError)
    await caught("no transactions", producer.begin_transaction(), IllegalOperation)
    await producer.send_and_wait(TOPIC, b"good", partition=0)
    await producer.stop()
    await caught("closed", producer.send(TOPIC, b"late"), ProducerClosed)
    await producer.stop()
    print("stopped twice")

    tp = TopicPartition(TOPIC, 0)
    consumer = AIOKafkaConsumer(bootstrap_servers=SERVERS, auto_offset_reset="none")
    await consumer.start()
    consumer.assign([tp])
    await caught("no offset", consumer.getone(), NoOffsetForPartitionError)
    consumer.seek(tp, 1_000)
    await caught("out of range", consumer.getone(), OffsetOutOfRangeError)
    consumer.seek(tp, 0)
    print("reads", (await consumer.getone()).value)
    await caught("no group", consumer.commit(), IllegalOperation)
    await caught("not assigned", consumer.position(TopicPartition(TOPIC, 9)), IllegalStateError)
    waiting = asyncio.create_task(consumer.getone())
    await asyncio.sleep(0.05)
    await consumer.stop()
    await caught("stopped while waiting", waiting, ConsumerStoppedError)
    await caught("stopped before", consumer.getone(), ConsumerStoppedError)
    await caught("stopped before", consumer.getmany(), ConsumerStoppedError)
    await consumer.stop()
    print("stopped twice")

    consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, group_id=GROUP)
    await consumer.start()
    try:
        consumer.assign([tp])
    except IllegalStateError:
        print("subscribed already")
    for wrong in ("ab", 5):
        try:
            consumer.subscribe(wrong)  # type: ignore[arg-type]
        except (TypeError, IllegalStateError):
            print("no topics", wrong)
    await consumer.stop()


asyncio.run(main())
