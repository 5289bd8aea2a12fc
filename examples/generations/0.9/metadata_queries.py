"""A monitor that lists topics, leaders and coordinators: what KafkaClient knows and can ask of a cluster.

Shows topics and partitions, metadata requests, resets, automatic creation, and consumer metadata.

Topics: known=3, other
"""
from __future__ import print_function

import logging
import sys

from kafka import KafkaClient
from kafka.common import LeaderNotAvailableError, TopicAndPartition, UnknownTopicOrPartitionError

logging.basicConfig(level=logging.CRITICAL)


def main():
    servers, prefix = sys.argv[1:]
    known, other = prefix + '-known', prefix + '-other'
    client = KafkaClient(servers)
    print('topics: %s %s' % (known in client.topics, prefix + '-nowhere' in client.topics))
    print('partitions: %s %s' % (client.get_partition_ids_for_topic(known), client.get_partition_ids_for_topic(other)))
    print('has metadata: %s %s' % (client.has_metadata_for_topic(known), client.has_metadata_for_topic('nowhere')))
    print('brokers: %d' % len(client.brokers))
    broker = client.topics_to_brokers[TopicAndPartition(known, 1)]
    print('leader has a port: %s' % (broker.port > 0 and client.brokers[broker.nodeId] == broker))
    meta = client.topic_partitions[known][2]
    print('%d: leader is in replicas %s, in isr %s, error %d' % (
        meta.partition, meta.leader in meta.replicas, meta.leader in meta.isr, meta.error))

    client.reset_topic_metadata(known)
    print('after a reset: %s %s' % (client.has_metadata_for_topic(known), client.has_metadata_for_topic(other)))
    client.load_metadata_for_topics(known)
    print('after loading: %s' % client.has_metadata_for_topic(known))
    client.reset_all_metadata()
    print('after a reset of all: %s' % len(client.topics))
    client.load_metadata_for_topics()
    print('after loading all: %s %s' % (client.has_metadata_for_topic(known), client.has_metadata_for_topic(other)))

    answer = client.send_metadata_request([known, other])
    for topic in sorted(answer.topics, key=lambda topic: len(topic.partitions)):
        print('answer: error %d, %d partitions' % (topic.error, len(topic.partitions)))
        for partition in sorted(topic.partitions, key=lambda each: each.partition):
            print('  %d %s' % (partition.partition, len(partition.replicas)))

    created = prefix + '-created'
    try:
        client.load_metadata_for_topics(created)
    except (LeaderNotAvailableError, UnknownTopicOrPartitionError):
        pass
    client.ensure_topic_exists(created, timeout=20)
    print('created: %s' % client.get_partition_ids_for_topic(created))

    answer = client.send_consumer_metadata_request(prefix + '-group')
    print('coordinator: error %d, known broker: %s' % (answer.error, answer.nodeId in client.brokers))
    client.close()
    client.load_metadata_for_topics()
    print('connects again: %s' % client.has_metadata_for_topic(known))
    client.close()


if __name__ == '__main__':
    main()
