"""A tool that speaks requests: KafkaClient with payload tuples for produce, fetch, offsets and commits.

Shows the answers of each, that they come in the order of the payloads, and callbacks.

Topics: tool=3
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, create_message
from kafka.common import (
    FetchRequest, OffsetCommitRequest, OffsetFetchRequest, OffsetRequest, ProduceRequest
)

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-tool', prefix + '-tools'
    client = KafkaClient(servers, client_id='tool', timeout=30)

    requests = [ProduceRequest(topic, partition, [create_message(b'first', b'k'), create_message(b'second')])
                for partition in (2, 0, 1)]
    for answer in client.send_produce_request(requests, acks=1, timeout=1000):
        print('produce %d: error %d, offset %d' % (answer.partition, answer.error, answer.offset))
    print('again: %s' % client.send_produce_request(requests, callback=lambda answer: (answer.partition, answer.offset)))
    print('without acknowledgement: %s' % [a for a in client.send_produce_request(requests[:1], acks=0) if a])

    answers = client.send_fetch_request(
        [FetchRequest(topic, 1, 1, 4096), FetchRequest(topic, 0, 0, 4096)], max_wait_time=1000, min_bytes=1)
    for answer in answers:
        print('fetch %d: error %d, highwater mark %d' % (answer.partition, answer.error, answer.highwaterMark))
        for offset, message in answer.messages:
            print('  %d magic %d attributes %d key %s value %s' % (
                offset, message.magic, message.attributes,
                message.key and message.key.decode(), message.value.decode()))

    for time, name in ((-1, 'latest'), (-2, 'earliest')):
        for answer in client.send_offset_request([OffsetRequest(topic, 0, time, 1), OffsetRequest(topic, 1, time, 1)]):
            print('%s of %d: %s' % (name, answer.partition, list(answer.offsets)))

    commits = [OffsetCommitRequest(topic, 0, 3, b'half'), OffsetCommitRequest(topic, 2, 1, b'')]
    for answer in client.send_offset_commit_request(group, commits):
        print('commit %d: error %d' % (answer.partition, answer.error))
    fetches = [OffsetFetchRequest(topic, partition) for partition in (2, 0)]
    for answer in client.send_offset_fetch_request(group, fetches):
        print('committed %d: %d, error %d' % (answer.partition, answer.offset, answer.error))
    (answer,) = client.send_offset_fetch_request(group, [OffsetFetchRequest(topic, 1)], fail_on_error=False)
    print('never committed: %d' % answer.offset)
    print('equal tuples: %s' % (OffsetRequest(topic, 0, -1, 1) == (topic, 0, -1, 1)))
    client.close()


if __name__ == '__main__':
    main()
