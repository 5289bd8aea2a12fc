"""What type checkers have to take."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, assert_type

import pandas as pd
import polars as pl
import pyarrow as pa

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from kafka.record import ConsumerRecord


@dataclasses.dataclass
class Order:
    name: str
    amount: int


def order(data: bytes) -> Order:
    return Order(**json.loads(data))


def read(servers: list[str]) -> Iterator[Order]:
    consumer = KafkaConsumer[str, Order](
        "orders",
        bootstrap_servers=servers,
        group_id="typed",
        enable_auto_commit=False,
        key_deserializer=bytes.decode,
        value_deserializer=order,
    )
    for record in consumer:
        assert_type(record, ConsumerRecord[str, Order])
        assert_type(record.key, str)
        yield record.value
    for tp, records in consumer.poll(1_000).items():
        assert_type(tp, TopicPartition)
        assert_type(records, list[ConsumerRecord[str, Order]])
    for record in consumer.poll():
        assert_type(record.value, Order)


def untyped(consumer: KafkaConsumer) -> Any:
    return next(consumer).value.anything


def seconds(record: ConsumerRecord[str, Order]) -> float:
    return record.timestamp / 1000 + record.serialized_value_size


def write(producer: KafkaProducer[str, Order]) -> int:
    offset: int = producer.send("orders", Order("a", 1), key="a").get(timeout=10).offset
    return offset


async def read_async() -> None:
    async with AsyncKafkaConsumer[bytes, Order]("orders", value_deserializer=order) as consumer:
        assert_type(await consumer.getone(), ConsumerRecord[bytes, Order])
        async for record in consumer:
            assert_type(record.value, Order)
    async with AsyncKafkaProducer[str, Order](acks="all", linger_ms=5) as producer:
        await producer.send_and_wait("orders", Order("b", 2), "b")


class Listener(ConsumerRebalanceListener):
    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        print(revoked)

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        print(assigned)


async def as_aiokafka() -> None:
    consumer = AIOKafkaConsumer[str, Order](bootstrap_servers="localhost:9092", group_id="typed")
    consumer.subscribe(["orders"], listener=Listener())
    await consumer.start()
    assert_type(await consumer.getmany(timeout_ms=100), dict[TopicPartition, list[ConsumerRecord[str, Order]]])
    await consumer.stop()
    async with AIOKafkaProducer(max_batch_size=1_000) as producer:
        future = await producer.send("orders", b"x")
        print((await future).offset)


def tables(producer: KafkaProducer[str, int], rows: pa.Table, batch: pa.RecordBatch, frame: pl.DataFrame) -> None:
    for data in rows, batch, rows.to_reader():
        producer.send_arrow("orders", data)
    producer.send_arrow("orders", frame)
    producer.send_arrow("orders", frame.to_pandas())
    producer.send_arrow("orders", pd.DataFrame({"value": ["a"]}))
    producer.send_arrow("orders", {"value": ["a"]})
