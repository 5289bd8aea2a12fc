"""A billing process that commits by itself: SimpleConsumer with auto_commit by count, and a successor that goes on.

Shows after which messages offsets are stored, what another consumer of the group reads, and commit() of one partition.

Topics: bills=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, SimpleConsumer
from kafka.common import OffsetFetchRequest, ProduceRequest
from kafka.protocol import create_message

logging.basicConfig(level=logging.CRITICAL)


def stored(client, group, topic):
    answers = client.send_offset_fetch_request(
        group, [OffsetFetchRequest(topic, partition) for partition in (0, 1)], fail_on_error=False)
    return ' '.join('%d=%d' % (answer.partition, answer.offset) for answer in answers)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-bills', prefix + '-billing'
    client = KafkaClient(servers)
    for partition in (0, 1):
        messages = [create_message(('bill %d-%d' % (partition, n)).encode()) for n in range(10)]
        client.send_produce_request([ProduceRequest(topic, partition, messages)])

    print('stored at first: %s' % stored(client, group, topic))
    consumer = SimpleConsumer(client, group, topic, partitions=[0], auto_commit_every_n=4, auto_commit_every_t=None)
    for number in range(6):
        message = consumer.get_message(block=True, timeout=10)
        print('%s, stored: %s' % (message.message.value.decode(), stored(client, group, topic)))
    consumer.stop()
    print('after stop: %s' % stored(client, group, topic))

    successor = SimpleConsumer(client, group, topic, auto_commit=False)
    print('successor begins at %s' % sorted(successor.offsets.items()))
    taken = [message.message.value.decode() for message in successor.get_messages(count=50, block=True, timeout=2)]
    print('%d: %s' % (len(taken), ', '.join(sorted(taken))))
    print('commit of partition 1: %s' % successor.commit(partitions=[1]))
    print('stored: %s' % stored(client, group, topic))
    print('commit of all: %s' % successor.commit())
    print('stored: %s' % stored(client, group, topic))
    successor.stop()

    third = SimpleConsumer(client, group, topic)
    left = [each.message.value.decode() for each in third.get_messages(count=1, block=True, timeout=0.5)]
    print('the third takes %s, pending %d' % (', '.join(left), third.pending()))
    third.seek(5, 0)
    print('a seek is stored too: %s' % (sum(third.offsets.values())))
    third.stop()
    client.close()


if __name__ == '__main__':
    main()
