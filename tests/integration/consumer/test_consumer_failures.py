"""The consumer when brokers go away and come back, on an embedded broker of each test's own."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.ports import free_ports
from harness.topics import create_topic
from integration.consumer_support import poll_until, produce, read
from kafka import KafkaConsumer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import ForkedClientError, IllegalStateError, KafkaError

TOPIC = "t"
QUICK: dict[str, Any] = {
    "auto_offset_reset": "earliest",
    "reconnect_backoff_max_ms": 200,
    "retry_backoff_max_ms": 200,
    "heartbeat_interval_ms": 200,
    "session_timeout_ms": 6_000,
}


@pytest.fixture
def start(tmp_path: Path) -> Callable[[], EmbeddedBroker]:
    """Return a function that starts the test's broker: on the same port and with the same data each time."""
    (port,) = free_ports(1)
    return lambda: EmbeddedBroker(tmp_path, port=port)


@pytest.mark.parametrize("group", [None, "g"])
def test_a_consumer_goes_on_after_its_broker_was_away(start: Callable[[], EmbeddedBroker], group: str | None) -> None:
    with start() as broker:
        servers = broker.bootstrap_servers
        create_topic(servers, TOPIC, 2)
        produce(servers, TOPIC, 0, [b"%d" % n for n in range(10)])
        consumer = KafkaConsumer(bootstrap_servers=servers, group_id=group, **QUICK)
        if group is None:
            consumer.assign([TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)])
        else:
            consumer.subscribe([TOPIC])
        assert [r.offset for r in read(consumer, 10)] == list(range(10))
    for round_ in range(2):
        assert consumer.poll(700) == {}
        with start():
            produce(servers, TOPIC, 0, [b"new"])
            produce(servers, TOPIC, 1, [b"new"])
            seen = {(r.partition, r.offset) for r in read(consumer, 2)}
            assert {(0, 10 + round_), (1, round_)} <= seen
    consumer.close(timeout_ms=500)


def test_close_is_quick_while_the_broker_is_away(start: Callable[[], EmbeddedBroker]) -> None:
    with start() as broker:
        create_topic(broker.bootstrap_servers, TOPIC)
        consumer = KafkaConsumer(TOPIC, bootstrap_servers=broker.bootstrap_servers, group_id="g", **QUICK)
        poll_until(lambda: len(consumer.assignment()) == 1, consumer)
        consumer.position(TopicPartition(TOPIC, 0))
    begun = time.monotonic()
    consumer.close(timeout_ms=1_000)
    assert time.monotonic() - begun < 20, "it has waited for the broker, as without a time it does"


def test_any_interleaving_of_calls_from_four_threads_ends(start: Callable[[], EmbeddedBroker]) -> None:
    with start() as broker:
        servers = broker.bootstrap_servers
        create_topic(servers, TOPIC, 4)
        for partition in range(4):
            produce(servers, TOPIC, partition, [b"%d" % n for n in range(200)])
        for seed in range(40):
            consumer = KafkaConsumer(TOPIC, bootstrap_servers=servers, group_id=f"g{seed}", **QUICK)
            rng = random.Random(seed)
            calls: list[Callable[[], object]] = [
                lambda c=consumer: c.poll(5),
                lambda c=consumer: c.poll_columns(5),
                lambda c=consumer: c.commit(timeout_ms=500),
                lambda c=consumer: c.pause(*c.assignment()),
                lambda c=consumer: c.resume(*c.assignment()),
                lambda c=consumer: c.seek_to_beginning(),
                lambda c=consumer: c.wakeup(),
                lambda c=consumer: c.metrics(),
            ]
            unexpected: list[BaseException] = []

            def work(plan: list[Callable[[], object]], unexpected: list[BaseException] = unexpected) -> None:
                for call in plan:
                    try:
                        call()
                    except (KafkaError, IllegalStateError):
                        continue
                    except BaseException as error:
                        unexpected.append(error)

            plans = [[rng.choice(calls) for _ in range(60)] for _ in range(4)]
            plans[0].insert(rng.randrange(60), consumer.close)
            threads = [threading.Thread(target=work, args=(plan,)) for plan in plans]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(20)
                assert not thread.is_alive()
            assert unexpected == []
            consumer.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_consumer_says_in_a_forked_child_that_it_belongs_to_the_parent(start: Callable[[], EmbeddedBroker]) -> None:
    with start() as broker:
        create_topic(broker.bootstrap_servers, TOPIC)
        consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, **QUICK)
        consumer.assign([TopicPartition(TOPIC, 0)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads
            child = os.fork()
        if child == 0:
            try:
                with pytest.raises(ForkedClientError):
                    consumer.poll(100)
                sys.unraisablehook = lambda _: os._exit(8)
                del consumer  # without a word
                gc.collect()
                os._exit(7)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        consumer.close()


def test_a_consumer_that_nobody_holds_any_more_stops(start: Callable[[], EmbeddedBroker]) -> None:
    with start() as broker:
        create_topic(broker.bootstrap_servers, TOPIC)

        def open_join_and_let_go() -> Callable[[], object]:
            consumer = KafkaConsumer(TOPIC, bootstrap_servers=broker.bootstrap_servers, group_id="g", **QUICK)
            poll_until(lambda: len(consumer.assignment()) == 1, consumer)
            return weakref.ref(consumer._core)

        core = open_join_and_let_go()
        other = KafkaConsumer(TOPIC, bootstrap_servers=broker.bootstrap_servers, group_id="g", **QUICK)
        poll_until(lambda: len(other.assignment()) == 1, other)
        other.close()
        deadline = time.monotonic() + 60
        while core() is not None and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.05)
        assert core() is None
