"""An operator's tool of 1.0: SimpleClient with the payloads of kafka.common, and reads what a group has committed.

Shows produce, fetch, offsets, commits and fetches of offsets, callbacks, and metadata as response objects.

Topics: ops=2
"""
from __future__ import print_function

import logging
import sys

from kafka import SimpleClient, create_message
from kafka.common import (
    FetchRequestPayload, OffsetCommitRequestPayload, OffsetFetchRequestPayload, OffsetOutOfRangeError,
    OffsetRequestPayload, ProduceRequestPayload, check_error
)

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-ops', prefix + '-operators'
    client = SimpleClient(servers)
    answers = client.send_produce_request([
        ProduceRequestPayload(topic, 1, [create_message(b'a', b'k'), create_message(b'b')]),
        ProduceRequestPayload(topic, 0, [create_message(b'c'), create_message(b'd', b'l'), create_message(b'e')]),
    ])
    for answer in answers:
        print('produce %d: %d %d' % (answer.partition, answer.error, answer.offset))
    answers = client.send_fetch_request(
        [FetchRequestPayload(topic, 0, 0, 10000), FetchRequestPayload(topic, 1, 1, 10000)], max_wait_time=500, min_bytes=1)
    for answer in answers:
        print('fetch %d: %d %d %s' % (answer.partition, answer.error, answer.highwaterMark, ' '.join(
            '%d:%s' % (each.offset, each.message.value.decode()) for each in answer.messages)))
    (answer,) = client.send_fetch_request([FetchRequestPayload(topic, 0, 99, 100)], fail_on_error=False)
    try:
        check_error(answer)
    except OffsetOutOfRangeError as error:
        print('%s %d' % (type(error).__name__, error.errno))
    answers = client.send_offset_request(
        [OffsetRequestPayload(topic, 0, -1, 1), OffsetRequestPayload(topic, 1, -2, 1)])
    print('offsets %s' % [list(answer.offsets) for answer in answers])

    client.send_offset_commit_request(group, [OffsetCommitRequestPayload(topic, 0, 2, b'note')])
    (answer,) = client.send_offset_fetch_request(group, [OffsetFetchRequestPayload(topic, 0)])
    print('committed %d %d' % (answer.offset, answer.error))
    (answer,) = client.send_offset_fetch_request(group, [OffsetFetchRequestPayload(topic, 1)], fail_on_error=False)
    print('never committed %d' % answer.offset)

    answer = client.send_metadata_request([topic])
    print('brokers %d' % len(answer.brokers))
    for error, name, partitions in answer.topics:
        print('topic %s %d: %s' % (name == topic, error, sorted(partition[1] for partition in partitions)))
    print('through a callback: %s' % client.send_offset_request(
        [OffsetRequestPayload(topic, 0, -1, 1)], callback=lambda answer: answer.offsets[0]))
    client.close()


if __name__ == '__main__':
    main()
