"""Topics for `bench.flat`: many of them, and some with many partitions."""

from __future__ import annotations

import time
from typing import Any

from bench.workload import make_records
from harness.topics import CREATE_TOPICS_VERSION, Wire, await_topic, create_topic
from kafka.wire import message_class

VALUE_SIZE = 100
AT_ONCE = 250
"""The number of topics created per request."""
CREATE_TIMEOUT_S = 120


def fill_partitions(servers: str, name: str, partitions: int, records: int) -> None:
    """Create a topic and spread records evenly over its partitions, with a peer.

    Raises:
        RuntimeError: they could not be delivered.
    """
    from confluent_kafka import Producer

    create_topic(servers, name, partitions, timeout_s=CREATE_TIMEOUT_S)
    failures: list[object] = []
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 200,
            "batch.size": 262144,
            "queue.buffering.max.messages": records,
            "delivery.report.only.error": True,
            "on_delivery": lambda error, message: failures.append(error) if error else None,
        }
    )
    keys, values = make_records(records, VALUE_SIZE)
    each = -(-records // partitions)
    for number, (key, value) in enumerate(zip(keys, values, strict=True)):
        producer.produce(name, value, key, partition=number // each)
    if producer.flush(120) or failures:
        raise RuntimeError(f"{name} could not be filled: {failures[:1] or 'time is up'}")


def make_topics(servers: str, count: int) -> None:
    """Create topics of one partition, and wait until the broker has heard of all of them.

    Raises:
        RuntimeError: the broker refused one.
    """
    request_class: Any = message_class("CreateTopicsRequest")
    module = __import__(request_class.__module__, fromlist=["x"])
    names = [f"other-{number}" for number in range(count)]
    with Wire(servers.split(",")[0], CREATE_TIMEOUT_S) as wire:
        for start in range(0, count, AT_ONCE):
            topics = [
                module.CreatableTopic(name=name, num_partitions=1, replication_factor=-1)
                for name in names[start : start + AT_ONCE]
            ]
            request = request_class(topics=topics, timeout_ms=CREATE_TIMEOUT_S * 1000)
            for result in wire.ask(request, CREATE_TOPICS_VERSION).topics:
                if result.error_code:
                    raise RuntimeError(f"topic {result.name} was not created: error {result.error_code}")
    await_topic(servers, names[-1], 1, time.monotonic() + CREATE_TIMEOUT_S)
