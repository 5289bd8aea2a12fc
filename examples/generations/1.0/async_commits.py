"""A pipeline that does not wait for its commits: commit_async() of 1.0 with callbacks and futures.

Shows what callbacks get, the order of commits, and what fails.

Topics: pipe=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.common import OffsetAndMetadata

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-pipe'
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    producer = KafkaProducer(bootstrap_servers=servers)
    for number in range(6):
        producer.send(topic, b'x', partition=number % 2)
    producer.flush()
    producer.close()

    called = []
    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=prefix + '-pipes', auto_offset_reset='earliest',
                             enable_auto_commit=False)
    consumer.assign([zero, one])
    read = 0
    while read < 6:
        read += sum(len(records) for records in consumer.poll(timeout_ms=500).values())

    def callback(offsets, response):
        called.append((sorted((tp.partition, offset.offset) for tp, offset in offsets.items()),
                       isinstance(response, Exception)))

    future = consumer.commit_async({zero: OffsetAndMetadata(1, '')}, callback=callback)
    while not called:
        consumer.poll(timeout_ms=50)
    print('called with %s, an error: %s' % called[0])
    print('future: done %s, failed %s' % (future.is_done, bool(future.failed())))
    consumer.commit_async({zero: OffsetAndMetadata(2, 'a'), one: OffsetAndMetadata(3, 'b')}, callback=callback)
    consumer.commit_async(callback=callback)
    while len(called) < 3:
        consumer.poll(timeout_ms=50)
    for offsets, error in called[1:]:
        print('called with %s, an error: %s' % (offsets, error))
    print('committed %d %d' % (consumer.committed(zero), consumer.committed(one)))
    consumer.close()

    other = KafkaConsumer(bootstrap_servers=servers, group_id=prefix + '-pipes', enable_auto_commit=False)
    other.assign([zero, one])
    print('another of the group: %d %d' % (other.committed(zero), other.committed(one)))
    print('begins there: %d %d' % (other.position(zero), other.position(one)))
    other.close()


if __name__ == '__main__':
    main()
