"""A tail program: KafkaConsumer of 0.9 with both reset policies, loops that end in ConsumerTimeout, and fetch_messages.

Shows where 'smallest' and 'largest' begin, what a timeout leaves behind, and what the constructor refuses.

Topics: lines
Differs: a for loop ends at the timeout, as from 1.0 on; next() raises what both generations raise
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, KafkaConsumer, SimpleProducer
from kafka.common import ConsumerTimeout, KafkaConfigurationError, OffsetOutOfRangeError

logging.basicConfig(level=logging.CRITICAL)


def read_all(consumer):
    found = []
    try:
        while True:
            found.append(consumer.next())
    except ConsumerTimeout:
        return ' '.join('%d:%s' % (message.offset, message.value.decode()) for message in found)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-lines'
    client = KafkaClient(servers)
    producer = SimpleProducer(client)
    producer.send_messages(topic, b'one', b'two', b'three')

    smallest = KafkaConsumer(topic, bootstrap_servers=[servers], auto_offset_reset='smallest', consumer_timeout_ms=1500)
    largest = KafkaConsumer(topic, bootstrap_servers=[servers], auto_offset_reset='largest', consumer_timeout_ms=1500)
    print('smallest: %s' % read_all(smallest))
    print('largest: %s' % read_all(largest))
    producer.send_messages(topic, b'four', b'five')
    print('smallest: %s' % read_all(smallest))
    print('largest: %s' % read_all(largest))
    try:
        for message in largest:
            print('never %s' % message.value)
    except ConsumerTimeout as error:
        print('%s: %s' % (type(error).__name__, isinstance(error, RuntimeError)))

    producer.send_messages(topic, b'six', b'seven')
    batch = list(smallest.fetch_messages())
    while not batch:
        batch = list(smallest.fetch_messages())
    for message in batch:
        print('fetched %s %d %d %s %s' % (message.topic, message.partition, message.offset, message.key, message.value.decode()))

    for policy in ('smallest', 'largest', 'none'):
        consumer = KafkaConsumer(bootstrap_servers=[servers], auto_offset_reset=policy, consumer_timeout_ms=1500)
        consumer.set_topic_partitions((topic, 0, 500))
        try:
            print('out of range, %s: %s' % (policy, read_all(consumer)))
        except OffsetOutOfRangeError as error:
            print('out of range, %s: %s' % (policy, type(error).__name__))

    print('offsets: %s %s' % (
        list(largest.get_partition_offsets(topic, 0, -1, 1)), list(largest.get_partition_offsets(topic, 0, -2, 1))))
    for options in ({}, {'metadata_broker_list': servers, 'auto_commit_enable': True}, {'group_idd': 'x'}):
        try:
            KafkaConsumer(topic, auto_offset_reset='smallest', fetch_wait_max_ms=100, **options)
        except KafkaConfigurationError as error:
            print('%s' % type(error).__name__)
    try:
        largest.commit()
    except KafkaConfigurationError as error:
        print('%s: %s' % (type(error).__name__, error))
    client.close()


if __name__ == '__main__':
    main()
