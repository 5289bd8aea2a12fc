"""What type checkers have to refuse: each line that says so, and no other."""

from kafka import AsyncKafkaConsumer, AsyncKafkaProducer, KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.aio import AIOKafkaConsumer

KafkaConsumer("orders", groupid="typo")  # wrong
KafkaConsumer(bootstrap_servers=9092)  # wrong
KafkaProducer(linger=5)  # wrong
KafkaAdminClient(group_id="g")  # wrong
AIOKafkaConsumer("orders", auto_ofset_reset="earliest")  # wrong


def read(consumer: KafkaConsumer[str, int]) -> str:
    record = next(consumer)
    record.key.append("x")  # wrong
    return record.value  # wrong


def write(producer: KafkaProducer[str, int]) -> None:
    producer.send("orders", "text", key="a")  # wrong
    producer.send("orders", 1, key=b"a")  # wrong
    producer.send("orders", 1, headers={"a": b"b"})  # wrong
    print(producer.send("orders", 1).get(timeout=5).offfset)  # wrong


async def both(consumer: AsyncKafkaConsumer[str, int], producer: AsyncKafkaProducer[str, int]) -> None:
    text: str = (await consumer.getone()).value  # wrong
    await producer.send_and_wait("orders", text)  # wrong
    for record in consumer:  # wrong
        print(record)


def tables(producer: KafkaProducer[str, int]) -> None:
    producer.send_arrow("orders", [b"not", b"columns"])  # wrong
