"""Consumer groups as an operator sees them: listed, described while a member works, their offsets, deleted.

    python group_admin.py localhost:9092 shop
"""

import sys
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import GroupIdNotFoundError, KafkaError, NonEmptyGroupError
from kafka.structs import OffsetAndMetadata


def main(servers, prefix):
    topic, group = prefix + "-parcels", prefix + "-drivers"
    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(6):
        producer.send(topic, b"parcel %d" % number)
    producer.flush()

    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=group,
        client_id="driver-7",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    seen = 0
    while seen < 6:
        seen += sum(len(records) for records in consumer.poll(timeout_ms=500).values())
    tp = TopicPartition(topic, 0)
    consumer.commit({tp: OffsetAndMetadata(4, "half way")})

    admin = KafkaAdminClient(bootstrap_servers=servers)
    print("listed:", [kind for name, kind in admin.list_consumer_groups() if name == group])
    [described] = admin.describe_consumer_groups([group])
    print("described:", described.error_code, described.group == group, described.state, described.protocol_type)
    print("protocol:", described.protocol)
    for member in described.members:
        print(
            "member:",
            member.client_id,
            member.member_id.startswith("driver-7-"),
            member.client_host,
            [name == topic for name in member.member_metadata.subscription],
            [(name == topic, partitions) for name, partitions in member.member_assignment.assignment],
        )
    offsets = admin.list_consumer_group_offsets(group)
    print("offsets:", [(tp.partition, value.offset, value.metadata) for tp, value in offsets.items()])
    asked = admin.list_consumer_group_offsets(group, partitions=[tp, TopicPartition(topic, 1)])
    print("asked:", sorted((tp.partition, value.offset) for tp, value in asked.items()))
    [(name, error)] = admin.delete_consumer_groups([group])
    print("in use:", name == group, error is NonEmptyGroupError or isinstance(error, NonEmptyGroupError))

    consumer.close()
    end = time.time() + 20
    while admin.describe_consumer_groups([group])[0].state != "Empty":
        assert time.time() < end
        time.sleep(0.1)
    [(name, error)] = admin.delete_consumer_groups([group])
    print("deleted:", name == group, error.__name__)
    [(_, error)] = admin.delete_consumer_groups([group])
    print("again:", error.__name__, error.errno, issubclass(error, (GroupIdNotFoundError, KafkaError)))
    [described] = admin.describe_consumer_groups([group])
    print("state:", described.state, described.members)
    print("offsets:", admin.list_consumer_group_offsets(group))
    print("listed:", [name for name, _ in admin.list_consumer_groups() if name == group])
    admin.close()
    producer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
