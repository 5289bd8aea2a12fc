"""An importer that commits by itself: KafkaConsumer of 0.9 with auto_commit_interval_messages.

Shows when offsets are stored, that a second importer of the group goes on there, and that offsets() is a copy.

Topics: rows
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, KafkaConsumer, SimpleProducer
from kafka.common import OffsetFetchRequest

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-rows', prefix + '-importers'
    client = KafkaClient(servers)
    SimpleProducer(client).send_messages(topic, *[('row %d' % n).encode() for n in range(11)])

    def stored():
        (answer,) = client.send_offset_fetch_request(group, [OffsetFetchRequest(topic, 0)], fail_on_error=False)
        return answer.offset

    options = dict(
        metadata_broker_list=[servers],
        group_id=group,
        auto_commit_enable=True,
        auto_commit_interval_ms=None,
        auto_commit_interval_messages=3,
        auto_offset_reset='smallest',
        consumer_timeout_ms=2000,
    )
    consumer = KafkaConsumer(topic, **options)
    for _ in range(8):
        message = consumer.next()
        consumer.task_done(message)
        print('%s done, committed %s, stored %d' % (message.value.decode(), consumer.offsets('commit')[topic, 0], stored()))
    everything = consumer.offsets()
    print(' '.join(sorted(everything)))
    everything['fetch'][topic, 0] = 1000
    print('next: %d' % consumer.offsets('fetch')[topic, 0])

    second = KafkaConsumer(topic, **options)
    print('second begins at %d' % second.offsets('fetch')[topic, 0])
    rest = [second.next() for _ in range(5)]
    print(', '.join(message.value.decode() for message in rest))
    second.task_done(rest[-1])
    print('stored %d' % stored())
    print('commit %s, stored %d' % (second.commit(), stored()))
    client.close()


if __name__ == '__main__':
    main()
