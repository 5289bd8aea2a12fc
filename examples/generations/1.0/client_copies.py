"""A server with threads: SimpleClient copied for each of them, initialised again, and closed.

Shows that copies work beside each other and know the same metadata, and that a closed client can be used anew.

Topics: threads=2
"""
from __future__ import print_function

import logging
import sys
import threading

from kafka import SimpleClient, SimpleConsumer, create_message
from kafka.common import OffsetRequestPayload, ProduceRequestPayload

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    topic = prefix + '-threads'
    client = SimpleClient(servers, client_id='server', timeout=30)
    copies = [client.copy() for _ in range(3)]
    results = [None] * 3

    def work(number):
        mine = copies[number]
        mine.reinit()
        answers = []
        for n in range(5):
            message = create_message(('thread %d, %d' % (number, n)).encode(), ('%d' % number).encode())
            answers.extend(mine.send_produce_request([ProduceRequestPayload(topic, number % 2, [message])]))
        mine.close()
        results[number] = answers

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, answers in enumerate(results):
        offsets = [answer.offset for answer in answers]
        print('thread %d: partition %s, errors %s, in order %s' % (
            number, set([number % 2]) == set(answer.partition for answer in answers),
            sorted(set(answer.error for answer in answers)), offsets == sorted(offsets)))
    print('copies know the topic: %s' % [copy.has_metadata_for_topic(topic) for copy in copies])
    print('another object: %s' % (copies[0] is not client and copies[0].client_id == client.client_id))

    answers = client.send_offset_request([OffsetRequestPayload(topic, partition, -1, 1) for partition in (0, 1)])
    print('ends: %s' % [list(answer.offsets) for answer in answers])
    client.close()
    client.reinit()
    answers = client.send_offset_request([OffsetRequestPayload(topic, partition, -2, 1) for partition in (0, 1)])
    print('beginnings: %s' % [list(answer.offsets) for answer in answers])

    consumer = SimpleConsumer(client.copy(), None, topic, auto_commit=False, iter_timeout=1)
    found = [message.message.value.decode() for message in consumer]
    print('%d messages' % len(found))
    for number in range(3):
        its_own = [each for each in found if each.startswith('thread %d' % number)]
        print('  %s' % '; '.join(its_own))
    client.close()


if __name__ == '__main__':
    main()
