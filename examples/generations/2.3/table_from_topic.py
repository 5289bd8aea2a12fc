"""A table kept in a topic: read from the beginning to where it ends now, tombstones delete, headers tell who wrote.

    python table_from_topic.py localhost:9092 shop
"""

import pickle
import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic


class Table:
    def __init__(self, servers, topic):
        self.topic = topic
        self.rows, self.writers, self.seen = {}, {}, 0
        self.consumer = KafkaConsumer(
            bootstrap_servers=servers,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=100,
            key_deserializer=lambda key: key.decode("ascii"),
            value_deserializer=lambda value: pickle.loads(value) if value is not None else None,
        )
        self.partitions = [TopicPartition(topic, number) for number in self.consumer.partitions_for_topic(topic)]
        self.consumer.assign(self.partitions)

    def refresh(self):
        ends = self.consumer.end_offsets(self.partitions)
        while any(self.consumer.position(tp) < ends[tp] for tp in self.partitions):
            for records in self.consumer.poll(timeout_ms=200).values():
                for record in records:
                    self.apply(record)
        return self

    def apply(self, record):
        self.seen += 1
        if record.value is None:
            self.rows.pop(record.key, None)
        else:
            self.rows[record.key] = record.value
        for name, value in record.headers:
            if name == "writer":
                self.writers[record.key] = value.decode()


def main(servers, prefix):
    topic = prefix + "-accounts"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 3, 1, topic_configs={"max.message.bytes": "100000"})])

    producer = KafkaProducer(
        bootstrap_servers=servers,
        key_serializer=lambda key: key.encode("ascii"),
        value_serializer=lambda value: pickle.dumps(value) if value is not None else None,
        acks="all",
        max_in_flight_requests_per_connection=1,
    )

    def write(key, value, writer):
        return producer.send(topic, key=key, value=value, headers=[("writer", writer.encode()), ("empty", b"")])

    for number in range(30):
        write("account-%d" % (number % 10), {"balance": number, "history": (1, number)}, "import")
    placed = {key: write(key, None, "clean-up").get(10).partition for key in ("account-3", "account-7")}
    producer.flush()
    print("placed:", placed)

    table = Table(servers, topic).refresh()
    print("rows:", len(table.rows), "records:", table.seen)
    print("row:", table.rows["account-4"], table.writers["account-4"], table.writers["account-3"])
    print("gone:", "account-3" in table.rows, "account-7" in table.rows)
    write("account-3", {"balance": 0}, "desk").get(timeout=10)
    table.refresh()
    print("back:", table.rows["account-3"], table.writers["account-3"], table.seen)

    ends = table.consumer.end_offsets(table.partitions)
    print("ends:", [ends[tp] for tp in sorted(table.partitions)], sum(ends.values()))
    first = sorted(table.partitions)[0]
    admin.delete_records({first: 4})
    begins = table.consumer.beginning_offsets(table.partitions)
    print("begins:", [begins[tp] for tp in sorted(table.partitions)])
    table.consumer.seek_to_beginning(first)
    table.refresh()
    print("again:", table.seen - 33 == ends[first] - 4)
    for look in (table.consumer.beginning_offsets, table.consumer.end_offsets):
        print("of nothing:", look([]))
    unknown = TopicPartition(prefix + "-none", 0)
    impatient = KafkaConsumer(bootstrap_servers=servers, request_timeout_ms=11000, session_timeout_ms=6000)
    if not impatient.partitions_for_topic(unknown.topic):
        print("no such topic")
    impatient.close()
    for client in (table.consumer, producer, admin):
        client.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
