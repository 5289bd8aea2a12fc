"""A cluster watcher: the KafkaClient of kafka.client_async of 1.0, with ready(), send() and poll().

Shows the cluster's metadata, requests to a node, futures chained with callbacks, and scheduled tasks.

Topics: watch=3
"""
from __future__ import print_function

import logging
import sys
import time

from kafka.client_async import KafkaClient
from kafka.common import TopicPartition
from kafka.protocol.offset import OffsetRequest

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-watch'
    client = KafkaClient(bootstrap_servers=servers, client_id='watcher')
    client.poll(future=client.cluster.request_update())
    print('brokers %d, knows the topic %s' % (len(client.cluster.brokers()), topic in client.cluster.topics()))
    client.poll(future=client.set_topics([topic]))
    print('partitions %s' % sorted(client.cluster.partitions_for_topic(topic)))
    leader = client.cluster.leader_for_partition(TopicPartition(topic, 0))
    node = client.cluster.broker_metadata(leader)
    print('leader: %s, port %s' % (leader == node.nodeId, node.port > 0))
    print('partitions of the leader: %s' % sorted(
        tp.partition for tp in client.cluster.partitions_for_broker(leader) if tp.topic == topic))

    while not client.ready(leader):
        client.poll(timeout_ms=100)
    print('ready %s, disconnected %s' % (client.is_ready(leader), client.is_disconnected(leader)))
    future = client.send(leader, OffsetRequest(-1, [(topic, [(partition, -1, 1) for partition in range(3)])]))
    seen = []
    future.add_callback(lambda response: seen.append(len(response.topics)))
    future.add_errback(lambda error: seen.append(error))
    print('in flight %d' % client.in_flight_request_count(leader))
    client.poll(future=future)
    print('succeeded %s, callback %s, in flight %d' % (future.succeeded(), seen, client.in_flight_request_count()))
    print('offsets %s' % sorted(
        (partition, error, list(offsets)) for _, partitions in future.value.topics
        for partition, error, offsets in partitions))

    ran = []
    client.schedule(lambda: ran.append('task'), time.time())
    while not ran:
        client.poll(timeout_ms=100)
    print('scheduled: %s' % ran)
    print('least loaded: %s' % (client.least_loaded_node() == leader))
    print('unknown topic: %s' % client.cluster.partitions_for_topic(prefix + '-nowhere'))
    client.close()


if __name__ == '__main__':
    main()
