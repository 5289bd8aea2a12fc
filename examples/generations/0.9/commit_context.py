"""A mailer that retries what it could not send: OffsetCommitContext around a SimpleConsumer.

Shows that marked messages are committed, unmarked and failed ones come again, and an offset out of range.

Topics: mail=2
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, SimpleConsumer
from kafka.common import OffsetOutOfRangeError, ProduceRequest
from kafka.context import OffsetCommitContext
from kafka.protocol import create_message

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-mail', prefix + '-mailer'
    client = KafkaClient(servers)
    for partition in (0, 1):
        messages = [create_message(('letter %d-%d' % (partition, n)).encode()) for n in range(4)]
        client.send_produce_request([ProduceRequest(topic, partition, messages)])

    consumer = SimpleConsumer(client, group, topic, auto_commit=False)
    consumer.provide_partition_info()
    consumer.fetch_last_known_offsets()

    def stored():
        other = SimpleConsumer(client, group, topic, auto_commit=False)
        other.stop()
        return sorted(other.offsets.items())

    with OffsetCommitContext(consumer) as context:
        for partition, message in sorted(consumer.get_messages(count=8, block=True, timeout=5)):
            if message.offset < 2 + partition:
                print('sent %s' % message.message.value.decode())
                context.mark(partition, message.offset)
    print('stored %s, next %s' % (stored(), sorted(consumer.offsets.items())))

    with OffsetCommitContext(consumer) as context:
        messages = consumer.get_messages(count=8, block=True, timeout=1)
        print('again: %s' % ', '.join(sorted(message.message.value.decode() for _, message in messages)))
    print('stored %s, next %s' % (stored(), sorted(consumer.offsets.items())))

    try:
        with OffsetCommitContext(consumer) as context:
            for partition, message in consumer.get_messages(count=8, block=True, timeout=1):
                context.mark(partition, message.offset)
            raise RuntimeError('the mail server is away')
    except RuntimeError as error:
        print('failed: %s' % error)
    print('stored %s, next %s' % (stored(), sorted(consumer.offsets.items())))

    with OffsetCommitContext(consumer):
        raise OffsetOutOfRangeError()
    print('from the beginning: %s' % sorted(consumer.offsets.items()))
    consumer.stop()
    client.close()


if __name__ == '__main__':
    main()
