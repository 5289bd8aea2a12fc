"""A mirror of large documents: SimpleConsumer whose buffers grow until a message fits, or until they may not.

Shows buffers that double, ConsumerFetchSizeTooSmall at the limit, and reading on behind it with a larger one.

Topics: documents
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, SimpleConsumer, SimpleProducer
from kafka.common import ConsumerFetchSizeTooSmall

logging.basicConfig(level=logging.CRITICAL)

SIZES = [100, 5000, 20000, 31000, 90000, 50]


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-documents'
    client = KafkaClient(servers)
    producer = SimpleProducer(client)
    for size in SIZES:
        producer.send_messages(topic, b'd' * size)

    consumer = SimpleConsumer(client, None, topic, auto_commit=False)
    print('buffer %d, at most %d' % (consumer.buffer_size, consumer.max_buffer_size))
    read = []
    try:
        for _ in SIZES:
            read.append(len(consumer.get_message(block=True, timeout=5).message.value))
    except ConsumerFetchSizeTooSmall as error:
        print('read %s, then %s' % (read, type(error).__name__))
    print('next: %s' % sorted(consumer.offsets.items()))
    consumer.stop()

    for limit in (65536, 262144, None):
        consumer = SimpleConsumer(client, None, topic, auto_commit=False, max_buffer_size=limit, iter_timeout=1)
        consumer.seek(3)
        read = []
        try:
            for message in consumer:
                read.append(len(message.message.value))
            print('at most %s: %s' % (limit, read))
        except ConsumerFetchSizeTooSmall as error:
            print('at most %s: %s, then %s' % (limit, read, type(error).__name__))
        consumer.stop()

    try:
        SimpleConsumer(client, None, topic, auto_commit=False, buffer_size=4096, max_buffer_size=1024)
    except ValueError as error:
        print('ValueError: %s' % error)
    client.close()


if __name__ == '__main__':
    main()
