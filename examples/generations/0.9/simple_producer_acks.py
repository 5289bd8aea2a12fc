"""A sender of measurements that waits for each answer: SimpleProducer with every kind of acknowledgement.

Shows the answers, that partitions take turns from the first one on, and what may not be sent.

Topics: measures=3
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, SimpleConsumer, SimpleProducer

logging.basicConfig(level=logging.CRITICAL)


def describe(answer):
    return 'partition %d, error %d, offset %d' % (answer.partition, answer.error, answer.offset)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-measures'
    client = KafkaClient(servers)
    kinds = [
        ('local write', SimpleProducer.ACK_AFTER_LOCAL_WRITE),
        ('cluster commit', SimpleProducer.ACK_AFTER_CLUSTER_COMMIT),
        ('none', SimpleProducer.ACK_NOT_REQUIRED),
    ]
    for name, acks in kinds:
        producer = SimpleProducer(client, req_acks=acks, ack_timeout=2000, random_start=False)
        print('%s: %s' % (name, producer))
        for number in range(4):
            answers = producer.send_messages(topic, ('%s %d a' % (name, number)).encode(), ('%s %d b' % (name, number)).encode())
            print('  %d answers %s' % (len([a for a in answers if a]), '; '.join(describe(a) for a in answers if a)))

    for wrong in (u'text', 12, None):
        try:
            producer.send_messages(topic, b'good', wrong)
        except TypeError as error:
            print('TypeError: %s' % error)
    try:
        SimpleProducer(client, codec=7)
    except Exception as error:
        print('%s: %s' % (type(error).__name__, error))

    consumer = SimpleConsumer(client, None, topic, auto_commit=False, iter_timeout=1)
    consumer.provide_partition_info()
    for partition, (offset, message) in sorted(consumer):
        print('%d %d %s' % (partition, offset, message.value.decode()))
    consumer.stop()
    client.close()


if __name__ == '__main__':
    main()
