"""A replay from a point in time: partitions by hand, a seek to what offsets_for_times finds, and a stop where they ended.

    python replay_from_time.py localhost:9092 shop
"""

import sys
from datetime import datetime, timezone

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.structs import OffsetAndTimestamp, TopicPartition


def in_ms(*moment):
    return int(datetime(*moment, tzinfo=timezone.utc).timestamp() * 1000)


START = in_ms(2024, 3, 1, 12, 0, 0)
MINUTE = 60000


def fill(servers, topic):
    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=20)
    for number in range(60):
        partition = 0 if number < 20 else number % 3 % 2 + 1
        producer.send(topic, b"event %d" % number, partition=partition, timestamp_ms=START + number * MINUTE)
    producer.flush(timeout=10)
    producer.close()


def replay(consumer, partitions, since, until=None):
    starts = consumer.offsets_for_times({tp: since for tp in partitions})
    stops = consumer.end_offsets(partitions)
    if until is not None:
        for tp, found in consumer.offsets_for_times(dict.fromkeys(partitions, until)).items():
            if found is not None:
                stops[tp] = found.offset
    for tp in partitions:
        if starts[tp] is None:
            consumer.seek_to_end(tp)
        else:
            consumer.seek(tp, starts[tp].offset)
    waiting = {tp for tp in partitions if consumer.position(tp) < stops[tp]}
    seen = []
    while waiting:
        for tp, records in consumer.poll(timeout_ms=1000, max_records=8).items():
            seen += [record for record in records if record.offset < stops[tp]]
        waiting = {tp for tp in waiting if consumer.position(tp) < stops[tp]}
    return seen


def main(servers, prefix):
    topic = prefix + "-events"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 3, 1, topic_configs={"retention.ms": "-1"})])
    admin.close()
    fill(servers, topic)

    consumer = KafkaConsumer(
        bootstrap_servers=servers, group_id=None, enable_auto_commit=False, auto_offset_reset="none", consumer_timeout_ms=10000
    )
    partitions = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
    consumer.assign(partitions)
    print("from:", [consumer.beginning_offsets(partitions)[tp] for tp in partitions])
    print("to:", [consumer.end_offsets(partitions)[tp] for tp in partitions])

    found = consumer.offsets_for_times({tp: START + 30 * MINUTE for tp in partitions})
    print("half past:", [found[tp] and (found[tp].offset, (found[tp].timestamp - START) // MINUTE) for tp in partitions])
    print("a tuple:", isinstance(found[partitions[1]], OffsetAndTimestamp), found[partitions[1]]._fields)
    print("before all:", [each.offset for _, each in sorted(consumer.offsets_for_times(dict.fromkeys(partitions, 0)).items())])
    print("of none:", consumer.offsets_for_times({}))
    try:
        consumer.offsets_for_times({partitions[0]: -5})
    except ValueError:
        print("no such time")

    records = replay(consumer, partitions, START + 15 * MINUTE)
    print("since a quarter past:", len(records), sorted(int(record.value.split()[1]) for record in records)[:7])
    print("in order:", all(
        [record.offset for record in records if record.partition == tp.partition]
        == sorted(record.offset for record in records if record.partition == tp.partition)
        for tp in partitions
    ))
    records = replay(consumer, partitions, START + 15 * MINUTE, START + 25 * MINUTE)
    print("ten minutes:", sorted((record.timestamp - START) // MINUTE for record in records))
    print("types:", {(record.timestamp_type, record.key, record.checksum) for record in records})
    print("high waters:", [consumer.highwater(tp) for tp in partitions[1:]])

    consumer.seek_to_beginning()
    print("at the beginning:", [consumer.position(tp) for tp in partitions])
    consumer.seek_to_end(partitions[2])
    print("one at the end:", [consumer.position(tp) for tp in partitions])
    for wrong in ((TopicPartition(topic, 9), 0), (partitions[0], -3)):
        try:
            consumer.seek(*wrong)
        except AssertionError:
            print("no seek:", wrong[0].partition, wrong[1])
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
