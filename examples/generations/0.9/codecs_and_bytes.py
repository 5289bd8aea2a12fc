"""Tools for Kafka's bytes, without a broker: the functions of kafka.codec and kafka.util.

Shows round trips of gzip and snappy (in Java's framing too), strings with lengths, checksums and a timer.
"""
from __future__ import print_function

import struct
import sys
import threading

from kafka.codec import gzip_decode, gzip_encode, has_gzip, has_snappy, snappy_decode, snappy_encode
from kafka.common import BufferUnderflowError, OffsetRequest
from kafka.util import (
    ReentrantTimer, crc32, group_by_topic_and_partition, kafka_bytestring, read_int_string, read_short_string,
    relative_unpack, write_int_string, write_short_string
)


def show(data):
    return ' '.join('%02x' % byte for byte in bytearray(data))


def main():
    text = b'columns and rows ' * 500
    print('has %s %s' % (has_gzip(), has_snappy()))
    print('gzip: %s %s' % (gzip_decode(gzip_encode(text)) == text, len(gzip_encode(text)) < 500))
    print('gzip of nothing: %s' % (gzip_decode(gzip_encode(b'')) == b''))
    print('snappy: %s' % (snappy_decode(snappy_encode(text)) == text))
    framed = snappy_encode(text, xerial_compatible=True, xerial_blocksize=1000)
    print('snappy as Java: %s %s' % (show(framed[:16]), snappy_decode(framed) == text))
    print('first block: %d' % struct.unpack('>i', framed[16:20])[0])

    for value in (b'', b'a', b'some bytes', None):
        for write, read in ((write_int_string, read_int_string), (write_short_string, read_short_string)):
            written = write(value)
            found, position = read(written, 0)
            print('%s: %s, %s at %d' % (write.__name__, show(written), found == value, position))
    try:
        write_int_string(u'text')
    except TypeError:
        print('TypeError')
    for data in (b'\x00', b'\x00\x05ab'):
        try:
            read_short_string(data, 0)
        except BufferUnderflowError as error:
            print('BufferUnderflowError: %s' % str(error)[:20])
    try:
        read_int_string(b'\x00\x00\x00\x09abc', 0)
    except BufferUnderflowError as error:
        print('BufferUnderflowError: %s' % str(error)[:20])
    print(relative_unpack('>hq', b'xx' + struct.pack('>hq', -2, 1 << 40), 2))
    print('crc %d %d' % (crc32(b'crc'), crc32(b'\xff' * 10)))
    print(kafka_bytestring(u'text') == b'text' and kafka_bytestring(b'bytes') == b'bytes')

    requests = [OffsetRequest('b', 1, -1, 1), OffsetRequest('a', 0, -2, 1), OffsetRequest('b', 0, -1, 9)]
    grouped = group_by_topic_and_partition(requests)
    for topic in sorted(grouped):
        print('%s %s' % (topic, [(partition, grouped[topic][partition].max_offsets) for partition in sorted(grouped[topic])]))
    try:
        group_by_topic_and_partition(requests + requests[:1])
    except AssertionError as error:
        print('AssertionError: %s' % str(error)[:9])

    rung = threading.Semaphore(0)
    timer = ReentrantTimer(20, lambda name: rung.release(), 'bell')
    timer.start()
    rung.acquire()
    rung.acquire()
    timer.stop()
    print('rang twice')
    for wrong in ((0, len), (10, 'no function')):
        try:
            ReentrantTimer(*wrong)
        except ValueError as error:
            print('ValueError: %s' % error)


if __name__ == '__main__':
    servers, prefix = sys.argv[1:]
    main()
