"""A study of keys: which partition each partitioner takes, by itself and in a KeyedProducer.

Shows HashedPartitioner (the hash of 64-bit Python 2), Murmur2Partitioner, RoundRobinPartitioner and one of our own.

Topics: keys=5
Differs: RoundRobinPartitioner goes on at the same place where the partitions change, as from 1.4 on
"""
from __future__ import print_function

import logging
import sys

from kafka import HashedPartitioner, KafkaClient, KeyedProducer, Murmur2Partitioner, RoundRobinPartitioner
from kafka.partitioner.base import Partitioner

logging.basicConfig(level=logging.ERROR)

KEYS = [b'', b'a', b'key', b'user-1', b'user-2', b'user-3', b'another much longer key', b'\x00\x01', b'12345678']


class ByLength(Partitioner):
    def partition(self, key, partitions=None):
        known = partitions or self.partitions
        return known[len(key) % len(known)]


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-keys'
    for kind in (HashedPartitioner, Murmur2Partitioner, RoundRobinPartitioner, ByLength):
        for partitions in ([0, 1], [0, 1, 2, 3, 4, 5, 6], [3, 1, 9]):
            partitioner = kind(partitions)
            print('%s %s: %s' % (
                'HashedPartitioner' if kind is HashedPartitioner else kind.__name__, partitions,
                ' '.join(str(partitioner.partition(key)) for key in KEYS)))
    turns = RoundRobinPartitioner([0, 1, 2])
    print('other partitions meanwhile: %s' % [turns.partition(b'', [0, 1, 2]) for _ in range(4)]
          + ' %s' % [turns.partition(b'', [7, 8]) for _ in range(3)])
    print('given at the call: %s' % [HashedPartitioner([0]).partition(key, [4, 5]) for key in KEYS])

    client = KafkaClient(servers)
    for kind in (HashedPartitioner, Murmur2Partitioner, RoundRobinPartitioner, ByLength):
        producer = KeyedProducer(client, partitioner=kind)
        taken = [producer.send_messages(topic, key, b'value')[0].partition for key in KEYS]
        print('sent: %s' % taken)
    client.close()


if __name__ == '__main__':
    main()
