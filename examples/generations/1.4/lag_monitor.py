"""A monitor's check of how far a group is behind, written on the low-level client.

As the monitoring plug-ins of the time did it: find the group's coordinator, ask it for the committed offsets, ask each
broker for the first and the last offset of its partitions, and subtract.

    python lag_monitor.py localhost:9092 shop
"""

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.client_async import KafkaClient
from kafka.errors import for_code
from kafka.protocol.admin import CreateTopicsRequest_v0, DescribeGroupsRequest_v0, ListGroupsRequest_v0
from kafka.protocol.commit import GroupCoordinatorRequest_v0, OffsetFetchRequest_v1
from kafka.protocol.offset import OffsetRequest_v1, OffsetResponse_v1

LATEST, EARLIEST = -1, -2


class Monitor:
    def __init__(self, servers):
        self.client = KafkaClient(bootstrap_servers=servers, client_id="lag-monitor", request_timeout_ms=10000)
        self.refresh()

    def refresh(self):
        future = self.client.cluster.request_update()
        self.client.poll(future=future)
        if not future.succeeded():
            raise future.exception

    def ask(self, node, request):
        while not self.client.is_ready(node):
            self.client.ready(node)
            self.client.poll(timeout_ms=100)
        future = self.client.send(node, request)
        self.client.poll(future=future)
        if future.failed():
            raise future.exception
        return future.value

    def brokers(self):
        return sorted(broker.nodeId for broker in self.client.cluster.brokers())

    def create_topic(self, topic, partitions):
        request = CreateTopicsRequest_v0([(topic, partitions, 1, [], [])], 10000)
        controller = self.client.cluster.controller
        answer = self.ask(controller.nodeId, request)
        for _, code in answer.topic_errors:
            print("create topic:", for_code(code).__name__)
        answer = self.ask(controller.nodeId, request)
        for _, code in answer.topic_errors:
            print("again:", for_code(code).__name__, code)

    def committed(self, group, topic, partitions):
        node = self.brokers()[0]
        coordinator = self.ask(node, GroupCoordinatorRequest_v0(group))
        assert coordinator.error_code == 0, for_code(coordinator.error_code)
        answer = self.ask(coordinator.coordinator_id, OffsetFetchRequest_v1(group, [(topic, partitions)]))
        return {
            partition: (offset, metadata)
            for _, found in answer.topics
            for partition, offset, metadata, error in found
            if error == 0
        }

    def ends(self, topic, time):
        offsets = {}
        for node in self.brokers():
            wanted = [
                (tp.partition, time) for tp in self.client.cluster.partitions_for_broker(node) if tp.topic == topic
            ]
            answer = self.ask(node, OffsetRequest_v1(-1, [(topic, wanted)]))
            assert isinstance(answer, OffsetResponse_v1)
            for _, found in answer.topics:
                for partition, error, _, offset in found:
                    assert error == 0, for_code(error)
                    offsets[partition] = offset
        return offsets

    def groups(self):
        found = []
        for node in self.brokers():
            found += self.ask(node, ListGroupsRequest_v0()).groups
        return found

    def describe(self, group):
        node = self.ask(self.brokers()[0], GroupCoordinatorRequest_v0(group)).coordinator_id
        return self.ask(node, DescribeGroupsRequest_v0([group])).groups[0]


def fill(servers, topic):
    producer = KafkaProducer(bootstrap_servers=servers)
    for partition, count in enumerate((5, 3, 0)):
        for number in range(count):
            producer.send(topic, b"%d" % number, partition=partition)
    producer.flush()
    producer.close()


def read_some(servers, topic, group):
    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
    first = TopicPartition(topic, 0)
    consumer.assign([first])
    consumer.seek_to_beginning(first)
    seen = 0
    while seen < 2:
        seen += sum(map(len, consumer.poll(timeout_ms=500, max_records=1).values()))
    consumer.commit()
    consumer.close()


def main(servers, prefix):
    topic, group = prefix + "-readings", prefix + "-dashboard"
    monitor = Monitor(servers)
    monitor.create_topic(topic, 3)
    fill(servers, topic)
    read_some(servers, topic, group)
    monitor.client.add_topic(topic)
    monitor.refresh()
    first, last = monitor.ends(topic, EARLIEST), monitor.ends(topic, LATEST)
    total = 0
    for partition, (offset, metadata) in sorted(monitor.committed(group, topic, [0, 1, 2]).items()):
        lag = last[partition] - max(offset, first[partition])
        total += lag
        print("partition {}: committed {} {!r} of {}, lag {}".format(partition, offset, metadata, last[partition], lag))
    print("lag of the group:", total)
    print("listed:", [kind for name, kind in monitor.groups() if name == group])
    error, name, state, kind, protocol, members = monitor.describe(group)
    print("described:", error, name == group, state, repr(kind), repr(protocol), members)
    monitor.client.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
