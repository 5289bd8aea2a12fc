"""An order service: KafkaConsumer of 1.0 in a group, with a rebalance listener, poll() and commits with metadata.

Shows what the listener is told, commit(), committed(), position(), highwater(), and that a second member goes on.

Topics: orders=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.common import OffsetAndMetadata
from kafka.consumer.subscription_state import ConsumerRebalanceListener

logging.basicConfig(level=logging.CRITICAL)


class Saved(ConsumerRebalanceListener):
    def __init__(self):
        self.told = []

    def on_partitions_revoked(self, revoked):
        self.told.append('revoked %s' % sorted(partition for _, partition in revoked))

    def on_partitions_assigned(self, assigned):
        self.told.append('assigned %s' % sorted(partition for _, partition in assigned))


def read(consumer, count):
    found = []
    while len(found) < count:
        for partition, records in consumer.poll(timeout_ms=500).items():
            found.extend((record.partition, record.offset, record.key, record.value) for record in records)
    return sorted(found)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-orders', prefix + '-service'
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(10):
        producer.send(topic, key=('customer %d' % (number % 3)).encode(), value=('order %d' % number).encode(),
                      partition=number % 2)
    producer.flush()

    options = dict(bootstrap_servers=servers, group_id=group, auto_offset_reset='earliest', enable_auto_commit=False)
    listener = Saved()
    consumer = KafkaConsumer(**options)
    consumer.subscribe([topic], listener=listener)
    print('assigned before poll: %s, subscription %s' % (sorted(consumer.assignment()), consumer.subscription() == set([topic])))
    for record in read(consumer, 10):
        print('partition %d offset %d: %s %s' % (record[0], record[1], record[2].decode(), record[3].decode()))
    print('the listener was told: %s' % ', '.join(told for told in listener.told if told != 'revoked []'))
    print('assigned: %s' % (consumer.assignment() == set([zero, one])))
    print('position %d %d, committed %s %s' % (
        consumer.position(zero), consumer.position(one), consumer.committed(zero), consumer.committed(one)))
    consumer.commit({zero: OffsetAndMetadata(3, 'half way')})
    print('committed %s %s' % (consumer.committed(zero), consumer.committed(one)))
    consumer.commit()
    print('committed %s %s' % (consumer.committed(zero), consumer.committed(one)))
    print('highwater %s %s' % (consumer.highwater(zero), consumer.highwater(one)))
    consumer.commit({zero: OffsetAndMetadata(4, ''), one: OffsetAndMetadata(2, 'again')})
    consumer.close()

    second = KafkaConsumer(topic, **options)
    for record in read(second, 4):
        print('second: partition %d offset %d: %s' % (record[0], record[1], record[3].decode()))
    try:
        second.committed(topic)
    except TypeError:
        print('TypeError: a topic is no partition')
    try:
        second.position(TopicPartition(topic, 9))
    except AssertionError:
        print('AssertionError: partition 9 is not assigned')
    second.close()
    producer.close()


if __name__ == '__main__':
    main()
