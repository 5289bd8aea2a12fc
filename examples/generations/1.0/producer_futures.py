"""A gateway that wants to know what became of each message: KafkaProducer of 1.0 with futures, callbacks and errbacks.

Shows RecordMetadata, callbacks, errors in futures, partitioning by key, serializers and close().

Topics: gateway=3
"""
from __future__ import print_function

import json
import logging
import sys
import threading

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.common import MessageSizeTooLargeError

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-gateway'
    producer = KafkaProducer(
        bootstrap_servers=[servers], acks='all', retries=3, linger_ms=5, batch_size=1000,
        key_serializer=lambda key: key.encode('utf-8'),
        value_serializer=lambda value: json.dumps(value, sort_keys=True).encode('utf-8'))
    print('partitions %s' % sorted(producer.partitions_for(topic)))

    metadata = producer.send(topic, {'n': 0}, key='first', partition=2).get(timeout=30)
    print('%s %d %d %s' % (metadata.topic == topic, metadata.partition, metadata.offset,
                           metadata.topic_partition == TopicPartition(topic, 2)))

    done, lock = [], threading.Lock()

    def on_success(name, metadata):
        with lock:
            done.append((name, metadata.partition))

    futures = []
    for name in ('anna', 'bert', 'carla', 'dora', 'emil'):
        future = producer.send(topic, {'name': name}, key=name)
        future.add_callback(on_success, name)
        futures.append(future)
    producer.flush()
    print('all done: %s' % all(future.succeeded() for future in futures))
    for future in futures:
        future.get(timeout=30)
    producer.send(topic, {'n': 'the last'}, key='anna').get(timeout=30)
    with lock:
        for name, partition in sorted(done):
            print('callback: %s in partition %d' % (name, partition))

    failures = []
    future = producer.send(topic, {'large': 'x' * 2000000}, key='anna')
    future.add_errback(lambda error: failures.append(type(error).__name__))
    try:
        future.get(timeout=30)
    except MessageSizeTooLargeError as error:
        print('too large: %s, failed %s' % (type(error).__name__, bool(future.failed())))
    producer.flush()
    print('errback: %s' % failures)
    for wrong in (dict(value=None, key=None), dict(value=b'v', key=b'k', partition=17)):
        try:
            KafkaProducer(bootstrap_servers=servers).send(topic, **wrong)
            print('taken')
        except AssertionError:
            print('AssertionError')
    producer.close()
    try:
        producer.send(topic, {'n': 'too late'}, key='anna')
        print('taken')
    except Exception as error:
        print('after close: an error')

    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset='earliest', consumer_timeout_ms=1500,
                             group_id=None, enable_auto_commit=False,
                             value_deserializer=lambda data: json.loads(data.decode('utf-8')))
    consumer.assign([TopicPartition(topic, partition) for partition in range(3)])
    for record in sorted((record.partition, record.offset, record.key.decode(), sorted(record.value)) for record in consumer):
        print('%d %d %s %s' % (record[0], record[1], record[2], [str(name) for name in record[3]]))
    consumer.close()


if __name__ == '__main__':
    main()
