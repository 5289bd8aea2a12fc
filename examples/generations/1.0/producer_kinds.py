"""A migration in progress: SimpleProducer, KeyedProducer and KafkaProducer of 1.0 write, the three consumers read.

Shows that all write the same log, codecs, keys and partitions of each, and who reads what.

Topics: mix=3
Differs: SimpleConsumer of 1.0.2 gave compressed messages as they were, unopened
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaConsumer, KafkaProducer, KeyedProducer, Murmur2Partitioner, SimpleClient, SimpleConsumer, \
    SimpleProducer, TopicPartition
from kafka.protocol import CODEC_GZIP, CODEC_SNAPPY

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-mix'
    client = SimpleClient(servers)
    simple = SimpleProducer(client, codec=CODEC_GZIP, random_start=False)
    print('simple %s' % [simple.send_messages(topic, ('s%d' % n).encode())[0].partition for n in range(4)])
    keyed = KeyedProducer(client, partitioner=Murmur2Partitioner, codec=CODEC_SNAPPY)
    print('keyed %s' % [keyed.send_messages(topic, ('k%d' % n).encode(), b'by key')[0].partition for n in range(6)])
    hashed = KeyedProducer(client)
    print('hashed %s' % [hashed.send_messages(topic, ('k%d' % n).encode(), b'by hash')[0].partition for n in range(6)])
    background = SimpleProducer(client, batch_send_every_n=3, batch_send_every_t=1, random_start=False, **{'async': True})
    for number in range(5):
        background.send_messages(topic, ('b%d' % number).encode())
    background.stop()
    try:
        background.send_messages(topic, 17)
    except TypeError as error:
        print('TypeError: %s' % error)
    for codec in (None, 'gzip', 'snappy'):
        producer = KafkaProducer(bootstrap_servers=servers, compression_type=codec, acks=1)
        print('new, %s: %s' % (codec, [
            producer.send(topic, key=('k%d' % n).encode(), value=str(codec).encode()).get(timeout=30).partition
            for n in range(6)]))
        producer.close()

    consumer = SimpleConsumer(client, None, topic, auto_commit=False, max_buffer_size=None, iter_timeout=1)
    consumer.provide_partition_info()
    old = sorted((partition, each.offset, each.message.key, each.message.value) for partition, each in consumer)
    consumer.stop()
    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=None, auto_offset_reset='earliest',
                             enable_auto_commit=False, consumer_timeout_ms=1500)
    consumer.assign([TopicPartition(topic, partition) for partition in range(3)])
    new = sorted((record.partition, record.offset, record.key, record.value) for record in consumer)
    consumer.close()
    print('old and new read the same: %s, %d messages' % (old == new, len(new)))
    for partition in range(3):
        print('%d: %s' % (partition, ' '.join(
            '%s=%s' % (key.decode() if key else '', value.decode()) for number, _, key, value in new if number == partition)))
    client.close()


if __name__ == '__main__':
    main()
