"""A worker of a job queue: KafkaConsumer of 0.9, which marks each message as done and commits.

Shows next(), task_done(), commit(), offsets() and that a second worker of the group goes on behind what was marked.

Topics: jobs=2
"""
from __future__ import print_function

import json
import logging
import sys

from kafka import KafkaClient, KafkaConsumer, SimpleProducer

logging.basicConfig(level=logging.CRITICAL)


def fill(servers, topic):
    client = KafkaClient(servers)
    producer = SimpleProducer(client, random_start=False)
    for number in range(12):
        job = {'id': number, 'action': ['resize', 'upload', 'notify'][number % 3]}
        producer.send_messages(topic, json.dumps(job, sort_keys=True).encode('utf-8'))
    client.close()


def worker(servers, group, topic):
    return KafkaConsumer(
        topic,
        bootstrap_servers=[servers],
        group_id=group,
        auto_offset_reset='smallest',
        consumer_timeout_ms=2000,
        deserializer_class=lambda data: json.loads(data.decode('utf-8')),
    )


def show(consumer, kind):
    known = consumer.offsets(kind)
    print('%s: %s' % (kind, ' '.join('%d=%s' % (partition, known[topic, partition]) for topic, partition in sorted(known))))


def main():
    servers, prefix = sys.argv[1:]
    topic, group = prefix + '-jobs', prefix + '-workers'
    fill(servers, topic)

    first = worker(servers, group, topic)
    show(first, 'fetch')
    show(first, 'commit')
    done = set()
    for _ in range(7):
        message = first.next()
        done.add((message.partition, message.offset, message.value['id'], message.value['action']))
        first.task_done(message)
    marked = first.offsets('task_done')
    print('marked %d messages' % sum(offset + 1 for offset in marked.values() if offset is not None))
    print('commit says %s, then %s' % (first.commit(), first.commit()))

    second = worker(servers, group, topic)
    print('committed before: %d' % sum(offset or 0 for offset in second.offsets('commit').values()))
    for _ in range(5):
        message = second.next()
        done.add((message.partition, message.offset, message.value['id'], message.value['action']))
        second.task_done(message)
    print('commit says %s' % second.commit())
    show(second, 'fetch')
    show(second, 'highwater')
    print('marked partitions: %d' % len([offset for offset in second.offsets('task_done').values() if offset]))
    show(second, 'commit')
    for job in sorted(done):
        print('partition %d offset %d: job %d, %s' % job)


if __name__ == '__main__':
    main()
