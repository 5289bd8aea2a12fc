"""Who gets which partition: the default partitioner, one of the user's, and the ones left from the time of SimpleClient.

    python partitioners.py localhost:9092 shop
"""

import sys

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import TopicAlreadyExistsError
from kafka.partitioner import DefaultPartitioner, Murmur2Partitioner, RoundRobinPartitioner
from kafka.partitioner.default import murmur2

KEYS = ["", "a", "key", "order-1", "order-2", "größe", "x" * 100]


class ByCountry:
    """VIP customers have the last partition for themselves; the rest goes by country."""

    def __call__(self, key, all_partitions, available):
        if key is None:
            return all_partitions[0]
        if key.startswith(b"vip:"):
            return all_partitions[-1]
        return all_partitions[len(key) % (len(all_partitions) - 1)]


def main(servers, prefix):
    topic = prefix + "-customers"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 5, 1)], timeout_ms=10000)
    try:
        admin.create_topics([NewTopic(topic, 5, 1)])
    except TopicAlreadyExistsError as error:
        print("there already:", type(error).__name__, error.errno)
    admin.close()

    partitions = list(range(5))
    for key in KEYS:
        data = key.encode("utf-8")
        print(
            ascii(key[:10]),
            murmur2(data) & 0xFFFFFFFF,
            DefaultPartitioner()(data, partitions, partitions),
            Murmur2Partitioner(partitions)(data, partitions, partitions),
        )
    robin = RoundRobinPartitioner(partitions=partitions)
    print("in turn:", [robin(None, partitions, partitions) for _ in range(7)])
    print("of those at hand:", DefaultPartitioner()(None, partitions, [3]))

    producer = KafkaProducer(bootstrap_servers=servers)
    print("partitions:", sorted(producer.partitions_for(topic)))
    print("default:", [producer.send(topic, b"v", key=key.encode("utf-8")).get(10).partition for key in KEYS[1:]])
    producer.close()

    producer = KafkaProducer(bootstrap_servers=servers, partitioner=ByCountry())
    futures = [producer.send(topic, b"v", key=key) for key in (b"de", b"fra", b"vip:me", None)]
    futures.append(producer.send(topic, b"v", key=b"vip:me", partition=1))
    print("by country:", [future.get(10).partition for future in futures])
    try:
        producer.send(topic, b"v", partition=99)
    except AssertionError:
        print("no such partition")
    producer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
