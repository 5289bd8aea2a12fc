"""Groups whose listeners raise, are interrupted, leave or take their time: no record is lost or read twice."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import PATIENCE_S, poll_until, produce
from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.abstract import PartitionCounts, Subscription
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

PARTITIONS, RECORDS = 6, 150


class Unreliable(ConsumerRebalanceListener):
    """Knows what it holds, and fails in every other call of the callbacks it is told to fail in."""

    def __init__(self, fails_in: str, failure: type[BaseException]) -> None:
        self.held: set[TopicPartition] = set()
        self.failures = 0
        self._fails_in = fails_in
        self._failure = failure
        self._calls = 0

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        assert set(revoked) == self.held
        self.held = set()
        self._perhaps_fail("revoked")

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        assert self.held == set()
        self.held = set(assigned)
        self._perhaps_fail("assigned")

    def _perhaps_fail(self, callback: str) -> None:
        if callback == self._fails_in:
            self._calls += 1
            if self._calls % 2:
                self.failures += 1
                raise self._failure("on purpose")


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("fails_in", ["revoked", "assigned"])
def test_members_come_and_go_while_their_listeners_fail(
    broker: Broker, make_topic: MakeTopic, fails_in: str, failure: type[BaseException]
) -> None:
    topic, rng = make_topic(PARTITIONS), random.Random(f"{fails_in} {failure}")
    for partition in range(PARTITIONS):
        produce(broker.bootstrap_servers, topic, partition, [b"%d" % n for n in range(RECORDS)])
    group: list[tuple[KafkaConsumer, Unreliable]] = []
    seen: list[tuple[int, int]] = []
    failures = 0

    def open_one() -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"group-{topic}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
            session_timeout_ms=30_000,
            max_poll_records=10,
            auto_commit_interval_ms=100_000,
        )
        listener = Unreliable(fails_in, failure)
        consumer.subscribe([topic], listener=listener)
        group.append((consumer, listener))

    def close_one(index: int) -> None:
        consumer, listener = group.pop(index)
        try:
            consumer.close(timeout_ms=5_000)
        except failure:
            assert fails_in == "revoked"
        assert listener.held == set()

    def read_on() -> None:
        nonlocal failures
        for consumer, listener in group:
            try:
                seen.extend((record.partition, record.offset) for record in consumer.poll(20))
            except failure:
                failures += 1
            assert consumer.assignment() == listener.held

    def shared() -> bool:
        read_on()
        shares = [len(listener.held) for _, listener in group]
        return sum(shares) == PARTITIONS and max(shares) - min(shares) <= 1

    try:
        open_one()
        for _ in range(4):
            poll_until(shared)
            if len(group) < 3 and (len(group) == 1 or rng.random() < 0.6):
                open_one()
            else:
                close_one(rng.randrange(len(group)))
        poll_until(shared)
        poll_until(lambda: read_on() or len(seen) >= PARTITIONS * RECORDS)  # type: ignore[func-returns-value]
    finally:
        while group:
            close_one(0)
    assert failures > 0
    assert sorted(seen) == [(p, offset) for p in range(PARTITIONS) for offset in range(RECORDS)]


@pytest.mark.parametrize("action", ["unsubscribe", "close"])
def test_a_listener_may_end_the_subscription_that_it_is_told_of(
    broker: Broker, make_topic: MakeTopic, action: str
) -> None:
    topic = make_topic(2)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=f"group-{topic}")
    told: list[str] = []

    class Ending(ConsumerRebalanceListener):
        def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            told.append(f"revoked {len(revoked)}")

        def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            told.append(f"assigned {len(assigned)}")
            getattr(consumer, action)()

    consumer.subscribe([topic], listener=Ending())
    deadline = time.monotonic() + PATIENCE_S
    while len(told) < 2:
        assert time.monotonic() < deadline
        consumer.poll(20)
    assert told == ["revoked 0", "assigned 2", "revoked 2"]
    consumer.close()
    assert len(told) == 3


def test_an_assignor_of_the_users_runs_beside_the_loop(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    threads: list[str] = []
    others_went_on = threading.Event()

    class Slow(RangePartitionAssignor):
        """Does not end before another consumer of the process has read something."""

        @classmethod
        def assign(
            cls, cluster: PartitionCounts, members: Mapping[str, Subscription]
        ) -> Mapping[str, ConsumerProtocolAssignment]:
            threads.append(threading.current_thread().name)
            assert others_went_on.wait(PATIENCE_S)
            return super().assign(cluster, members)

        @classmethod
        def metadata(cls, topics: Iterable[str]) -> Any:
            threads.append(threading.current_thread().name)
            return super().metadata(topics)

    produce(broker.bootstrap_servers, topic, 0, [b"here"])
    where = {"bootstrap_servers": broker.bootstrap_servers, "auto_offset_reset": "earliest"}
    with (
        KafkaConsumer(topic, group_id=f"group-{topic}", partition_assignment_strategy=[Slow], **where) as slow,
        KafkaConsumer(topic, **where) as other,
    ):
        poll_until(lambda: len(threads) >= 2, slow)
        assert poll_until(lambda: other.position(TopicPartition(topic, 0)) == 1 if other.assignment() else False, other)
        others_went_on.set()
        poll_until(lambda: len(slow.assignment()) == 2, slow)
    loop_threads = [thread.name for thread in threading.enumerate() if "kafka" in thread.name.lower()]
    assert loop_threads
    assert not set(threads) & set(loop_threads)
