"""A replay tool: SimpleConsumer that seeks from the beginning, from where it is, from the end, and to a number.

Shows what each kind of seek reads next, in one partition and in all of them, and a seek out of range.

Topics: tape=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, SimpleConsumer
from kafka.common import ProduceRequest
from kafka.protocol import create_message

logging.basicConfig(level=logging.CRITICAL)


def fill(client, topic):
    for partition, letter in ((0, 'a'), (1, 'b')):
        messages = [create_message(('%s%d' % (letter, n)).encode()) for n in range(10)]
        client.send_produce_request([ProduceRequest(topic, partition, messages)])


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-tape'
    client = KafkaClient(servers)
    fill(client, topic)
    consumer = SimpleConsumer(client, prefix + '-replay', topic, auto_commit=False, iter_timeout=1)

    def show(what, count):
        print('%s: offsets %s' % (what, sorted(consumer.offsets.items())))
        values = [message.message.value.decode() for message in consumer.get_messages(count=count, timeout=20)]
        print('  %s' % ' '.join(sorted(values)))

    show('at first', 20)
    consumer.seek(0, 0)
    show('the beginning', 20)
    consumer.seek(3, 0)
    show('three behind the beginning', 17)
    consumer.seek(-4, 2)
    show('four before the end', 4)
    consumer.seek(-1, 1)
    show('one back', 2)
    consumer.seek(7)
    show('number seven', 6)
    consumer.seek(2, 0, partition=1)
    show('two behind the beginning of partition 1', 8)
    consumer.seek(-3, 2, partition=0)
    show('three before the end of partition 0', 3)
    consumer.seek(9, None, 1)
    show('number nine of partition 1', 1)
    try:
        consumer.seek(0, 3)
    except ValueError as error:
        print('ValueError: %s' % error)

    for policy in ('smallest', 'largest'):
        consumer = SimpleConsumer(client, None, topic, auto_commit=False, partitions=[0], auto_offset_reset=policy)
        consumer.seek(1000)
        values = [message.message.value.decode() for message in consumer.get_messages(count=20, timeout=1)]
        print('out of range, %s: %s %s' % (policy, ' '.join(values), sorted(consumer.offsets.items())))
    client.close()


if __name__ == '__main__':
    main()
