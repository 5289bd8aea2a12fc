"""A collector of page views: KeyedProducer in the background, in batches by number, one page always in one partition.

Shows where keys go (the hash of Python 2), that each partition keeps the order, and that stop() sends what waits.

Topics: views=4
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, KeyedProducer, SimpleConsumer

logging.basicConfig(level=logging.ERROR)

PAGES = ['/', '/about', '/cart', '/cart/checkout', '/help', '/search?q=kafka']


def collect(servers, topic):
    client = KafkaClient(servers)
    # "async" became a keyword of Python later
    producer = KeyedProducer(client, batch_send_every_n=10, batch_send_every_t=2, **{'async': True})
    for visit in range(36):
        page = PAGES[visit % len(PAGES)]
        answer = producer.send_messages(topic, page.encode('utf-8'), ('visit %d of %s' % (visit, page)).encode('utf-8'))
        assert answer == [], 'nothing is known of a message that is sent in the background'
    producer.stop()
    client.close()


def show(servers, topic):
    client = KafkaClient(servers)
    for partition in sorted(client.get_partition_ids_for_topic(topic)):
        consumer = SimpleConsumer(client, None, topic, partitions=[partition], auto_commit=False, iter_timeout=1)
        print('partition %d' % partition)
        for offset, message in consumer:
            print('  %d %s: %s' % (offset, message.key.decode('utf-8'), message.value.decode('utf-8')))
        consumer.stop()
    client.close()


if __name__ == '__main__':
    servers, prefix = sys.argv[1:]
    collect(servers, prefix + '-views')
    show(servers, prefix + '-views')
