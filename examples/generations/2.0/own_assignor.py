"""An assignor of one's own, with class methods as they were: one member gets all, whoever has the first name.

    python own_assignor.py localhost:9092 shop
"""

import sys
import threading
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.coordinator.protocol import ConsumerProtocolMemberAssignment, ConsumerProtocolMemberMetadata

SEEN = []


class FirstTakesAll(AbstractPartitionAssignor):
    name = "first-takes-all"
    version = 0

    @classmethod
    def assign(cls, cluster, member_metadata):
        topics = sorted({topic for metadata in member_metadata.values() for topic in metadata.subscription})
        counts = [(len(topic), sorted(cluster.partitions_for_topic(topic))) for topic in topics]
        SEEN.append((len(member_metadata), [partitions for _, partitions in counts]))
        first = min(member_metadata)
        everything = [(topic, sorted(cluster.partitions_for_topic(topic))) for topic in topics]
        return {
            member: ConsumerProtocolMemberAssignment(cls.version, everything if member == first else [], b"")
            for member in member_metadata
        }

    @classmethod
    def metadata(cls, topics):
        return ConsumerProtocolMemberMetadata(cls.version, list(topics), b"")

    @classmethod
    def on_assignment(cls, assignment):
        SEEN.append([(tp.partition) for tp in sorted(assignment.partitions())])


def run(consumer, values, stopping):
    while not stopping.is_set():
        for records in consumer.poll(timeout_ms=100).values():
            values.extend(int(record.value) for record in records)
    consumer.close()


def main(servers, prefix):
    topic = prefix + "-jobs"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 3, 1)])
    producer = KafkaProducer(bootstrap_servers=servers)
    stopping = threading.Event()
    members = []
    for name in ("a", "b"):
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=prefix + "-heirs",
            client_id=name,
            partition_assignment_strategy=[FirstTakesAll],
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            session_timeout_ms=6000,
        )
        values = []
        thread = threading.Thread(target=run, args=(consumer, values, stopping))
        thread.start()
        members.append((consumer, values, thread))
        end = time.time() + 30
        while not any(entry[0] == len(members) for entry in SEEN if isinstance(entry, tuple)):
            assert time.time() < end, SEEN
            time.sleep(0.05)
    end = time.time() + 30
    while [len(consumer.assignment()) for consumer, _, _ in members] != [3, 0] or SEEN[-1] not in ([], [0, 1, 2]):
        assert time.time() < end
        time.sleep(0.05)

    [group] = admin.describe_consumer_groups([prefix + "-heirs"])
    print("protocol:", group.protocol, sorted(member.client_id for member in group.members))
    for number in range(6):
        producer.send(topic, b"%d" % number, partition=number % 3)
    producer.flush()
    end = time.time() + 30
    while len(members[0][1]) < 6:
        assert time.time() < end
        time.sleep(0.05)
    stopping.set()
    for _, values, thread in members:
        thread.join(20)
        print("values:", sorted(values))
    print("seen:", [entry for entry in SEEN if isinstance(entry, tuple)][:2])
    admin.close()
    producer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
