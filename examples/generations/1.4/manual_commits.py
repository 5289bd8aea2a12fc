"""A group's worker that commits by hand.

It takes a few records at a time, commits the place after each with a note of its own, and stops half way. The next worker
of the group goes on where the first one stopped, and commits without waiting, with a callback.

    python manual_commits.py localhost:9092 shop
"""

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata


def place_orders(servers, topic):
    producer = KafkaProducer(bootstrap_servers=servers, acks="all", retries=3)
    for number in range(10):
        metadata = producer.send(topic, b"order %d" % number, partition=0).get(timeout=10)
        assert metadata.offset == number
    producer.close()


def new_worker(servers, topic, group):
    return KafkaConsumer(
        topic,
        bootstrap_servers=[servers],
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=10000,
        heartbeat_interval_ms=3000,
    )


def first_worker(servers, topic, group):
    consumer = new_worker(servers, topic, group)
    done = 0
    while done < 4:
        for partition, records in consumer.poll(timeout_ms=500, max_records=2).items():
            assert len(records) <= 2
            for record in records:
                note = "done with {}".format(record.value.decode())
                consumer.commit({partition: OffsetAndMetadata(record.offset + 1, note)})
                print("worked on", record.value.decode(), "- committed", consumer.committed(partition))
                done += 1
    print("position", consumer.position(TopicPartition(topic, 0)))
    consumer.close(autocommit=False)


def second_worker(servers, topic, group):
    outcomes = []

    def committed(offsets, response):
        outcomes.extend((tp.partition, value.offset, value.metadata, response) for tp, value in offsets.items())

    consumer = new_worker(servers, topic, group)
    values = []
    while len(values) < 6:
        for records in consumer.poll(timeout_ms=500).values():
            values.extend(record.value.decode() for record in records)
    print("second worker got", values)
    consumer.commit_async(callback=committed)
    while not outcomes:
        consumer.poll(timeout_ms=100)
    print("callback", outcomes)
    print("committed", consumer.committed(TopicPartition(topic, 0)))
    print("nothing committed", consumer.committed(TopicPartition(topic, 1)))
    consumer.close()


def main(servers, prefix):
    topic, group = prefix + "-orders", prefix + "-workers"
    place_orders(servers, topic)
    first_worker(servers, topic, group)
    second_worker(servers, topic, group)


if __name__ == "__main__":
    main(*sys.argv[1:3])
