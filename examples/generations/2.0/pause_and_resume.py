"""A consumer that holds one partition back while it works on the other, and counts with max_records what it takes.

    python pause_and_resume.py localhost:9092 shop
"""

import sys
from collections import Counter

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic


def main(servers, prefix):
    topic = prefix + "-lanes"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 2, 1)])
    admin.close()
    fast, slow = TopicPartition(topic, 0), TopicPartition(topic, 1)

    producer = KafkaProducer(bootstrap_servers=servers, acks="all", linger_ms=10)
    for number in range(50):
        for tp in (fast, slow):
            producer.send(tp.topic, b"%d" % number, partition=tp.partition)
    producer.flush()
    producer.close()

    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest", max_poll_records=20)
    consumer.assign([fast, slow])
    consumer.pause(slow)
    print("paused:", [tp.partition for tp in consumer.paused()])
    counts, largest = Counter(), 0
    while counts[0] < 50:
        batch = consumer.poll(timeout_ms=1000)
        largest = max(largest, sum(map(len, batch.values())))
        for tp, records in batch.items():
            counts[tp.partition] += len(records)
    print("while paused:", sorted(counts.items()), "at most", largest)
    print("positions:", consumer.position(fast), consumer.position(slow))

    consumer.pause(fast)
    consumer.resume(slow)
    print("paused:", [tp.partition for tp in consumer.paused()])
    values = []
    while len(values) < 50:
        batch = consumer.poll(timeout_ms=1000, max_records=7)
        assert set(batch.keys()) <= {slow}
        assert sum(len(records) for _, records in batch.items()) <= 7
        values += [int(record.value) for records in batch.values() for record in records]
    print("slow:", values == list(range(50)))

    consumer.seek(fast, 45)
    consumer.resume(fast)
    rest = []
    while len(rest) < 5:
        for records in consumer.poll(1000).values():
            rest.extend(records)
    print("again:", [(record.partition, record.offset, int(record.value)) for record in rest])
    print("nothing more:", dict(consumer.poll(timeout_ms=200).items()))
    for call in (consumer.pause, consumer.resume):
        try:
            call(TopicPartition(topic, 7))
        except (KeyError, AssertionError) as error:
            print("not assigned:", isinstance(error, KeyError))
    consumer.unsubscribe()
    print("assignment:", consumer.assignment())
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
