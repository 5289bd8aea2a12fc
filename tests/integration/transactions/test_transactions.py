"""Transactions against the embedded broker and Apache Kafka, in both versions of transactions."""

from __future__ import annotations

import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaConsumer, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import (
    CommitFailedError,
    GroupAuthorizationFailedError,
    InvalidTxnStateError,
    KafkaError,
    KafkaTimeoutError,
    ProducerFencedError,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
    TransactionAbortedError,
)
from kafka.producer import AsyncKafkaProducer
from kafka.producer.transactions import TransactionIdentity, end_transactions
from kafka.structs import ConsumerGroupMetadata, MemberState, OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from harness.tools import JavaTools

PATIENCE_S = 60.0
KIP_98 = [pytest.mark.needs(broker=(0, 11), why="transactions (KIP-98)")]
KIP_890 = [pytest.mark.needs(broker=(4, 0), why="transactions version 2 (KIP-890)")]
KIP_360 = pytest.mark.needs(broker=(2, 5), why="a new producer epoch after a lost record (KIP-360)")
KIP_447 = pytest.mark.needs(broker=(2, 5), why="group metadata in TxnOffsetCommit (KIP-447)")
PROPERTIES = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "TRANSACTIONS.md"


class _Embedded(EmbeddedBroker):
    """An embedded broker that is killed and started again as Apache Kafka is here."""

    transaction_version: int

    def kill(self) -> None:
        """Restarting it is a crash anyway."""


