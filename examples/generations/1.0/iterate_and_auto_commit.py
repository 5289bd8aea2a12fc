"""A loader with a for loop: KafkaConsumer of 1.0 with consumer_timeout_ms, deserializers and commits by interval.

Shows records, StopIteration at the timeout, next(), that close() commits, and a successor.

Topics: events
"""
from __future__ import print_function

import json
import logging
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

logging.basicConfig(level=logging.CRITICAL)


def loader(servers, group, topic):
    return KafkaConsumer(
        topic, bootstrap_servers=[servers], group_id=group, client_id='loader', auto_offset_reset='smallest',
        enable_auto_commit=True, auto_commit_interval_ms=60000, consumer_timeout_ms=3000,
        key_deserializer=lambda data: data and data.decode('utf-8'),
        value_deserializer=lambda data: json.loads(data.decode('utf-8')))


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-events', prefix + '-loaders'
    producer = KafkaProducer(bootstrap_servers=servers, compression_type='gzip')
    for number in range(6):
        producer.send(topic, key=None if number % 3 else b'third', value=json.dumps({'n': number}).encode('utf-8'))
    producer.flush()

    consumer = loader(servers, group, topic)
    first = next(consumer)
    print('first: %s %d %d %s %s' % (first.topic == topic, first.partition, first.offset, first.key, first.value['n']))
    for record in consumer:
        print('%d %s %d' % (record.offset, record.key, record.value['n']))
    print('the loop ended')
    try:
        next(consumer)
    except StopIteration:
        print('StopIteration')
    producer.send(topic, b'{"n": "more"}')
    producer.flush()
    print('more: %s' % [str(record.value['n']) for record in consumer])
    consumer.close()

    successor = loader(servers, group, topic)
    producer.send(topic, b'{"n": "after"}')
    producer.flush()
    print('the successor reads: %s' % [(record.offset, str(record.value['n'])) for record in successor])
    print('committed before: %s' % successor.committed(TopicPartition(topic, 0)))
    successor.close()
    producer.close()


if __name__ == '__main__':
    main()
