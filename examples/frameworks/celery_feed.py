"""Feeds Celery from a topic: each record becomes a task of `celery_app`.

The offset of a record is committed once its task is queued, so no record is lost: if this process is killed between the
two, it queues the record again. The id of a task is the record's position in the topic, so both tasks have the same id.
Celery runs both: a task that must not take effect twice stores the ids of those that it has finished.

    pip install kafka-columnar celery
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 celery -A celery_app worker --pool prefork --concurrency 2
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python celery_feed.py
    echo 'ada:3' | kafka produce requests --key-delimiter :
"""

import os
import signal
import sys

from celery_app import SERVERS, announce

from kafka import KafkaConsumer
from kafka.errors import KafkaError, WakeupError

REQUESTS = os.environ.get("KAFKA_REQUESTS", "requests")
GROUP = os.environ.get("KAFKA_GROUP", "celery-feed")


def feed(consumer: KafkaConsumer[str, str]) -> None:
    while True:
        polled = consumer.poll(timeout_ms=60_000)
        for records in polled.values():
            for record in records:
                position = f"{record.topic}-{record.partition}-{record.offset}"
                announce.apply_async((record.key, int(record.value)), task_id=position)
        if polled:
            consumer.commit()


def main() -> None:
    with KafkaConsumer(
        REQUESTS,
        bootstrap_servers=SERVERS,
        group_id=GROUP,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=100,
        key_deserializer=bytes.decode,
        value_deserializer=bytes.decode,
    ) as consumer:
        for number in signal.SIGTERM, signal.SIGINT:
            signal.signal(number, lambda *_: consumer.wakeup())
        print("waiting for requests", flush=True)
        try:
            feed(consumer)
        except WakeupError:
            print("stopped", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KafkaError as error:
        sys.exit(f"celery_feed: {error}")
