"""The embedded broker under a client that is not ours: killed while written to, damaged, restarted, rebalancing."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from harness.ports import free_ports

PATIENCE_S = 60.0
PARTITIONS = 3


class BrokerProcess:
    """`kafka.broker.run` in a process of its own, on a port it keeps from start to start."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        (self._port,) = free_ports(1)
        self._process: subprocess.Popen[str] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        program = (
            "import sys; from kafka.broker import run; run(sys.argv[1], port=int(sys.argv[2]), num_partitions=3, "
            "group_min_session_timeout_ms=1000)"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(self.data_dir), str(self._port)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().endswith(f"{self.bootstrap_servers}\n")

    def end(self, how: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(how)
        with self._process:
            code = self._process.wait(timeout=20)
        self._process = None
        return code

    def close(self) -> None:
        if self._process is not None:
            self.end(signal.SIGKILL)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[BrokerProcess]:
    with contextlib.closing(BrokerProcess(tmp_path / "data")) as broker:
        broker.start()
        yield broker


class Writer:
    """An idempotent confluent-kafka producer that keeps what was acknowledged, by partition, in the order of that."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.sent = 0
        self.acknowledged: dict[int, dict[int, bytes]] = {}
        self.failed: list[Any] = []
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "enable.idempotence": True,
                "linger.ms": 1,
                "batch.num.messages": 50,
                "reconnect.backoff.max.ms": 200,
                "retry.backoff.ms": 50,
                "log_level": 0,
            }
        )

    def _heard(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failed.append(error)
        else:
            self.acknowledged.setdefault(message.partition(), {})[message.offset()] = message.value()

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def write(self, records: int) -> None:
        for _ in range(records):
            self._producer.produce("t", b"%08d" % self.sent, partition=self.sent % PARTITIONS, on_delivery=self._heard)
            self.sent += 1
        self._producer.poll(0)

    def write_until(self, acknowledged: int) -> None:
        """Keep records on the way until that many are acknowledged."""
        deadline = time.monotonic() + PATIENCE_S
        while self.count < acknowledged:
            assert time.monotonic() < deadline, f"only {self.count} of {acknowledged} acknowledged"
            if self.sent - self.count < 10_000:
                self.write(200)
            self._producer.poll(0.002)

    def give_up(self) -> None:
        """Hear the last answers, and send nothing more."""
        self._producer.purge()
        self._producer.poll(0.1)

    def flush(self) -> None:
        assert self._producer.flush(PATIENCE_S) == 0


def read_all(bootstrap_servers: str, expected: int) -> dict[int, dict[int, bytes]]:
    """Every record of the topic: partition, offset, value."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "reader", "log_level": 0})
    try:
        consumer.assign([confluent_kafka.TopicPartition("t", number, 0) for number in range(PARTITIONS)])
        found: dict[int, dict[int, bytes]] = {}
        deadline = time.monotonic() + PATIENCE_S
        while sum(map(len, found.values())) < expected:
            assert time.monotonic() < deadline, f"only {sum(map(len, found.values()))} of {expected} read"
            for message in consumer.consume(5000, 0.2):
                assert message.error() is None
                found.setdefault(message.partition(), {})[message.offset()] = message.value()
        return found
    finally:
        consumer.close()


def ends(bootstrap_servers: str) -> int:
    """The number of records up to the ends of all partitions."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "ends", "log_level": 0})
    try:
        marks = [
            consumer.get_watermark_offsets(confluent_kafka.TopicPartition("t", number), timeout=PATIENCE_S)
            for number in range(PARTITIONS)
        ]
        assert all(low == 0 for low, _ in marks)
        return sum(high for _, high in marks)
    finally:
        consumer.close()


def test_a_killed_broker_has_every_acknowledged_record_and_cuts_what_is_torn(process: BrokerProcess) -> None:
    writer = Writer(process.bootstrap_servers)
    writer.write_until(20_000)
    assert process.end(signal.SIGKILL) == -signal.SIGKILL
    writer.give_up()
    acknowledged = {number: dict(offsets) for number, offsets in writer.acknowledged.items()}
    logs = sorted((process.data_dir / "logs").rglob("*.log"))
    assert len(logs) == PARTITIONS
    sizes = [log.stat().st_size for log in logs]
    for log, garbage in zip(logs, (b"\0" * 5000, b"\xff" * 61, logs[2].read_bytes()[:100]), strict=True):
        with log.open("ab") as file:
            file.write(garbage)
    process.start()
    found = read_all(process.bootstrap_servers, ends(process.bootstrap_servers))
    for number, offsets in acknowledged.items():
        assert offsets.items() <= found[number].items()
    # Less where the process died within a write.
    assert all(log.stat().st_size <= size for log, size in zip(logs, sizes, strict=True))


def test_an_idempotent_producer_writes_each_record_once_over_a_crash(process: BrokerProcess) -> None:
    writer = Writer(process.bootstrap_servers)
    for target in (5_000, 15_000, 30_000):
        writer.write_until(target)
        process.end(signal.SIGKILL)
        writer.write(300)
        process.start()
    writer.flush()
    assert not writer.failed
    assert writer.count == writer.sent == ends(process.bootstrap_servers)
    found = read_all(process.bootstrap_servers, writer.sent)
    for number in range(PARTITIONS):
        in_order = [found[number][offset] for offset in sorted(found[number])]
        assert in_order == [b"%08d" % value for value in range(number, writer.sent, PARTITIONS)]


def test_an_orderly_end_keeps_everything_too(process: BrokerProcess) -> None:
    writer = Writer(process.bootstrap_servers)
    writer.write(3000)
    writer.flush()
    assert process.end(signal.SIGTERM) == 0
    assert list((process.data_dir / "logs").rglob("*.index"))
    process.start()
    assert read_all(process.bootstrap_servers, 3000) == writer.acknowledged


class Member:
    """A confluent-kafka consumer in the group `g`, with a session of two seconds."""

    def __init__(self, bootstrap_servers: str, **options: object) -> None:
        self.values: list[bytes] = []
        self.consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "g",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 2000,
                "heartbeat.interval.ms": 300,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
                **options,
            }
        )
        self.consumer.subscribe(["t"])

    def poll(self) -> None:
        for message in self.consumer.consume(1000, 0.1):
            if message.error() is None:
                self.values.append(message.value())

    @property
    def partitions(self) -> set[int]:
        return {one.partition for one in self.consumer.assignment()}


def poll_until(members: list[Member], done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < deadline, [(sorted(one.partitions), len(one.values)) for one in members]
        for member in members:
            member.poll()


def test_members_share_partitions_and_take_over_from_one_that_falls_silent(process: BrokerProcess) -> None:
    writer = Writer(process.bootstrap_servers)
    writer.write(300)
    writer.flush()
    first = Member(process.bootstrap_servers)
    second = Member(process.bootstrap_servers, **{"max.poll.interval.ms": 2000})
    try:
        poll_until([first, second], lambda: bool(first.partitions and second.partitions))
        assert first.partitions | second.partitions == set(range(PARTITIONS))
        assert not first.partitions & second.partitions
        # The second one is not polled any more, so it leaves the group when its poll interval is over.
        poll_until([first], lambda: first.partitions == set(range(PARTITIONS)))
    finally:
        first.consumer.close()
        second.consumer.close()


def test_a_group_goes_on_from_its_commits_after_the_broker_was_killed(process: BrokerProcess) -> None:
    writer = Writer(process.bootstrap_servers)
    writer.write(900)
    writer.flush()
    member = Member(process.bootstrap_servers)
    try:
        poll_until([member], lambda: len(member.values) == 900)
        member.consumer.commit(asynchronous=False)
        process.end(signal.SIGKILL)
        process.start()
        writer.write(600)
        writer.flush()
        poll_until([member], lambda: len(member.values) >= 1500)
        assert sorted(member.values) == [b"%08d" % number for number in range(1500)]
    finally:
        member.consumer.close()
    late = Member(process.bootstrap_servers)
    try:
        poll_until([late], lambda: len(late.partitions) == PARTITIONS)
        poll_until([late], lambda: len(late.values) >= 600)
        assert sorted(late.values) == [b"%08d" % number for number in range(900, 1500)]
    finally:
        late.consumer.close()
