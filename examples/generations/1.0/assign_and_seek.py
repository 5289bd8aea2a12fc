"""A replayer without a group: KafkaConsumer of 1.0 with assign(), seek() and its relatives, pause() and resume().

Shows positions, what is refused, and that assign() and subscribe() exclude each other.

Topics: tape=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.common import IllegalStateError

logging.basicConfig(level=logging.CRITICAL)


def read(consumer, count):
    found = []
    while len(found) < count:
        for records in consumer.poll(timeout_ms=500).values():
            found.extend('%d:%s' % (record.partition, record.value.decode()) for record in records)
    return ' '.join(sorted(found))


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-tape'
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(8):
        for partition in (0, 1):
            producer.send(topic, ('%d' % number).encode(), partition=partition)
    producer.flush()
    producer.close()

    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=None, auto_offset_reset='earliest',
                             enable_auto_commit=False)
    print('assigned: %s, subscribed: %s' % (sorted(consumer.assignment()), consumer.subscription()))
    consumer.assign([zero, one])
    print('all: %s' % read(consumer, 16))
    print('positions %d %d' % (consumer.position(zero), consumer.position(one)))
    consumer.seek(zero, 6)
    print('seek: %s' % read(consumer, 2))
    consumer.seek_to_beginning(one)
    print('beginning of one: %s' % read(consumer, 8))
    consumer.seek_to_end()
    print('nothing at the end: %s' % len(consumer.poll(timeout_ms=300)))
    print('positions %d %d' % (consumer.position(zero), consumer.position(one)))
    consumer.seek_to_beginning()
    consumer.pause(zero)
    print('zero paused: %s' % read(consumer, 8))
    consumer.resume(zero)
    print('zero resumed: %s' % read(consumer, 8))
    consumer.assign([one])
    print('assigned: %s' % (consumer.assignment() == set([one])))
    consumer.seek(one, 7)
    print('one alone: %s' % read(consumer, 1))

    attempts = [
        ('subscribe', lambda: consumer.subscribe([topic])),
        ('seek elsewhere', lambda: consumer.seek(zero, 0)),
        ('seek below', lambda: consumer.seek(one, -1)),
        ('position elsewhere', lambda: consumer.position(zero)),
        ('commit without a group', lambda: consumer.commit()),
        ('poll below', lambda: consumer.poll(timeout_ms=-1)),
    ]
    for name, attempt in attempts:
        try:
            attempt()
            print('%s: taken' % name)
        except (AssertionError, IllegalStateError) as error:
            kinds = [kind.__name__ for kind in (AssertionError, IllegalStateError) if isinstance(error, kind)]
            print('%s: %s' % (name, kinds[0]))
    consumer.unsubscribe()
    print('after unsubscribe: %s %s' % (sorted(consumer.assignment()), consumer.subscription()))
    consumer.close()


if __name__ == '__main__':
    main()
