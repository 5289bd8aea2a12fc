"""An auditor that looks at chosen places: KafkaConsumer of 0.9 with set_topic_partitions in all its forms.

Shows topics, tuples with and without offsets, dicts of both kinds, and what is refused.

Topics: first=3, second=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, KafkaConsumer
from kafka.common import ConsumerTimeout, KafkaConfigurationError, ProduceRequest, UnknownTopicOrPartitionError
from kafka.protocol import create_message

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    first, second = prefix + '-first', prefix + '-second'
    client = KafkaClient(servers)
    for topic, partitions in ((first, 3), (second, 2)):
        for partition in range(partitions):
            messages = [create_message(('%d' % n).encode()) for n in range(5)]
            client.send_produce_request([ProduceRequest(topic, partition, messages)])
    client.close()

    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset='smallest', consumer_timeout_ms=2000)
    places = [
        ('a topic', [first]),
        ('two topics', [first, second]),
        ('a partition', [(first, 2)]),
        ('a partition and an offset', [(second, 1, 3)]),
        ('a dict of a partition', [{first: 1}]),
        ('a dict of partitions', [{first: [0, 2], second: (1,)}]),
        ('a dict of offsets', [{(first, 0): 4, (second, 0): 2}]),
        ('a mixture', [second, (first, 1, 4), {first: 2}]),
    ]
    for name, arguments in places:
        consumer.set_topic_partitions(*arguments)
        read = {}
        try:
            for message in consumer:
                read.setdefault((message.topic, message.partition), []).append(message.value.decode())
        except ConsumerTimeout:
            pass
        print('%s:' % name)
        for topic, partition in sorted(read):
            print('  %s %d: %s' % (topic, partition, ' '.join(read[topic, partition])))

    for wrong in ((first, 9), {first: 'x'}, 12, prefix + '-unheard-of', (first, 'x')):
        try:
            consumer.set_topic_partitions(wrong)
            print('taken')
        except (KafkaConfigurationError, UnknownTopicOrPartitionError, KeyError) as error:
            print('%s' % type(error).__name__)
    consumer.set_topic_partitions()
    try:
        print(list(consumer.fetch_messages()))
    except KafkaConfigurationError as error:
        print('%s: %s' % (type(error).__name__, error))


if __name__ == '__main__':
    main()
