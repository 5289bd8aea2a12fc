"""A protocol study: KafkaConnection and the requests that KafkaProtocol encodes, byte by byte.

Shows encoded requests, answers that are decoded by hand, copies and connections that are opened again.

Topics: raw
Embedded only: KafkaConnection sends bytes as they are, and Kafka 4 has dropped version 0 of these requests
"""
from __future__ import print_function

import binascii
import logging
import sys

from kafka import KafkaConnection, create_message
from kafka.common import FetchRequest, OffsetCommitRequest, OffsetFetchRequest, OffsetRequest, ProduceRequest
from kafka.protocol import KafkaProtocol

logging.basicConfig(level=logging.CRITICAL)


def dump(what, data):
    print('%s: %s' % (what, binascii.hexlify(data).decode()))


def main():
    servers, prefix = sys.argv[1:]
    topic = (prefix + '-raw').encode()
    host, port = servers.split(':')

    dump('produce', KafkaProtocol.encode_produce_request(
        b'me', 1, [ProduceRequest(b'tt', 0, [create_message(b'value', b'key')])], acks=1, timeout=500))
    dump('fetch', KafkaProtocol.encode_fetch_request(b'me', 2, [FetchRequest(b'tt', 1, 7, 1000)], 10, 20))
    dump('offset', KafkaProtocol.encode_offset_request(b'me', 3, [OffsetRequest(b'tt', 1, -1, 1)]))
    dump('metadata', KafkaProtocol.encode_metadata_request(b'me', 4, [b'tt', b'uu']))
    dump('consumer metadata', KafkaProtocol.encode_consumer_metadata_request(b'me', 5, b'group'))
    dump('commit', KafkaProtocol.encode_offset_commit_request(
        b'me', 6, b'group', [OffsetCommitRequest(b'tt', 0, 9, b'note')]))
    dump('offset fetch', KafkaProtocol.encode_offset_fetch_request(b'me', 7, b'group', [OffsetFetchRequest(b'tt', 0)]))

    connection = KafkaConnection(host, int(port), timeout=20)

    def ask(number, request):
        connection.send(number, request)
        return connection.recv(number)

    answer = KafkaProtocol.decode_metadata_response(ask(11, KafkaProtocol.encode_metadata_request(b'me', 11, [topic])))
    print('%d broker, topic %s, error %d, %d partition' % (
        len(answer.brokers), answer.topics[0].topic == topic, answer.topics[0].error, len(answer.topics[0].partitions)))
    request = KafkaProtocol.encode_produce_request(
        b'me', 12, [ProduceRequest(topic, 0, [create_message(b'one'), create_message(b'two', b'k')])])
    for each in KafkaProtocol.decode_produce_response(ask(12, request)):
        print('produced: %s %d %d %d' % (each.topic == topic, each.partition, each.error, each.offset))
    request = KafkaProtocol.encode_fetch_request(b'me', 13, [FetchRequest(topic, 0, 0, 4096)], 1000, 1)
    for each in KafkaProtocol.decode_fetch_response(ask(13, request)):
        print('fetched: %d %d' % (each.error, each.highwaterMark))
        for offset, message in each.messages:
            print('  %d %s %s' % (offset, message.key and message.key.decode(), message.value.decode()))
    request = KafkaProtocol.encode_offset_request(b'me', 14, [OffsetRequest(topic, 0, -1, 1)])
    for each in KafkaProtocol.decode_offset_response(ask(14, request)):
        print('offset: %d %s' % (each.error, list(each.offsets)))

    other = connection.copy()
    other.reinit()
    other.send(15, request)
    print('a copy: %s' % [each.error for each in KafkaProtocol.decode_offset_response(other.recv(15))])
    other.close()
    connection.close()
    print('opened again: %s' % [each.error for each in KafkaProtocol.decode_offset_response(ask(16, request))])
    connection.close()


if __name__ == '__main__':
    main()
