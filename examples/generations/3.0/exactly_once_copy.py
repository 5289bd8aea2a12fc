"""A service that copies orders to invoices exactly once: what it read is committed with what it wrote.

It dies in the middle of a transaction; the one that takes over under its name goes on where the last commit stands.
Only what was committed is seen by readers of committed records.

Topics: orders=2, invoices=2

    python exactly_once_copy.py localhost:9092 shop
"""

import sys

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError


def transactional(servers, prefix):
    producer = KafkaProducer(bootstrap_servers=servers, transactional_id=prefix + "-copier", acks="all")
    producer.init_transactions()
    return producer


def reader(servers, group, topic):
    return KafkaConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        max_poll_records=4,
        session_timeout_ms=6000,
    )


def copy(consumer, producer, topic, batches, dies_after=None):
    """Copy batches until nothing comes; gives how many records were committed."""
    copied = quiet = 0
    while quiet < 3:
        records = consumer.poll(timeout_ms=1500)
        if not records:
            quiet += 1
            continue
        producer.begin_transaction()
        offsets = {}
        for partition, messages in records.items():
            for message in messages:
                producer.send(topic, key=message.key, value=b"invoice of " + message.value, partition=partition.partition)
            offsets[partition] = OffsetAndMetadata(messages[-1].offset + 1, "", -1)
        producer.flush()
        batches += 1
        if batches == dies_after:
            return copied  # without an end: as if it had been killed
        producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        producer.commit_transaction()
        copied += sum(len(messages) for messages in records.values())
    return copied


def read_all(servers, topic, level):
    consumer = KafkaConsumer(
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level=level,
        consumer_timeout_ms=2000,
    )
    consumer.assign([TopicPartition(topic, number) for number in range(2)])
    values = sorted(message.value for message in consumer)
    consumer.close()
    return values


def main(servers, prefix):
    orders, invoices, group = prefix + "-orders", prefix + "-invoices", prefix + "-copiers"
    source = KafkaProducer(bootstrap_servers=servers)
    for number in range(10):
        source.send(orders, key=b"%d" % number, value=b"order %d" % number, partition=number % 2)
    source.flush()
    source.close()

    first, consumer = transactional(servers, prefix), reader(servers, group, orders)
    done = copy(consumer, first, invoices, 0, dies_after=2)
    print("copied before the crash:", done > 0)
    consumer.close()

    second, consumer = transactional(servers, prefix), reader(servers, group, orders)
    print("copied in all:", done + copy(consumer, second, invoices, 0))
    metadata = consumer.group_metadata()
    print("group:", metadata.group_id == group, metadata.generation_id > 0, bool(metadata.member_id))
    try:
        first.commit_transaction()
        print("the dead one could commit")
    except KafkaError as error:
        print("the dead one is fenced:", type(error).__name__)
    first.close(timeout=1)

    committed = read_all(servers, invoices, "read_committed")
    print("invoices:", len(committed), len(set(committed)), committed[0], committed[-1])
    print("more are written than committed:", len(read_all(servers, invoices, "read_uncommitted")) > len(committed))
    consumer.close()
    second.close()

    check = KafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
    print("group's offsets:", [check.committed(TopicPartition(orders, number)) for number in range(2)])
    check.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
