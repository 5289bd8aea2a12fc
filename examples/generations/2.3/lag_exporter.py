"""An exporter that shows how far a group is behind, from what the group committed and where its partitions end.

    python lag_exporter.py localhost:9092 shop
"""

import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import GroupIdNotFoundError, NonEmptyGroupError


def main(servers, prefix):
    topic, group = prefix + "-meters", prefix + "-billing"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 2, 1)])
    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(30):
        producer.send(topic, value=b"%d" % number, key=b"k", partition=number % 3 % 2, timestamp_ms=1000 * number)
    producer.flush()

    worker = KafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
    partitions = [TopicPartition(topic, number) for number in sorted(worker.partitions_for_topic(topic))]
    worker.assign(partitions)
    print("committed before:", [worker.committed(tp) for tp in partitions])
    worker.commit({partitions[0]: OffsetAndMetadata(12, "by hand", -1), partitions[1]: OffsetAndMetadata(4, "", -1)})
    print("committed:", [worker.committed(tp) for tp in partitions])
    print("with metadata:", worker.committed(partitions[0], metadata=True))

    exporter = KafkaConsumer(bootstrap_servers=servers)
    ends, begins = exporter.end_offsets(partitions), exporter.beginning_offsets(partitions)
    print("from, to:", [(tp.partition, begins[tp], ends[tp]) for tp in partitions])
    stored = admin.list_consumer_group_offsets(group)
    print("stored:", sorted((tp.partition, meta.offset, meta.metadata) for tp, meta in stored.items()))
    print("lag:", {tp.partition: ends[tp] - stored[tp].offset for tp in partitions})
    some = admin.list_consumer_group_offsets(group, partitions=[partitions[1]])
    print("some:", [(tp.partition, meta.offset) for tp, meta in some.items()])
    times = exporter.offsets_for_times({tp: 10500 for tp in partitions})
    print("at a time:", [(tp.partition, times[tp].offset, times[tp].timestamp) for tp in partitions])
    print("later than all:", exporter.offsets_for_times({partitions[0]: 10**9}) == {partitions[0]: None})
    print("listed:", [kind for name, kind in admin.list_consumer_groups() if name == group])

    worker.close()
    deleted = admin.delete_consumer_groups([group])
    print("deleted:", [(name == group, error.errno) for name, error in deleted])
    gone = admin.delete_consumer_groups([group])
    print("gone:", [(name == group, error is GroupIdNotFoundError) for name, error in gone], NonEmptyGroupError.errno)
    exporter.close()
    producer.close()
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
