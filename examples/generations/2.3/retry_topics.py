"""A worker that tries again: what fails goes to a retry topic with its number of attempts, and at last to a dead letter topic.

    python retry_topics.py localhost:9092 shop
"""

import json
import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError

MAX_ATTEMPTS = 3


class TransientError(Exception):
    pass


def charge(order, attempt):
    if order["amount"] < 0:
        raise ValueError("amount below zero")
    if order.get("flaky", 0) >= attempt:
        raise TransientError("payment service is busy")
    return "charged %(amount)d" % order


def attempts_of(record):
    return int(dict(record.headers or []).get("attempt", b"1"))


class Worker:
    def __init__(self, servers, prefix):
        self.topics = {name: "%s-%s" % (prefix, name) for name in ("orders", "orders.retry", "orders.dead")}
        self.ensure_topics(servers)
        self.producer = KafkaProducer(
            bootstrap_servers=[servers],
            acks="all",
            retries=5,
            key_serializer=lambda key: key.encode("utf-8") if key is not None else None,
            value_serializer=lambda value: json.dumps(value, sort_keys=True).encode("utf-8"),
        )
        self.consumer = KafkaConsumer(
            self.topics["orders"],
            self.topics["orders.retry"],
            bootstrap_servers=[servers],
            group_id=prefix + "-billing",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=10,
            value_deserializer=lambda raw: json.loads(raw.decode("utf-8")),
        )
        self.done, self.failures = {}, []

    def ensure_topics(self, servers):
        admin = KafkaAdminClient(bootstrap_servers=servers, client_id="setup")
        for _ in range(2):
            for name in self.topics.values():
                try:
                    admin.create_topics([NewTopic(name=name, num_partitions=1, replication_factor=1)])
                except TopicAlreadyExistsError:
                    pass
        admin.close()

    def pass_on(self, target, record, error, attempt):
        headers = [
            ("attempt", str(attempt).encode()),
            ("error", type(error).__name__.encode()),
            ("from", b"%d" % record.offset),
        ]
        try:
            self.producer.send(self.topics[target], record.value, key=record.key.decode(), headers=headers).get(timeout=10)
        except KafkaError as failure:
            raise SystemExit("cannot pass on: %r" % failure)

    def handle(self, record):
        attempt = attempts_of(record)
        key = record.key.decode()
        try:
            self.done[key] = (charge(record.value, attempt), attempt)
        except TransientError as error:
            self.failures.append((key, attempt, type(error).__name__))
            self.pass_on("orders.retry" if attempt < MAX_ATTEMPTS else "orders.dead", record, error, attempt + 1)
        except ValueError as error:
            self.failures.append((key, attempt, type(error).__name__))
            self.pass_on("orders.dead", record, error, attempt)

    def run(self, total):
        settled = 0
        while settled < total:
            for tp, records in self.consumer.poll(timeout_ms=500).items():
                for record in records:
                    self.handle(record)
                    self.consumer.commit({tp: OffsetAndMetadata(record.offset + 1, "", -1)})
            settled = len(self.done) + len([each for each in self.failures if self.is_final(each)])

    @staticmethod
    def is_final(failure):
        return failure[2] == "ValueError" or failure[1] == MAX_ATTEMPTS


def main(servers, prefix):
    worker = Worker(servers, prefix)
    orders = [
        ("ann", {"amount": 5}),
        ("bob", {"amount": -1}),
        ("cyd", {"amount": 7, "flaky": 2}),
        ("dan", {"amount": 9, "flaky": 9}),
        ("eve", {"amount": 11, "flaky": 1}),
    ]
    for key, order in orders:
        worker.producer.send(worker.topics["orders"], order, key=key)
    worker.producer.flush()
    worker.run(len(orders))
    for key in sorted(worker.done):
        print("done:", key, *worker.done[key])
    print("failures:", sorted(worker.failures))
    for name in ("orders", "orders.retry"):
        print("committed of %s:" % name, worker.consumer.committed(TopicPartition(worker.topics[name], 0)))
    worker.consumer.close()
    worker.producer.close()

    dead = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    tp = TopicPartition(worker.topics["orders.dead"], 0)
    dead.assign([tp])
    end = dead.end_offsets([tp])[tp]
    while dead.position(tp) < end:
        for record in dead.poll(timeout_ms=500).get(tp, []):
            print("dead:", record.key, record.value, record.headers)
    dead.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
