"""aiokafka."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import aiokafka

from harness.exchange import PATIENCE_S, Record


class AioKafka:
    """aiokafka as it is."""

    name = "aiokafka"

    def produce(self, bootstrap_servers: str, topic: str, codec: str, records: Sequence[Record]) -> None:
        """Write with futures."""

        async def write() -> None:
            producer = aiokafka.AIOKafkaProducer(
                bootstrap_servers=bootstrap_servers,
                compression_type=None if codec == "none" else codec,
                enable_idempotence=True,
                linger_ms=20,
            )
            await producer.start()
            try:
                futures = [
                    await producer.send(
                        topic,
                        _bytes(record.value),
                        _bytes(record.key),
                        partition=0,
                        timestamp_ms=record.timestamp_ms,
                        headers=[(name, text.encode()) for name, text in record.headers],
                    )
                    for record in records
                ]
                await asyncio.wait_for(asyncio.gather(*futures), PATIENCE_S)
            finally:
                await producer.stop()

        asyncio.run(write())

    def consume(self, bootstrap_servers: str, topic: str, group: str, count: int) -> list[Record]:
        """Read as a member of a group, and commit what was read."""

        async def read() -> list[Record]:
            consumer = aiokafka.AIOKafkaConsumer(
                topic,
                bootstrap_servers=bootstrap_servers,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            )
            await consumer.start()
            found: list[Record] = []
            try:
                while len(found) < count:
                    batches = await consumer.getmany(timeout_ms=PATIENCE_S * 1000, max_records=count - len(found))
                    if not batches:
                        break
                    found += [_record(message) for messages in batches.values() for message in messages]
                await consumer.commit()
            finally:
                await consumer.stop()
            return found

        return asyncio.run(read())


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _record(message: Any) -> Record:
    return Record(
        key=None if message.key is None else message.key.decode(),
        value=None if message.value is None else message.value.decode(),
        headers=tuple((name, data.decode()) for name, data in message.headers),
        timestamp_ms=message.timestamp,
    )
