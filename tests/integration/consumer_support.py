"""What the consumer's integration tests share: records written by a client that is not ours, and patient polling."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import Producer

from harness.fetch import release_numbers
from kafka import KafkaConsumer
from kafka.record import ConsumerRecord

PATIENCE_S = 60.0


def is_since(broker: Any, release: tuple[int, ...]) -> bool:
    """Whether a broker is of this release of Apache Kafka or a later one; the embedded broker is of the newest."""
    return broker.kind == "embedded" or release_numbers(broker.version) >= release


def without_idempotence_warning(stderr: str) -> str:
    """What a program has said, but for the warning of producers that brokers before Kafka 0.11 deny idempotence."""
    return "".join(line for line in stderr.splitlines(True) if not line.startswith("sending without idempotence"))


def produce(bootstrap_servers: str, topic: str, partition: int, values: Sequence[bytes | None], **options: Any) -> None:
    """Write values to a partition, in order, with keys `k0`, `k1`, …, timestamps from 1,000 on, 1,000 ms apart."""
    config = {"bootstrap.servers": bootstrap_servers, "linger.ms": 1, **options}
    producer = Producer(config)
    for number, value in enumerate(values):
        key, headers = b"k%d" % number, [("n", b"%d" % number)]
        producer.produce(topic, value, key, partition, timestamp=1_000 * (number + 1), headers=headers)
    assert producer.flush(PATIENCE_S) == 0


def read(consumer: KafkaConsumer, count: int, patience_s: float = PATIENCE_S) -> list[ConsumerRecord]:
    """Poll until `count` records have come, or more."""
    records: list[ConsumerRecord] = []
    deadline = time.monotonic() + patience_s
    while len(records) < count and time.monotonic() < deadline:
        for batch in consumer.poll(200).values():
            records += batch
    assert len(records) >= count, f"{len(records)} of {count} records in {patience_s} s"
    return records


def poll_until(condition: Callable[[], bool], *consumers: KafkaConsumer, patience_s: float = PATIENCE_S) -> int:
    """Poll all consumers in turn until the condition holds; returns how many records they gave.

    Without consumers it looks twenty times a second.
    """
    deadline = time.monotonic() + patience_s
    seen = 0
    while not condition():
        assert time.monotonic() < deadline, f"not so within {patience_s} s: {[c.assignment() for c in consumers]}"
        for consumer in consumers:
            seen += len(consumer.poll(20))
        if not consumers:
            time.sleep(0.05)
    return seen


def when_it_waits(consumer: Any, call: Callable[[], object]) -> threading.Thread:
    """Make a call in a thread of its own once the consumer's caller waits; the thread ends with it."""
    runner = consumer._poll_loop.runner
    wait, waiting = runner.wait, threading.Event()

    def noted(timeout_s: float) -> Any:
        waiting.set()
        runner.wait = wait
        return wait(timeout_s)

    def then() -> None:
        if waiting.wait(PATIENCE_S):
            call()

    runner.wait = noted
    thread = threading.Thread(target=then)
    thread.start()
    return thread