@pytest.fixture(
    scope="module",
    params=[
        "embedded-1",
        "embedded-2",
        pytest.param("apache-1", marks=[pytest.mark.apache, *KIP_98]),
        pytest.param("apache-2", marks=[pytest.mark.apache, *KIP_890]),
    ],
)
def transactional(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A broker with transactions, of each kind and version."""
    version = int(request.param[-1])
    folder = tmp_path_factory.mktemp(request.param)
    if request.param.startswith("embedded"):
        with _Embedded(folder, transaction_version=version) as broker:
            broker.transaction_version = version
            yield broker
        return
    from harness.fetch import release_numbers
    from harness.releases import kafka_of

    java_tools: JavaTools = request.getfixturevalue("java_tools")
    features = {"transaction.version": version} if release_numbers(java_tools.version) >= (4, 0) else {}
    with kafka_of(java_tools.version, folder, properties=PROPERTIES, features=features) as kafka:
        kafka.transaction_version = version  # type: ignore[union-attr]
        yield kafka


@pytest.fixture
def topic(transactional: Any, make_topic_on: Any) -> str:
    name: str = make_topic_on(transactional)(2)
    return name


@pytest.fixture
def produce(transactional: Any, topic: str) -> Iterator[Callable[..., KafkaProducer]]:
    """Make producers that have their id; they are closed at the end."""
    made = []

    def make(**options: Any) -> KafkaProducer:
        given = {"transactional_id": f"id-{topic}", "bootstrap_servers": transactional.bootstrap_servers, **options}
        made.append(KafkaProducer(**given))
        made[-1].init_transactions()
        return made[-1]

    yield make
    for each in made:
        each.close(10)


def read(broker: Any, topic: str, isolation_level: str = "read_committed") -> list[bytes]:
    """All values there are, partition by partition."""
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, isolation_level=isolation_level) as consumer:
        partitions = [TopicPartition(topic, number) for number in (0, 1)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        found: dict[TopicPartition, list[bytes]] = {each: [] for each in partitions}
        deadline = time.monotonic() + PATIENCE_S
        while any(consumer.position(each) < ends[each] for each in partitions):
            assert time.monotonic() < deadline
            for partition, records in consumer.poll(timeout_ms=100).items():
                found[partition] += [record.value for record in records]
    return [value for each in partitions for value in found[each]]


def test_what_is_committed_is_read_and_what_is_aborted_is_not(transactional: Any, topic: str, produce: Any) -> None:
    producer = produce()
    for number in range(4):
        producer.begin_transaction()
        identity = producer.transaction_identity
        futures = [producer.send(topic, b"%d" % number, partition=partition) for partition in (0, 1)]
        for future in futures:
            future.get(PATIENCE_S)
        (producer.abort_transaction if number == 1 else producer.commit_transaction)()
        assert identity.transaction_version == transactional.transaction_version
        assert identity.producer_epoch == (0 if transactional.transaction_version == 1 else number)
    assert read(transactional, topic) == [b"0", b"2", b"3"] * 2
    assert read(transactional, topic, "read_uncommitted") == [b"0", b"1", b"2", b"3"] * 2


def test_what_waits_is_dropped_by_an_abort(transactional: Any, topic: str, produce: Any) -> None:
    producer = produce(linger_ms=60_000)
    producer.begin_transaction()
    future = producer.send(topic, b"never", partition=0)
    producer.abort_transaction()
    with pytest.raises(TransactionAbortedError):
        future.get(0)
    with producer.transaction():
        producer.send(topic, b"next", partition=0)
    assert read(transactional, topic, "read_uncommitted") == [b"next"]


def test_rows_are_sent_in_a_transaction(transactional: Any, topic: str, produce: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.table({"value": pyarrow.array([b"a", b"b"]), "partition": pyarrow.array([0, 1])})
    producer = produce()
    producer.begin_transaction()
    producer.send_arrow(topic, rows).get(PATIENCE_S)
    producer.abort_transaction()
    with producer.transaction():
        producer.send_arrow(topic, rows)
    assert read(transactional, topic) == [b"a", b"b"]


async def test_the_asyncio_producer_has_the_same_transactions(transactional: Any, topic: str) -> None:
    servers = transactional.bootstrap_servers
    async with AsyncKafkaProducer(bootstrap_servers=servers, transactional_id=f"id-{topic}") as producer:
        await producer.init_transactions()
        async with producer.transaction():
            await producer.send(topic, b"a", partition=0)
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"b", partition=0)
        await producer.abort_transaction()
    assert read(transactional, topic) == [b"a"]


def test_offsets_are_committed_with_the_transaction_or_not_at_all(transactional: Any, topic: str, produce: Any) -> None:
    producer = produce()
    place = TopicPartition(topic, 0)

    def committed() -> int | None:
        servers = transactional.bootstrap_servers
        with KafkaConsumer(bootstrap_servers=servers, group_id=f"g-{topic}", enable_auto_commit=False) as consumer:
            consumer.assign([place])
            return consumer.committed(place)

    for offset in (5, 7):
        producer.begin_transaction()
        producer.send(topic, b"%d" % offset, partition=1)
        producer.send_offsets_to_transaction({place: OffsetAndMetadata(offset, "note", -1)}, f"g-{topic}")
        (producer.commit_transaction if offset == 5 else producer.abort_transaction)()
    assert committed() == 5
    assert read(transactional, topic) == [b"5"]


@KIP_447
def test_offsets_of_a_member_that_was_replaced_are_refused(transactional: Any, topic: str, produce: Any) -> None:
    """The coordinator looks at the membership that the consumer tells of (KIP-447)."""
    # committed() waits for transactions that are being ended
    options = {"bootstrap_servers": transactional.bootstrap_servers, "isolation_level": "read_committed"}
    place, group = TopicPartition(topic, 0), f"g-{topic}"

    def join(consumer: KafkaConsumer) -> ConsumerGroupMetadata:
        deadline = time.monotonic() + PATIENCE_S
        while not consumer.assignment():
            assert time.monotonic() < deadline
            consumer.poll(timeout_ms=100)
        return consumer.group_metadata()

    producer = produce()
    with KafkaConsumer(topic, group_id=group, enable_auto_commit=False, **options) as consumer:
        unjoined = consumer.group_metadata()
        assert unjoined == (group, -1, "", None, MemberState.UNJOINED)
        member = join(consumer)
        assert (member.group_id, member.state) == (group, MemberState.STABLE)
        assert member.generation_id >= 1
        assert member.member_id
        with producer.transaction():
            producer.send_offsets_to_transaction({place: OffsetAndMetadata(3, "", -1)}, member)
        assert consumer.committed(place) == 3
    with KafkaConsumer(topic, group_id=group, enable_auto_commit=False, **options) as consumer:
        join(consumer)
        producer.begin_transaction()
        with pytest.raises(TransactionAbortableError) as caught:
            producer.send_offsets_to_transaction({place: OffsetAndMetadata(9, "", -1)}, member)
        assert isinstance(caught.value.__cause__, CommitFailedError)
        producer.abort_transaction()
        assert consumer.committed(place) == 3


def run_the_guide(broker: Any, numbers: str, doubles: str) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    for old, new in (("localhost:9092", broker.bootstrap_servers), ('"numbers"', repr(numbers))):
        example = example.replace(old, new)
    example = example.replace('"doubles"', repr(doubles)).replace("doubler", f"doubler-{numbers}")
    exec(compile(example, "docs/TRANSACTIONS.md", "exec"), {})


@KIP_447
def test_the_example_of_the_guide_runs(transactional: Any, make_topic_on: Any) -> None:
    numbers, doubles = (make_topic_on(transactional)(2) for _ in range(2))
    run_the_guide(transactional, numbers, doubles)
    assert sorted(map(int, read(transactional, doubles))) == [2 * number for number in range(10)]


@pytest.mark.parametrize("refused", ["Produce", "TxnOffsetCommit"])
@pytest.mark.parametrize("version", [1, 2])
def test_the_example_of_the_guide_loses_nothing_where_something_is_refused(
    version: int, refused: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EmbeddedBroker(
        tmp_path, num_partitions=2, transaction_version=version, group_initial_rebalance_delay_ms=0
    ) as broker:
        if refused == "Produce":
            fault = broker.faults.fail(TopicAuthorizationFailedError, api="Produce", topic="doubles", times=1)
        else:
            fault = broker.faults.fail(GroupAuthorizationFailedError, api="TxnOffsetCommit", times=1)
        run_the_guide(broker, "numbers", "doubles")
        assert fault.hits
        assert "aborted, and read again: [Error" in capsys.readouterr().out
        assert sorted(map(int, read(broker, "doubles"))) == [2 * number for number in range(10)]


def test_a_newer_producer_of_the_same_name_fences_the_older(transactional: Any, topic: str, produce: Any) -> None:
    older = produce()
    older.begin_transaction()
    older.send(topic, b"old", partition=0).get(PATIENCE_S)
    newer = produce()
    with pytest.raises(ProducerFencedError):
        older.commit_transaction()
    with pytest.raises(ProducerFencedError):
        older.send(topic, b"x")
    with newer.transaction():
        newer.send(topic, b"new", partition=0)
    assert read(transactional, topic) == [b"new"]


def test_a_transaction_that_takes_too_long_is_aborted(transactional: Any, topic: str, produce: Any) -> None:
    producer = produce(transaction_timeout_ms=2_000)
    producer.begin_transaction()
    producer.send(topic, b"late", partition=0).get(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    with KafkaConsumer(bootstrap_servers=transactional.bootstrap_servers, isolation_level="read_committed") as consumer:
        place = TopicPartition(topic, 0)
        while consumer.end_offsets([place])[place] == 0:  # the last stable offset moves when it is aborted
            assert time.monotonic() < deadline
    if transactional.transaction_version == 1:
        with pytest.raises(ProducerFencedError, match="timed out"):
            producer.commit_transaction()
        return
    with pytest.raises(TransactionAbortableError) as caught:
        producer.commit_transaction()
    assert isinstance(caught.value.__cause__, InvalidTxnStateError)
    producer.abort_transaction()
    with producer.transaction():
        producer.send(topic, b"next", partition=0)
    assert read(transactional, topic) == [b"next"]


@KIP_360
def test_after_a_lost_record_a_new_epoch_is_had(transactional: Any, topic: str, produce: Any) -> None:
    """A broker that refuses a batch whose sequence number is used up then: the next begins an epoch (KIP-360)."""
    producer = produce(max_request_size=4_000_000)  # larger than what the broker takes
    with producer.transaction():
        producer.send(topic, b"first", partition=0)
    producer.begin_transaction()
    epoch = producer.transaction_identity.producer_epoch
    producer.send(topic, b"x" * 2_000_000, partition=0)
    with pytest.raises(TransactionAbortableError):
        producer.commit_transaction()
    producer.abort_transaction()
    with producer.transaction():
        producer.send(topic, b"next", partition=0)
        assert producer.transaction_identity.producer_epoch > epoch
    assert read(transactional, topic) == [b"first", b"next"]


@pytest.mark.parametrize("commit", [True, False])
def test_a_prepared_transaction_is_ended_from_elsewhere(
    transactional: Any, topic: str, produce: Any, commit: bool
) -> None:
    servers = transactional.bootstrap_servers
    producer = produce()
    producer.begin_transaction()
    producer.send(topic, b"a", partition=0)
    identity = producer.prepare_transaction()
    producer.close()
    assert read(transactional, topic) == []
    for _ in range(2):
        assert end_transactions([identity], commit=commit, bootstrap_servers=servers) == {identity: None}
    (error,) = end_transactions([identity], commit=not commit, bootstrap_servers=servers).values()
    assert isinstance(error, InvalidTxnStateError)
    produce()
    (error,) = end_transactions([identity], commit=commit, bootstrap_servers=servers).values()
    assert isinstance(error, ProducerFencedError)
    assert read(transactional, topic) == ([b"a"] if commit else [])


DIES = """
import sys
from kafka import KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], transactional_id=sys.argv[2])
producer.init_transactions()
producer.begin_transaction()
producer.send(sys.argv[3], b"orphan", partition=0).get(60)
print(*producer.transaction_identity, flush=True)
sys.stdin.read()
"""


def test_a_new_process_aborts_what_a_killed_one_left_open(transactional: Any, topic: str, produce: Any) -> None:
    command = [sys.executable, "-c", DIES, transactional.bootstrap_servers, f"id-{topic}", topic]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name, *numbers = process.stdout.readline().split()
        process.send_signal(signal.SIGKILL)
    orphan = TransactionIdentity(name, *map(int, numbers))
    producer = produce()
    with producer.transaction():
        producer.send(topic, b"next", partition=0)
    assert read(transactional, topic) == [b"next"]
    assert read(transactional, topic, "read_uncommitted") == [b"orphan", b"next"]
    (error,) = end_transactions([orphan], commit=True, bootstrap_servers=transactional.bootstrap_servers).values()
    assert isinstance(error, ProducerFencedError)


def read_at_last(transactional: Any, topic: str, expected: list[bytes]) -> None:
    """Wait until a topic has these values: a coordinator that has just started may write markers after its answer."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := read(transactional, topic)) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found == expected


def test_a_broker_that_is_killed_in_the_middle_of_a_transaction(transactional: Any, topic: str, produce: Any) -> None:
    producer = produce(transaction_timeout_ms=120_000)
    producer.begin_transaction()
    producer.send(topic, b"before", partition=0).get(PATIENCE_S)
    transactional.kill()
    transactional.restart()
    producer.send(topic, b"after", partition=1)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            producer.commit_transaction()
            break
        except KafkaTimeoutError:
            assert time.monotonic() < deadline
    read_at_last(transactional, topic, [b"before", b"after"])
    with producer.transaction():
        producer.send(topic, b"next", partition=0)
    read_at_last(transactional, topic, [b"before", b"next", b"after"])


def test_a_timeout_that_the_broker_does_not_allow_is_refused(transactional: Any, topic: str, produce: Any) -> None:
    with pytest.raises(KafkaError, match=r"transaction\.max\.timeout\.ms"):
        produce(transaction_timeout_ms=3_600_000)
