"""A careful client: errors as exceptions, as codes in answers, through check_error, and of requests that failed.

Shows fail_on_error and callbacks, the classes and their codes, and a server that is not there.

Topics: small
"""
from __future__ import print_function

import logging
import socket
import sys

from kafka import KafkaClient, create_message
from kafka.common import (
    BrokerResponseError, FetchRequest, KafkaError, KafkaUnavailableError, LeaderNotAvailableError,
    MessageSizeTooLargeError, NotLeaderForPartitionError, OffsetOutOfRangeError, OffsetRequest, ProduceRequest,
    RequestTimedOutError, UnknownTopicOrPartitionError, check_error, kafka_errors
)

logging.basicConfig(level=logging.CRITICAL)


def attempt(what, function, *args, **kwargs):
    try:
        print('%s: %s' % (what, function(*args, **kwargs)))
    except KafkaError as error:
        print('%s: raised %s %s' % (what, type(error).__name__, getattr(error, 'errno', None)))


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-small'
    client = KafkaClient(servers)
    beyond = [FetchRequest(topic, 0, 50, 1024)]
    attempt('fetch beyond the end', client.send_fetch_request, beyond)
    (answer,) = client.send_fetch_request(beyond, fail_on_error=False)
    print('as a code: %d, messages %s' % (answer.error, list(answer.messages)))
    print('through a callback: %s' % client.send_fetch_request(
        beyond, fail_on_error=False, callback=lambda response: kafka_errors[response.error].__name__))
    try:
        check_error(answer)
    except OffsetOutOfRangeError as error:
        print('check_error: %s, %s, a broker\'s: %s' % (
            type(error).__name__, error.errno, isinstance(error, BrokerResponseError)))

    large = [ProduceRequest(topic, 0, [create_message(b'x' * 1500000)])]
    attempt('a message too large', client.send_produce_request, large)
    (answer,) = client.send_produce_request(large, fail_on_error=False)
    print('as a code: %d %s' % (answer.error, kafka_errors[answer.error] is MessageSizeTooLargeError))

    attempt('a partition that is not there', client.send_produce_request,
            [ProduceRequest(topic, 17, [create_message(b'x')])])
    attempt('offsets of it', client.send_offset_request, [OffsetRequest(topic, 17, -1, 1)])
    good = client.send_produce_request([ProduceRequest(topic, 0, [create_message(b'good')])])
    print('a good one: %d %d' % (good[0].error, good[0].offset))
    try:
        client.send_produce_request([ProduceRequest(topic, 0, [create_message(b'a')]),
                                     ProduceRequest(topic, 0, [create_message(b'b')])])
    except AssertionError:
        print('twice the same partition: AssertionError')

    for code in (-1, 1, 2, 3, 5, 6, 7, 9, 10, 12, 14, 15, 16):
        print('%d %s' % (code, kafka_errors[code].errno))
    for error_class in (UnknownTopicOrPartitionError, LeaderNotAvailableError, NotLeaderForPartitionError,
                        RequestTimedOutError):
        print('%s %d %s' % (error_class.__name__, error_class.errno, issubclass(error_class, RuntimeError)))

    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    port = listener.getsockname()[1]
    listener.close()
    try:
        KafkaClient('127.0.0.1:%d' % port, timeout=2)
    except KafkaUnavailableError:
        print('nobody there: KafkaUnavailableError')
    print('one of two is there: %s' % KafkaClient('127.0.0.1:%d,%s' % (port, servers)).has_metadata_for_topic(topic))
    client.close()


if __name__ == '__main__':
    main()
