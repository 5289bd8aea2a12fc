"""The low-level client of 2.x: nodes, the cluster's view, requests by hand, coordinators, metadata on demand.

    python low_level_client.py localhost:9092 shop
"""

import sys

from kafka.client_async import KafkaClient
from kafka.errors import NodeNotReadyError, for_code
from kafka.future import Future
from kafka.protocol.admin import CreateTopicsRequest, ListGroupsRequest
from kafka.protocol.commit import GroupCoordinatorRequest, OffsetCommitRequest, OffsetFetchRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.offset import OffsetRequest, OffsetResetStrategy
from kafka.protocol.produce import ProduceRequest
from kafka.record import MemoryRecords, MemoryRecordsBuilder
from kafka.structs import TopicPartition


def ready(client, node):
    while not client.ready(node):
        client.poll(timeout_ms=100)
    return client.is_ready(node)


def ask(client, node, request):
    ready(client, node)
    future = client.send(node, request)
    client.poll(future=future)
    if future.failed():
        raise future.exception
    return future.value


def ask_for_partitions(client, node, request):
    """Ask again while the broker does not lead the partitions yet: the cluster's view names it a little earlier."""
    while True:
        answer = ask(client, node, request)
        errors = [partition[1] for _, partitions in answer.topics for partition in partitions]
        if not {3, 6} & set(errors):
            return answer
        client.poll(timeout_ms=100)


def main(servers, prefix):
    topic, group = prefix + "-raw", prefix + "-tools"
    client = KafkaClient(bootstrap_servers=servers, client_id="tool", request_timeout_ms=15000)
    print("bootstrap:", client.bootstrap_connected())
    client.poll(future=client.cluster.request_update())
    [broker] = client.cluster.brokers()
    node = broker.nodeId
    print("broker:", broker.port == int(servers.rsplit(":")[-1]), broker.rack)
    print("controller:", client.cluster.controller.nodeId == node, client.cluster.broker_metadata(node) == broker)
    print("ready:", ready(client, node), client.connected(node), client.is_disconnected(node))
    print("least loaded:", client.least_loaded_node() == node, client.in_flight_request_count(node))
    print("version:", client.config["api_version"] >= (1, 0), client.check_version() >= (1, 0))

    made = ask(client, node, CreateTopicsRequest[1]([(topic, 2, 1, [], [])], 10000, False))
    print("made:", [for_code(error[1]).__name__ for error in made.topic_errors])
    client.set_topics([topic])
    while client.cluster.partitions_for_topic(topic) != {0, 1}:
        client.poll(future=client.cluster.request_update())
    print("topics:", client.cluster.topics() == {topic}, client.cluster.available_partitions_for_topic(topic))
    print("leader:", client.cluster.leader_for_partition(TopicPartition(topic, 1)) == node)
    print("of the broker:", sorted(tp.partition for tp in client.cluster.partitions_for_broker(node)))

    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=16384)
    for number in range(3):
        builder.append(timestamp=1500000000000 + number, key=b"k", value=b"v%d" % number, headers=[("n", b"%d" % number)])
    builder.close()
    request = ProduceRequest[3](
        transactional_id=None,
        required_acks=-1,
        timeout=10000,
        topics=[(topic, [(0, builder.buffer())])],
    )
    produced = ask_for_partitions(client, node, request)
    for name, partitions in produced.topics:
        for partition, error, offset, time in partitions:
            print("produced:", name == topic, partition, error, offset, time)

    wanted = OffsetRequest[1](-1, [(topic, [(0, OffsetResetStrategy.LATEST), (1, -2)])])
    ends = ask_for_partitions(client, node, wanted)
    print("ends:", sorted((partition, error, offset) for partition, error, _, offset in ends.topics[0][1]))

    coordinator = ask(client, node, GroupCoordinatorRequest[0](group))
    print("coordinator:", coordinator.error_code, coordinator.coordinator_id == node)
    stored = ask(client, node, OffsetCommitRequest[2](group, -1, "", -1, [(topic, [(0, 2, "by hand")])]))
    print("stored:", stored.topics[0][1])
    fetched = ask(client, node, OffsetFetchRequest[1](group, [(topic, [0, 1])]))
    print("fetched:", sorted(fetched.topics[0][1]))
    groups = ask(client, node, ListGroupsRequest[0]())
    print("groups:", [kind for name, kind in groups.groups if name == group])

    answers = []
    future = client.send(node, MetadataRequest[1]([topic]))
    future.add_callback(lambda answer: answers.append(len(answer.topics[0][3])))
    future.add_errback(answers.append)
    chained = Future()
    future.chain(chained)
    client.poll(future=chained)
    print("chained:", answers, chained.succeeded())
    refused = client.send(4711, MetadataRequest[1]([topic]))
    print("no such node:", refused.failed(), isinstance(refused.exception, NodeNotReadyError))

    records = MemoryRecords(bytes(builder.buffer()))
    while records.has_next():
        for record in records.next_batch():
            print("record:", record.offset, record.key, record.value, record.headers, record.checksum)
    client.close()
    print("closed:", client.connected(node))


if __name__ == "__main__":
    main(*sys.argv[1:3])
