"""A gateway that reports what became of each message: futures, callbacks, errbacks, and a second try for what failed.

    python delivery_reports.py localhost:9092 shop
"""

import json
import sys
import threading
from decimal import Decimal

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError


class Reports:
    def __init__(self):
        self.lock = threading.Lock()
        self.delivered, self.failed = [], []

    def success(self, number, metadata):
        with self.lock:
            self.delivered.append((number, metadata.partition, metadata.offset))

    def failure(self, number, error):
        with self.lock:
            self.failed.append((number, type(error).__name__))


def send_with_retry(producer, topic, value, attempts=3, **more):
    for attempt in range(1, attempts + 1):
        try:
            metadata = producer.send(topic, value=value, **more).get(timeout=10)
        except KafkaError as error:
            print("attempt %d:" % attempt, type(error).__name__, error.retriable)
            if isinstance(error, MessageSizeTooLargeError):
                value = value[: len(value) // 2]
            elif not error.retriable:
                return None
        else:
            return metadata
    return None


def main(servers, prefix):
    topic = prefix + "-mails"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 2, 1, topic_configs={"max.message.bytes": "2000"})])
    admin.close()

    producer = KafkaProducer(
        bootstrap_servers=servers,
        client_id="gateway",
        acks="all",
        retries=3,
        linger_ms=50,
        batch_size=100,
        max_block_ms=5000,
        key_serializer=lambda key: key if key is None else key.encode(),
        value_serializer=lambda value: json.dumps(value).encode(),
    )
    print("connected:", producer.bootstrap_connected(), sorted(producer.partitions_for(topic)))
    reports = Reports()
    for number in range(10):
        future = producer.send(topic, {"to": number}, key="user%d" % (number % 4), partition=number % 2)
        future.add_callback(reports.success, number).add_errback(reports.failure, number)
    producer.flush()
    print("delivered:", sorted(reports.delivered))

    future = producer.send(topic, "y" * 3000, partition=0)
    future.add_errback(reports.failure, "large")
    try:
        future.get(timeout=10)
    except MessageSizeTooLargeError as error:
        print("refused by the broker:", error.errno, future.failed(), future.is_done, future.exception is error)
    producer.flush()
    print("failed:", reports.failed)
    metadata = send_with_retry(producer, topic, "z" * 5000, partition=1)
    print("at last:", metadata.offset, metadata.serialized_value_size)

    for wrong in (Decimal(1), {1, 2}):
        try:
            producer.send(topic, wrong)
        except TypeError as error:
            print("not JSON:", str(error)[:14])
    try:
        producer.send(topic, "value", key=7)
    except AttributeError:
        print("the key is no text")
    try:
        producer.send(topic, "value", partition=5)
    except (AssertionError, KafkaError):
        print("no such partition")
    try:
        producer.send(topic + " with a space", "value").get(timeout=10)
    except (ValueError, KafkaError) as error:
        print("no such name:", isinstance(error, ValueError))

    impatient = KafkaProducer(bootstrap_servers=servers, max_block_ms=300, allow_auto_create_topics=False)
    try:
        impatient.send(prefix + "-nowhere", b"value").get(timeout=10)
    except KafkaTimeoutError as error:
        print("no such topic:", type(error).__name__, error.retriable)
    impatient.close()
    pending = producer.send(topic, "the last one", partition=0)
    producer.close(timeout=10)
    print("sent by close:", pending.succeeded(), pending.value.offset, pending.value.timestamp > 1600000000000)


if __name__ == "__main__":
    main(*sys.argv[1:3])
