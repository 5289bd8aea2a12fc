"""A ledger's two sides in one transaction: both bookings or none, read with read_committed.

Topics: accounts=2
Differs: what can only be aborted is a TransactionAbortableError, which has InvalidProducerEpochError as its cause

    python transactional_ledger.py localhost:9092 shop
"""

import sys

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError


class NotEnough(Exception):
    pass


def transfer(producer, topic, balances, source, target, amount):
    producer.begin_transaction()
    try:
        futures = [
            producer.send(topic, key=source, value=b"-%d" % amount, partition=0),
            producer.send(topic, key=target, value=b"+%d" % amount, partition=1),
        ]
        producer.flush()
        if balances[source] < amount:
            raise NotEnough(source)
    except NotEnough:
        producer.abort_transaction()
        return False
    producer.commit_transaction()
    balances[source] -= amount
    balances[target] += amount
    return all(future.succeeded() for future in futures)


def bookings(servers, topic, level):
    consumer = KafkaConsumer(
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level=level,
        consumer_timeout_ms=2000,
    )
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    consumer.assign(partitions)
    found = {0: [], 1: []}
    for message in consumer:
        found[message.partition].append((message.key, message.value))
    ends = consumer.end_offsets(partitions)
    consumer.close()
    return found, [ends[each] for each in partitions]


def main(servers, prefix):
    topic = prefix + "-accounts"
    try:
        KafkaProducer(bootstrap_servers=servers).begin_transaction()
    except Exception as error:
        print("without a transactional_id it fails:", isinstance(error, (RuntimeError, KafkaError)))
    producer = KafkaProducer(
        bootstrap_servers=servers, transactional_id=prefix + "-ledger", acks="all", retries=5, enable_idempotence=True
    )
    producer.init_transactions()
    balances = {b"ann": 100, b"bob": 10}
    for source, target, amount in ((b"ann", b"bob", 30), (b"bob", b"ann", 500), (b"bob", b"ann", 5)):
        print("transfer of {}:".format(amount), transfer(producer, topic, balances, source, target, amount))
    print("balances:", sorted(balances.items()))

    found, ends = bookings(servers, topic, "read_committed")
    print("committed:", sorted(found.items()))
    found, _ = bookings(servers, topic, "read_uncommitted")
    print("written:", {number: len(each) for number, each in sorted(found.items())})
    print("ends, with markers:", ends)

    producer.begin_transaction()
    offsets = {TopicPartition(topic, 0): OffsetAndMetadata(3, "seen", -1)}
    producer.send_offsets_to_transaction(offsets, prefix + "-auditors")
    producer.commit_transaction()
    auditor = KafkaConsumer(bootstrap_servers=servers, group_id=prefix + "-auditors")
    print("auditors are at:", auditor.committed(TopicPartition(topic, 0)))
    auditor.close()

    other = KafkaProducer(bootstrap_servers=servers, transactional_id=prefix + "-ledger", acks="all", retries=5)
    other.init_transactions()
    producer.begin_transaction()
    try:
        producer.send(topic, key=b"ann", value=b"-1", partition=0)
        producer.commit_transaction()
        print("two ledgers of one name")
    except KafkaError as error:
        print("the older ledger is fenced:", type(error).__name__)
    producer.close(timeout=1)
    other.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
