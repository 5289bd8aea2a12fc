"""A gateway that makes messages by hand: create_message, create_gzip_message, create_snappy_message, create_message_set.

Shows what they are made of, and what comes back of keys, tombstones and nested messages.

Topics: gate
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient, create_gzip_message, create_message, create_snappy_message
from kafka.common import FetchRequest, Message, ProduceRequest, UnsupportedCodecError
from kafka.protocol import ALL_CODECS, CODEC_GZIP, CODEC_NONE, CODEC_SNAPPY, KafkaProtocol, create_message_set

logging.basicConfig(level=logging.CRITICAL)


def text(data):
    return None if data is None else data.decode('utf-8')


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-gate'
    plain = create_message(b'value', b'key')
    print('%s %s %s %s' % (plain.magic, plain.attributes, text(plain.key), text(plain.value)))
    print('equal: %s' % (plain == Message(0, 0, b'key', b'value')))
    for make in (create_gzip_message, create_snappy_message):
        wrapper = make([(b'v1', b'k1'), (b'v2', None)], b'outer')
        print('%s: magic %d attributes %d key %s, holds bytes: %s' % (
            make.__name__, wrapper.magic, wrapper.attributes, text(wrapper.key), isinstance(wrapper.value, bytes)))
    print('codecs %s' % (ALL_CODECS,))
    for codec in ALL_CODECS:
        made = create_message_set([(b'a', None), (b'b', b'k'), (b'c', None)], codec, b'set')
        print('codec %d: %d messages, attributes %s' % (codec, len(made), sorted(set(m.attributes for m in made))))
    try:
        create_message_set([(b'a', None)], 9)
    except UnsupportedCodecError as error:
        print('UnsupportedCodecError: %s' % error)

    encoded = KafkaProtocol._encode_message_set([create_message(b'in bytes', b'k'), create_message(b'two')])
    print('%d bytes' % len(encoded))
    for offset, message in KafkaProtocol._decode_message_set_iter(encoded):
        print('  %d %s %s' % (offset, text(message.key), text(message.value)))

    client = KafkaClient(servers)
    messages = [
        create_message(b'first', b'k'),
        create_message(None, b'gone'),
        create_message(b'', b'empty'),
    ]
    client.send_produce_request([ProduceRequest(topic, 0, messages)])
    for codec in (CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY):
        made = create_message_set([(('m%d' % n).encode(), None if n % 2 else b'odd') for n in range(3)], codec)
        client.send_produce_request([ProduceRequest(topic, 0, made)])
    (answer,) = client.send_fetch_request([FetchRequest(topic, 0, 0, 65536)], max_wait_time=1000, min_bytes=1)
    for offset, message in answer.messages:
        print('%d %s %s' % (offset, text(message.key), text(message.value)))
    client.close()


if __name__ == '__main__':
    main()
