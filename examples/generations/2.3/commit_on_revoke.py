"""Two workers that commit what they have done when partitions are taken from them, each with a listener of its own.

    python commit_on_revoke.py localhost:9092 shop
"""

import sys
import threading
import time

from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata
from kafka.admin import NewTopic
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.structs import TopicPartition


class HandleRebalance(ConsumerRebalanceListener):
    def __init__(self, worker):
        self.worker = worker

    def on_partitions_revoked(self, revoked):
        worker = self.worker
        offsets = {tp: offset for tp, offset in worker.offsets.items() if tp in revoked}
        if offsets:
            worker.consumer.commit(offsets)
            worker.committed.update((tp.partition, offset.offset) for tp, offset in offsets.items())
        worker.offsets.clear()
        worker.log.append("revoked %s" % sorted(tp.partition for tp in revoked))

    def on_partitions_assigned(self, assigned):
        self.worker.log.append("assigned %s" % sorted(tp.partition for tp in assigned))


class Worker(threading.Thread):
    def __init__(self, servers, topic, group, name):
        threading.Thread.__init__(self, name=name, daemon=True)
        self.offsets, self.committed, self.values, self.log = {}, {}, [], []
        self.stop_event = threading.Event()
        self.failed = None
        self.consumer = KafkaConsumer(
            bootstrap_servers=servers,
            client_id=name,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=10000,
            heartbeat_interval_ms=200,
            partition_assignment_strategy=[RangePartitionAssignor],
        )
        self.consumer.subscribe(topics=[topic], listener=HandleRebalance(self))

    def run(self):
        try:
            while not self.stop_event.is_set():
                for tp, records in self.consumer.poll(timeout_ms=100, max_records=5).items():
                    for record in records:
                        self.values.append(record.value)
                        self.offsets[tp] = OffsetAndMetadata(record.offset + 1, self.name, record.leader_epoch)
        except Exception as error:
            self.failed = error
        finally:
            if self.offsets:
                self.consumer.commit(dict(self.offsets))
            self.consumer.close(autocommit=False)

    def stop(self):
        self.stop_event.set()
        self.join(30)
        if self.failed:
            raise self.failed


def wait_until(what, condition):
    deadline = time.time() + 30
    while not condition():
        if time.time() > deadline:
            raise SystemExit("waited in vain until " + what)
        time.sleep(0.02)


def main(servers, prefix):
    topic, group = prefix + "-jobs", prefix + "-workers"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 4, 1)])
    producer = KafkaProducer(bootstrap_servers=servers)

    def send(letter):
        for number in range(4):
            for _ in range(3):
                producer.send(topic, letter, partition=number)
        producer.flush()

    send(b"a")
    first = Worker(servers, topic, group, "first")
    first.start()
    wait_until("the first has read all", lambda: len(first.values) == 12)
    second = Worker(servers, topic, group, "second")
    second.start()
    wait_until("both have a share", lambda: second.log[-1:] in (["assigned [0, 1]"], ["assigned [2, 3]"]))
    print("first committed:", sorted(first.committed.items()))
    wait_until("the first knows its share", lambda: first.log[-1] in ("assigned [0, 1]", "assigned [2, 3]"))
    print("shares:", sorted([first.log[-1], second.log[-1]]))

    send(b"b")
    wait_until("each has read its share", lambda: len(first.values) + len(second.values) == 24)
    print("twice:", first.values.count(b"a") + second.values.count(b"a") - 12)
    print("second read:", sorted(set(second.values)), len(second.values))
    second.stop()
    wait_until("the first has all again", lambda: first.log[-1] == "assigned [0, 1, 2, 3]")
    first.stop()
    offsets = admin.list_consumer_group_offsets(group)
    print("committed:", [(offsets[TopicPartition(topic, number)].offset) for number in range(4)])
    print("by:", sorted({offset.metadata for offset in offsets.values()}))
    producer.close()
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
