"""A batch job that looks how much there is before it takes it: SimpleConsumer with pending() and get_messages().

Shows counts with block, timeout and numbers, get_message(), iteration, and partition info.

Topics: work=3
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, SimpleConsumer, SimpleProducer

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-work'
    client = KafkaClient(servers)
    consumer = SimpleConsumer(client, prefix + '-batch', topic, auto_commit=False, iter_timeout=1)
    print('nothing yet: pending %d' % consumer.pending())
    print('without waiting: %s' % consumer.get_messages(count=5, block=False))
    print('with waiting: %s' % consumer.get_messages(count=5, block=True, timeout=0.3))
    print('one: %s' % consumer.get_message(block=False))

    producer = SimpleProducer(client, random_start=False)
    for number in range(30):
        producer.send_messages(topic, ('work %02d' % number).encode())
    print('pending %d, of partition 1 %d, of 0 and 2 %d' % (
        consumer.pending(), consumer.pending(partitions=[1]), consumer.pending(partitions=[0, 2])))

    seen = []
    batch = consumer.get_messages(count=12, block=True, timeout=10)
    seen.extend(batch)
    print('took %d, pending %d' % (len(batch), consumer.pending()))
    batch = consumer.get_messages(count=7, block=True, timeout=10)
    seen.extend(batch)
    print('took %d, pending %d' % (len(batch), consumer.pending()))
    batch = consumer.get_messages(count=100, block=5, timeout=10)
    seen.extend(batch)
    print('took at least 5: %s' % (len(batch) >= 5))
    seen.extend(consumer)
    print('iterated to the end, pending %d' % consumer.pending())
    print('all: %s' % (sorted(each.message.value for each in seen) == [('work %02d' % n).encode() for n in range(30)]))

    consumer.provide_partition_info()
    consumer.seek(-3, 2)
    for partition, message in sorted(consumer.get_messages(count=3, block=True, timeout=10)):
        print('partition %d offset %d: %s' % (partition, message.offset, message.message.value.decode()))
    consumer.seek(0, 0, 2)
    partition, message = consumer.get_message(block=True, timeout=10, get_partition_info=True)
    print('again: partition %d offset %d' % (partition, message.offset))
    message = consumer.get_message(block=True, timeout=10, get_partition_info=False)
    print('without: offset %d %s' % (message.offset, message.message.value.decode()))
    print(str(consumer).partition(' topic')[2].split(',')[0].startswith('=' + topic) or 'topic in repr')
    consumer.stop()
    client.close()


if __name__ == '__main__':
    main()
