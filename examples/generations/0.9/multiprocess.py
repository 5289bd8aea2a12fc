"""A crawler with several processes: MultiProcessConsumer that shares the partitions of a topic out.

Shows the number of processes, get_messages() and iteration through them, and commits that a successor reads.

Topics: urls=4
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, MultiProcessConsumer
from kafka.common import ProduceRequest
from kafka.protocol import create_message

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-urls', prefix + '-crawlers'
    client = KafkaClient(servers)
    for partition in range(4):
        messages = [create_message(('http://host%d/%d' % (partition, n)).encode()) for n in range(10)]
        client.send_produce_request([ProduceRequest(topic, partition, messages)])

    consumer = MultiProcessConsumer(client, group, topic, num_procs=2, auto_commit_every_n=5)
    print('%d processes, pending %d' % (len(consumer.procs), consumer.pending()))
    seen = []
    batch = consumer.get_messages(count=15, block=True, timeout=20)
    print('took %d, pending %d' % (len(batch), consumer.pending()))
    seen.extend(message.message.value for message in batch)
    consumer.stop()
    print('alive: %s' % any(process.is_alive() for process in consumer.procs))

    successor = MultiProcessConsumer(client, group, topic, partitions_per_proc=2)
    print('%d processes, pending %d' % (len(successor.procs), successor.pending()))
    batch = successor.get_messages(count=25, block=True, timeout=20)
    seen.extend(message.message.value for message in batch)
    print('took %d, pending %d' % (len(batch), successor.pending()))
    print('all of them, each once: %s' % (
        sorted(seen) == sorted(('http://host%d/%d' % (p, n)).encode() for p in range(4) for n in range(10))))
    print('then nothing: %s' % successor.get_messages(count=1, block=True, timeout=1))
    successor.stop()

    again = MultiProcessConsumer(client, None, topic, partitions=[1, 3], auto_commit=False, num_procs=2)
    again.provide_partition_info()
    taken = again.get_messages(count=20, block=True, timeout=20)
    print('partitions %s: %d messages' % (sorted(set(partition for partition, _ in taken)), len(taken)))
    again.stop()
    client.close()


if __name__ == '__main__':
    main()
