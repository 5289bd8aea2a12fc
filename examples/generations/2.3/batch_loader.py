"""A loader that takes batches: poll(max_records), a full warehouse that pauses, commits in the background with a callback.

    python batch_loader.py localhost:9092 shop
"""

import json
import sys
from collections import deque

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.structs import OffsetAndMetadata, TopicPartition


class Warehouse:
    def __init__(self, high, low):
        self.high, self.low = high, low
        self.shelf, self.stored = deque(), []

    def put(self, record):
        self.shelf.append(record)

    def work(self, count):
        for _ in range(min(count, len(self.shelf))):
            self.stored.append(self.shelf.popleft())


def main(servers, prefix):
    topic, group = prefix + "-rows", prefix + "-loader"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 1, 1)])
    admin.close()
    producer = KafkaProducer(
        bootstrap_servers=servers, compression_type="gzip", value_serializer=lambda row: json.dumps(row).encode()
    )
    for number in range(95):
        producer.send(topic, {"row": number, "text": "x" * 40})
    producer.flush()
    producer.close()

    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_records=20,
        max_poll_interval_ms=60000,
        value_deserializer=json.loads,
    )
    warehouse, commits = Warehouse(high=40, low=15), []
    tp = TopicPartition(topic, 0)
    sizes, pauses, while_paused = [], 0, 0

    def committed(offsets, answer):
        commits.append((answer is None or not isinstance(answer, Exception), [meta.offset for meta in offsets.values()]))

    while len(warehouse.stored) < 95:
        if len(warehouse.shelf) >= warehouse.high and not consumer.paused():
            consumer.pause(*consumer.assignment())
            pauses += 1
        elif len(warehouse.shelf) <= warehouse.low and consumer.paused():
            consumer.resume(*consumer.paused())
        paused = bool(consumer.paused())
        batch = consumer.poll(timeout_ms=10 if paused or consumer.assignment() and consumer.position(tp) == 95 else 1000)
        if paused:
            while_paused += sum(map(len, batch.values()))
        for records in batch.values():
            sizes.append(len(records))
            for record in records:
                warehouse.put(record)
        if batch:
            last = records[-1].offset + 1
            consumer.commit_async({tp: OffsetAndMetadata(last, "loaded", -1)}, callback=committed)
        if paused or not batch:
            warehouse.work(10)
    print("rows:", [record.value["row"] for record in warehouse.stored] == list(range(95)))
    print("sizes:", sizes, "pauses:", pauses, "while paused:", while_paused)
    while len(commits) < len(sizes):
        consumer.poll(timeout_ms=50)
    print("commits:", commits)
    print("committed:", consumer.committed(tp, metadata=True), "position:", consumer.position(tp))
    more = consumer.poll(timeout_ms=100, max_records=3)
    print("nothing more:", more == {}, bool(more))
    consumer.seek(tp, 90)
    again = []
    while len(again) < 5:
        batch = consumer.poll(timeout_ms=1000, max_records=3)
        again.append(len(batch[tp])) if batch else None
        if sum(again) == 5:
            break
    print("again:", again)
    for wrong in (dict(max_records=0), dict(timeout_ms=-1)):
        try:
            consumer.poll(**wrong)
        except AssertionError:
            print("refused:", wrong)
    consumer.close()
    print("closed:", consumer.close())


if __name__ == "__main__":
    main(*sys.argv[1:3])
