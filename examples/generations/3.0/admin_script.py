"""A deployment script for 3.0's admin client: topics, configs, offsets and groups.

    python admin_script.py localhost:9092 shop
"""

import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic, OffsetSpec
from kafka.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError


def main(servers, prefix):
    topic, group = prefix + "-stock", prefix + "-readers"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    made = admin.create_topics([NewTopic(topic, 2, 1, topic_configs={"retention.ms": "8640000000000"})])
    print("made:", [(each["name"] == topic, each["error_code"]) for each in made["topics"]])
    admin.wait_for_topics([topic])
    try:
        admin.create_topics([NewTopic(topic, 2, 1)])
    except TopicAlreadyExistsError as error:
        print("there already:", error.errno)
    again = admin.create_topics([NewTopic(topic, 2, 1)], raise_errors=False)
    print("as an answer:", [each["error_code"] for each in again["topics"]])
    admin.create_partitions({topic: NewPartitions(3)})
    print("listed:", topic in admin.list_topics())
    (described,) = admin.describe_topics([topic])
    print("described:", described["name"] == topic, described["error_code"], described["is_internal"])

    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    # its records are of 1970
    admin.alter_configs([ConfigResource("TOPIC", topic, configs={"retention.ms": "7200000000000"})])
    config = {"value": None}
    while config["value"] != "7200000000000":  # a broker takes what the controller has altered a moment later
        config = admin.describe_configs([resource])["topic"][topic]["retention.ms"]
    print("config:", config)

    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(9):
        producer.send(topic, b"%d" % number, partition=number % 2, timestamp_ms=1000 * (number + 1))
    producer.flush()
    producer.close()
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    latest = admin.list_partition_offsets({first: OffsetSpec.LATEST, second: OffsetSpec.LATEST})
    print("latest:", [latest[tp].offset for tp in (first, second)])
    timed = admin.list_partition_offsets({first: 4500})
    print("at a time:", timed[first].offset, timed[first].timestamp)

    reader = KafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
    reader.assign([first, second])
    reader.commit({first: OffsetAndMetadata(2, "two", -1)})
    reader.close()
    offsets = admin.list_group_offsets([group])[group]
    print("group's:", [(tp.partition, entry.offset, entry.metadata) for tp, entry in offsets.items()])
    (listed,) = [each for each in admin.list_groups() if each["group_id"] == group]
    print("group:", listed["group_id"] == group, listed["group_state"])
    print("groups deleted:", [str(value) for value in admin.delete_groups([group]).values()])

    removed = admin.delete_records({first: 3})
    print("records deleted:", [entry["low_watermark"] for entry in removed.values()])
    gone = admin.delete_topics([topic])
    print("gone:", [(each["name"] == topic, each["error_code"]) for each in gone["topics"]])
    try:
        admin.delete_topics([prefix + "-none"])
    except UnknownTopicOrPartitionError as error:
        print("never there:", error.errno)
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
