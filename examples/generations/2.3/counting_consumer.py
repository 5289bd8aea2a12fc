"""A team's own consumer: a subclass of KafkaConsumer that counts what its service reads, with its own deserializers.

    python counting_consumer.py localhost:9092 shop
"""

import json
import sys
from collections import Counter

from kafka import KafkaConsumer, KafkaProducer
from kafka.serializer import Deserializer, Serializer


class JsonSerializer(Serializer):
    def serialize(self, topic, value):
        return json.dumps(value, sort_keys=True).encode()


class JsonDeserializer(Deserializer):
    def deserialize(self, topic, bytes_):
        return json.loads(bytes_)


class CountingConsumer(KafkaConsumer):
    def __init__(self, *topics, **configs):
        self.counts = Counter()
        super().__init__(*topics, **configs)

    def __next__(self):
        record = super().__next__()
        self.counts[record.key] += 1
        return record


def main(servers, prefix):
    topic = prefix + "-events"
    producer = KafkaProducer(bootstrap_servers=servers, key_serializer=str.encode, value_serializer=JsonSerializer())
    for number in range(12):
        shop = "shop %d" % (number % 3)
        producer.send(topic, {"n": number, "shop": shop}, key=shop, headers=[("source", b"test"), ("n", b"%d" % number)])
    producer.flush()
    producer.close()

    consumer = CountingConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=prefix + "-counters",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=1500,
        key_deserializer=bytes.decode,
        value_deserializer=JsonDeserializer(),
    )
    numbers = []
    for record in consumer:
        numbers.append(record.value["n"])
        if record.value["n"] == 4:
            print("record:", record.key, record.value, record.headers, record.timestamp_type, record.offset >= 0)
            print("sizes:", record.serialized_key_size, record.serialized_value_size, record.serialized_header_size)
        if len(numbers) == 12:
            break
    print("read:", sorted(numbers))
    print("counts:", sorted(consumer.counts.items()))
    print("subscription:", consumer.subscription() == {topic}, consumer.config["group_id"] == prefix + "-counters")
    try:
        next(consumer)
    except StopIteration:
        print("no more")
    consumer.commit()
    consumer.close(autocommit=False)


if __name__ == "__main__":
    main(*sys.argv[1:3])
