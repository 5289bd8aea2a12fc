"""Two members of a group with listeners, which save their places when partitions are taken away.

Each member runs in a thread of its own. The second one joins after the first has read everything; then half of the
partitions are its own, and nothing is read twice.

    python rebalances.py localhost:9092 shop
"""

import sys
import threading
import time

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor


class SaveOffsets(ConsumerRebalanceListener):
    def __init__(self, member):
        self.member = member

    def on_partitions_revoked(self, revoked):
        self.member.events.append(("revoked", sorted(tp.partition for tp in revoked)))
        if revoked:
            self.member.consumer.commit()

    def on_partitions_assigned(self, assigned):
        self.member.events.append(("assigned", sorted(tp.partition for tp in assigned)))


class Member(threading.Thread):
    def __init__(self, servers, topic, group):
        super().__init__()
        self.daemon = True
        self.events = []
        self.values = []
        self.stopping = threading.Event()
        self.error = None
        self.consumer = KafkaConsumer(
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
            session_timeout_ms=6000,
            metadata_max_age_ms=1000,
            partition_assignment_strategy=[RoundRobinPartitionAssignor],
        )
        self.consumer.subscribe([topic], listener=SaveOffsets(self))

    def run(self):
        try:
            while not self.stopping.is_set():
                for records in self.consumer.poll(timeout_ms=100).values():
                    self.values.extend(record.value.decode() for record in records)
            self.consumer.commit()
        except Exception as error:
            self.error = error
        finally:
            self.consumer.close(autocommit=False)

    def stop(self):
        self.stopping.set()
        self.join(20)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error


def wait_for(condition):
    end = time.time() + 30
    while not condition():
        assert time.time() < end, "waited in vain"
        time.sleep(0.05)


def send(servers, topic, name):
    producer = KafkaProducer(bootstrap_servers=servers, value_serializer=lambda text: text.encode())
    for partition in range(4):
        producer.send(topic, "{}{}".format(name, partition), partition=partition)
    producer.flush()
    producer.close()


def main(servers, prefix):
    topic, group = prefix + "-tasks", prefix + "-pool"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, num_partitions=4, replication_factor=1)])
    admin.close()
    send(servers, topic, "a")

    first = Member(servers, topic, group)
    first.start()
    wait_for(lambda: len(first.values) == 4)
    print("first:", first.events[-1], sorted(first.values))

    second = Member(servers, topic, group)
    second.start()
    wait_for(lambda: second.events and second.events[-1][0] == "assigned" and len(second.events[-1][1]) == 2)
    wait_for(lambda: first.events[-1][0] == "assigned" and len(first.events[-1][1]) == 2)
    shares = [first.events[-1][1], second.events[-1][1]]
    print("shares:", sorted(shares))
    print("first lost:", first.events[-2])

    send(servers, topic, "b")
    wait_for(lambda: len(first.values) + len(second.values) == 8)
    print("second read:", sorted(value[0] for value in second.values))
    second.stop()
    wait_for(lambda: first.events[-1] == ("assigned", [0, 1, 2, 3]))
    send(servers, topic, "c")
    wait_for(lambda: len(first.values) == 10)
    first.stop()
    print("all:", sorted(first.values + second.values))


if __name__ == "__main__":
    main(*sys.argv[1:3])
