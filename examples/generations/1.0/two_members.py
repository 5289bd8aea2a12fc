"""Two workers of a group in threads: KafkaConsumer of 1.0 with RoundRobinPartitionAssignor.

Shows how two topics are shared out, that each record goes to one worker, and who gets them when one leaves.

Topics: east=2, west=2
"""
from __future__ import print_function

import logging
import sys
import threading

from kafka import KafkaConsumer, KafkaProducer
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

logging.basicConfig(level=logging.CRITICAL)


class Worker(threading.Thread):
    def __init__(self, servers, group, topics):
        super(Worker, self).__init__()
        self.consumer = KafkaConsumer(
            *topics, bootstrap_servers=servers, group_id=group, auto_offset_reset='earliest', enable_auto_commit=True,
            auto_commit_interval_ms=100, session_timeout_ms=6000, heartbeat_interval_ms=300,
            partition_assignment_strategy=[RoundRobinPartitionAssignor])
        self.stop = threading.Event()
        self.assigned, self.read = set(), []

    def run(self):
        while not self.stop.is_set():
            for records in self.consumer.poll(timeout_ms=100).values():
                self.read.extend(record.value for record in records)
            self.assigned = set(self.consumer.assignment())
        self.consumer.close()


def wait(condition):
    while not condition():
        threading.Event().wait(0.05)


def main():
    servers, prefix = sys.argv[1:]
    topics = [prefix + '-east', prefix + '-west']
    workers = [Worker(servers, prefix + '-workers', topics) for _ in range(2)]
    for worker in workers:
        worker.start()
    wait(lambda: [len(worker.assigned) for worker in workers] == [2, 2])
    print('shared out: %d partitions each, none twice: %s' % (
        len(workers[0].assigned), not workers[0].assigned & workers[1].assigned))
    for worker in sorted(workers, key=lambda worker: sorted(worker.assigned)):
        print('  %s' % ' '.join('%s:%d' % (topic[len(prefix) + 1:], partition) for topic, partition in sorted(worker.assigned)))

    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(40):
        producer.send(topics[number % 2], ('%02d' % number).encode(), partition=number // 2 % 2)
    producer.flush()
    wait(lambda: sum(len(worker.read) for worker in workers) >= 40)
    read = [value.decode() for worker in workers for value in worker.read]
    print('each once: %s, ten a partition: %s' % (
        sorted(read) == ['%02d' % n for n in range(40)], [len(worker.read) for worker in workers]))

    workers[0].stop.set()
    workers[0].join()
    wait(lambda: len(workers[1].assigned) == 4)
    print('the other has all: %d' % len(workers[1].assigned))
    for number in range(4):
        producer.send(topics[number % 2], ('late %d' % number).encode(), partition=number // 2)
    producer.flush()
    wait(lambda: len([value for value in workers[1].read if value.startswith(b'late')]) == 4)
    print('and reads: %s' % ', '.join(sorted(value.decode() for value in workers[1].read if value.startswith(b'late'))))
    workers[1].stop.set()
    workers[1].join()
    producer.close()


if __name__ == '__main__':
    main()
