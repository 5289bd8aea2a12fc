"""A probe that speaks to one broker: BrokerConnection of 1.0 and the request classes of kafka.protocol.

Shows connecting, requests and responses by their fields, futures, several requests at once, and errors when closed.

Topics: probe=2
"""
from __future__ import print_function

import logging
import sys

from kafka import BrokerConnection
from kafka.common import ConnectionError
from kafka.conn import ConnectionStates
from kafka.protocol.commit import GroupCoordinatorRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.offset import OffsetRequest

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-probe'
    host, port = servers.split(':')
    connection = BrokerConnection(host, int(port), client_id='probe', request_timeout_ms=20000)
    print('state %s, connected %s' % (connection.state is ConnectionStates.DISCONNECTED, connection.connected()))
    refused = connection.send(MetadataRequest([topic]))
    print('not connected: %s %s' % (bool(refused.failed()), isinstance(refused.exception, ConnectionError)))
    while connection.connect() is ConnectionStates.CONNECTING:
        pass
    print('connected %s, room %s' % (connection.connected(), connection.can_send_more()))

    def answer(future):
        while not future.is_done:
            connection.recv(timeout=1)
        return future.value

    future = connection.send(MetadataRequest([topic]))
    print('done at once: %s' % future.is_done)
    metadata = answer(future)
    for error, name, partitions in metadata.topics:
        print('topic %s, error %d' % (name == topic, error))
        for error, partition, leader, replicas, isr in sorted(partitions, key=lambda each: each[1]):
            print('  partition %d, error %d, led by a replica %s' % (partition, error, leader in replicas))
    print('brokers %d' % len(metadata.brokers))

    offsets = answer(connection.send(OffsetRequest(-1, [(topic, [(0, -1, 1), (1, -2, 1)])])))
    for name, partitions in offsets.topics:
        for partition, error, found in sorted(partitions):
            print('offset %d: %d %s' % (partition, error, list(found)))
    coordinator = answer(connection.send(GroupCoordinatorRequest(prefix + '-group')))
    print('coordinator: error %d, a known broker: %s' % (
        coordinator.error_code, coordinator.coordinator_id in [broker[0] for broker in metadata.brokers]))

    called = []
    futures = [connection.send(MetadataRequest([topic])) for _ in range(3)]
    for number, each in enumerate(futures):
        each.add_callback(lambda value, number=number: called.append(number))
    for each in futures:
        answer(each)
    print('three at once: %s' % called)
    waiting = connection.send(MetadataRequest([topic]))
    connection.close()
    print('closed: %s %s %s' % (connection.connected(), bool(waiting.failed()), isinstance(waiting.exception, ConnectionError)))


if __name__ == '__main__':
    main()
