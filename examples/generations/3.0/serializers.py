"""A producer and a consumer of 3.0 with serializers that see headers, and a partitioner class of their own.

    python serializers.py localhost:9092 shop
"""

import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.partitioner import Partitioner
from kafka.serializer import Deserializer, Serializer


class TextSerializer(Serializer):
    def serialize(self, topic, headers, data):
        return None if data is None else data.upper().encode("utf-16-le")


class TextDeserializer(Deserializer):
    def deserialize(self, topic, headers, data):
        return None if data is None else (data.decode("utf-16-le"), [key for key, _ in headers])


class ByLength(Partitioner):
    def partition(self, topic, key, serialized_key, value, serialized_value, cluster):
        assert len(serialized_key) == 2 * len(key)
        return sorted(cluster.partitions_for_topic(topic))[len(key) % 2]


def main(servers, prefix):
    topic = prefix + "-names"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 2, 1)])
    admin.close()
    with KafkaProducer(
        bootstrap_servers=servers,
        key_serializer=TextSerializer(),
        value_serializer=TextSerializer(),
        partitioner=ByLength(),
    ) as producer:
        print("topic's partitions:", sorted(producer.partitions_for(topic)))
        futures = [
            producer.send(topic, name, key=name, headers=[("number", b"%d" % number)])
            for number, name in enumerate(["ada", "grace", "edsger", "barbara"])
        ]
        futures.append(producer.send(topic, None, key="ada"))
        print("sent:", [(future.get(10).partition, future.get(10).offset) for future in futures])

    with KafkaConsumer(
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        key_deserializer=TextDeserializer(),
        value_deserializer=TextDeserializer(),
        max_poll_records=2,
    ) as consumer:
        consumer.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
        rows = []
        while len(rows) < 5:
            for tp, records in consumer.poll(timeout_ms=1000).items():
                rows += [(tp.partition, record.offset, record.key, record.value, record.headers) for record in records]
        for row in sorted(rows, key=lambda row: row[:2]):
            print(*row)


if __name__ == "__main__":
    main(*sys.argv[1:3])
