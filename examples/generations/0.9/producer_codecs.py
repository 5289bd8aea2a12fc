"""A log shipper that compresses: SimpleProducer and KeyedProducer with gzip and snappy, at once and in the background.

Shows that every reader gets the single messages with keys and offsets, whatever they came in.

Topics: plain, gzip, snappy, background=1
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, KeyedProducer, SimpleConsumer, SimpleProducer
from kafka.protocol import CODEC_GZIP, CODEC_NONE, CODEC_SNAPPY

logging.basicConfig(level=logging.ERROR)

LINES = [('10.0.0.%d GET /item/%d %s' % (n % 4, n, 'x' * (n * 7))).encode('utf-8') for n in range(25)]


def read(client, topic):
    consumer = SimpleConsumer(client, None, topic, auto_commit=False, max_buffer_size=None, iter_timeout=1)
    found = [(offset, message.key, message.value) for offset, message in consumer]
    consumer.stop()
    return found


def main():
    servers, prefix = sys.argv[1:]
    client = KafkaClient(servers)
    for name, codec in (('plain', CODEC_NONE), ('gzip', CODEC_GZIP), ('snappy', CODEC_SNAPPY)):
        topic = '%s-%s' % (prefix, name)
        producer = SimpleProducer(client, codec=codec)
        producer.send_messages(topic, *LINES)
        keyed = KeyedProducer(client, codec=codec)
        keyed.send_messages(topic, b'10.0.0.9', b'last line', b'very last line')
        found = read(client, topic)
        print('%s: %d messages, offsets %d to %d' % (name, len(found), found[0][0], found[-1][0]))
        print('  same lines: %s' % ([value for _, _, value in found[:25]] == LINES))
        for offset, key, value in found[25:]:
            print('  %d %s %s' % (offset, key.decode(), value.decode()))

    topic = prefix + '-background'
    for codec in (CODEC_GZIP, CODEC_SNAPPY):
        producer = SimpleProducer(client, codec=codec, batch_send_every_n=8, batch_send_every_t=1, **{'async': True})
        for line in LINES:
            producer.send_messages(topic, line)
        producer.stop()
    found = read(client, topic)
    print('background: %d messages, in order: %s' % (len(found), [value for _, _, value in found] == LINES + LINES))
    client.close()


if __name__ == '__main__':
    main()
