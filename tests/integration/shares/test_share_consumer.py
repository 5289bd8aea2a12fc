"""The share consumers against the embedded broker and Apache Kafka."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from integration.consumer_support import produce, read
from kafka import (
    AcknowledgeType,
    AsyncKafkaShareConsumer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    KafkaShareConsumer,
    TopicPartition,
)
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    InvalidRecordStateError,
    NoError,
    RecordDeserializationError,
    WakeupError,
)
from kafka.formats.registry.errors import SchemaRegistryConnectionError
from kafka.record import ConsumerRecord

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)")
PATIENCE_S = 60.0
LOCK_MS = 3000
"""How long a record is locked that is renewed in time, on a busy machine too."""
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "SHARE_GROUPS.md"
Open = Callable[..., KafkaShareConsumer]


class Group:
    """A share group of the test's own that reads its topic from the beginning."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self.servers, self.topic, self.id = broker.bootstrap_servers, topic, f"share-{uuid.uuid4()}"
        self.tp = TopicPartition(topic, 0)
        self._configs = {"share_auto_offset_reset": "earliest"}
        self.configure()

    def configure(self, **configs: Any) -> None:
        self._configs.update(configs)
        rows = {name.replace("_", "."): str(value) for name, value in self._configs.items()}
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=self.servers)) as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, self.id, rows)])

    def open(self, **options: Any) -> KafkaShareConsumer:
        options = {"fetch_max_wait_ms": 100, **options}
        return KafkaShareConsumer(self.topic, bootstrap_servers=self.servers, group_id=self.id, **options)

    def open_async(self, **options: Any) -> AsyncKafkaShareConsumer:
        return AsyncKafkaShareConsumer(self.topic, bootstrap_servers=self.servers, group_id=self.id, **options)

    def fill(self, count: int, start: int = 0, **options: Any) -> None:
        produce(self.servers, self.topic, 0, [b"%d" % number for number in range(start, start + count)], **options)


@pytest.fixture
def group(broker: Broker, make_topic: MakeTopic) -> Group:
    return Group(broker, make_topic())


def some(consumer: KafkaShareConsumer, patience_s: float = PATIENCE_S) -> list[ConsumerRecord]:
    """What the first poll that has records gives."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        records = list(consumer.poll(500))
        if records:
            return records
    raise AssertionError(f"no record within {patience_s} s")


def nothing(consumer: KafkaShareConsumer) -> bool:
    return not consumer.poll(350)


# -- one consumer -----------------------------------------------------------------------------------------------------


def test_implicitly_accepted_records_come_once(group: Group) -> None:
    group.fill(10)
    with group.open() as consumer:
        records = some(consumer)
        assert [record.value for record in records] == [b"%d" % number for number in range(10)]
        assert {record.delivery_count for record in records} == {1}
        assert (records[3].key, records[3].headers, records[3].offset) == (b"k3", [("n", b"3")], 3)
        assert nothing(consumer)
        group.fill(1, 10)
        assert [record.value for record in some(consumer)] == [b"10"]
        assert consumer.commit() == {group.tp: None}
        assert consumer.commit() == {}
        assert consumer.acquisition_lock_timeout_ms() == 30_000
    with group.open() as consumer:
        assert nothing(consumer)


def test_what_was_not_acknowledged_comes_again_after_closing(group: Group) -> None:
    group.fill(4)
    with group.open(share_acknowledgement_mode="explicit") as consumer:
        records = some(consumer)
        consumer.acknowledge(records[0])
        consumer.acknowledge(group.topic, 0, 1, AcknowledgeType.REJECT)
    with group.open() as consumer:
        assert [(record.offset, record.delivery_count) for record in some(consumer)] == [(2, 2), (3, 2)]


def test_explicit_acknowledgements(group: Group) -> None:
    group.fill(4)
    with group.open(share_acknowledgement_mode="explicit") as consumer:
        records = some(consumer)
        for record, kind in zip(records, (1, AcknowledgeType.RELEASE, AcknowledgeType.REJECT, 2), strict=True):
            consumer.acknowledge(record, kind)
        again = some(consumer)
        assert [(record.offset, record.delivery_count) for record in again] == [(1, 2), (3, 2)]
        consumer.acknowledge(again[0])
        with pytest.raises(IllegalStateError, match="not acknowledged"):
            consumer.poll(100)
        consumer.acknowledge(again[0], AcknowledgeType.RELEASE)  # a second thought
        consumer.acknowledge(again[1])
        assert consumer.commit() == {group.tp: None}
        with pytest.raises(IllegalStateError, match="cannot be acknowledged"):
            consumer.acknowledge(again[1])
        with pytest.raises(IllegalArgumentError, match="one of"):
            consumer.acknowledge(again[1], 7)
        assert [(record.offset, record.delivery_count) for record in some(consumer)] == [(1, 3)]
        with pytest.raises(IllegalStateError, match="cannot be acknowledged"):
            consumer.acknowledge(group.topic, 0, 77)


def test_calls_that_do_not_fit(group: Group) -> None:
    with group.open() as consumer:
        with pytest.raises(IllegalStateError, match="explicit"):
            consumer.acknowledge(group.topic, 0, 0)
        assert consumer.subscription() == {group.topic}
        consumer.unsubscribe()
        assert consumer.subscription() == set()
        with pytest.raises(IllegalStateError, match="not subscribed"):
            consumer.poll(0)
        consumer.subscribe([group.topic])
        group.fill(1)
        assert [record.offset for record in some(consumer)] == [0]
    with pytest.raises(IllegalStateError, match="closed"):
        consumer.poll(0)
    consumer.close()


def test_a_renewed_record_is_given_again_and_kept(group: Group) -> None:
    group.configure(share_record_lock_duration_ms=LOCK_MS)
    group.fill(2)
    with group.open(share_acknowledgement_mode="explicit") as consumer, group.open() as other:
        records = some(consumer)
        assert consumer.acquisition_lock_timeout_ms() == LOCK_MS
        consumer.acknowledge(records[1])
        begun = time.monotonic()
        kept = records[:1]
        while time.monotonic() - begun < LOCK_MS / 1000 * 1.2:  # longer than the lock lasts
            consumer.acknowledge(kept[0], AcknowledgeType.RENEW)
            kept = some(consumer)
            assert [(record.offset, record.delivery_count) for record in kept] == [(0, 1)]
            assert not other.poll(100)
        consumer.acknowledge(kept[0])
        assert consumer.commit() == {group.tp: None}
        assert nothing(other)


def test_a_lock_that_has_run_out_fails_the_commit(group: Group) -> None:
    group.configure(share_record_lock_duration_ms=1000)
    group.fill(1)
    with group.open(share_acknowledgement_mode="explicit") as consumer, group.open() as other:
        [record] = some(consumer)
        group.configure(share_record_lock_duration_ms=30_000)  # of the next one, so that it outlives this test
        [again] = some(other)
        assert (again.offset, again.delivery_count) == (0, 2)
        consumer.acknowledge(record)
        outcome = consumer.commit()
        assert isinstance(outcome[group.tp], InvalidRecordStateError)
        assert other.commit() == {group.tp: None}


def test_the_callback_hears_what_became_of_acknowledgements(group: Group) -> None:
    group.fill(3)
    heard: list[tuple[dict[TopicPartition, set[int]], Exception | None]] = []
    with group.open() as consumer:

        def callback(offsets: dict[TopicPartition, set[int]], error: Exception | None) -> None:
            heard.append((offsets, error))
            with pytest.raises(IllegalStateError, match=r"during another of its calls|closed"):
                consumer.poll(0)

        consumer.set_acknowledgement_commit_callback(callback)
        some(consumer)
        consumer.commit_async()
        deadline = time.monotonic() + PATIENCE_S
        while not heard:  # the callback runs in a poll, once the answer is there
            assert nothing(consumer)
            assert time.monotonic() < deadline
        assert heard == [({group.tp: {0, 1, 2}}, None)]
        group.fill(1, 3)
        some(consumer)
        consumer.commit_async()
    assert heard[1:] == [({group.tp: {3}}, None)]


def test_a_record_that_cannot_be_deserialized_is_released_and_given_up_in_the_end(group: Group) -> None:
    group.configure(share_delivery_count_limit=2)
    produce(group.servers, group.topic, 0, [b"1", b"x", b"3"])
    got: list[Any] = []
    failures = []
    with group.open(value_deserializer=lambda value: int(value)) as consumer:
        deadline = time.monotonic() + PATIENCE_S
        while len(failures) < 2 or len(got) < 2:
            assert time.monotonic() < deadline
            try:
                got += [record.value for record in consumer.poll(500)]
            except RecordDeserializationError as error:
                failures.append((error.topic_partition, error.offset, isinstance(error, ValueError)))
        assert (got, failures) == ([1, 3], [(group.tp, 1, True)] * 2)
        assert nothing(consumer)


@pytest.mark.parametrize("takes", ["poll", "iteration"])
def test_no_record_is_released_or_given_up_while_a_schema_registry_is_down(takes: str, group: Group) -> None:
    group.configure(share_delivery_count_limit=2)
    produce(group.servers, group.topic, 0, [b"0", b"1", b"2"])
    known = {b"0"}
    asked = []

    def of_registry(value: bytes) -> int:
        if value not in known:
            asked.append(value)
            raise SchemaRegistryConnectionError(0, -1, "no answer")
        return int(value)

    def take() -> list[Any]:
        return [next(consumer)] if takes == "iteration" else [*consumer.poll(500)]

    with group.open(value_deserializer=of_registry, consumer_timeout_ms=20_000) as consumer:
        got: list[Any] = []
        failures: list[Exception] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(asked) < 5:
            assert time.monotonic() < deadline
            try:
                got += take()
            except SchemaRegistryConnectionError as error:
                failures.append(error)
        assert not any(isinstance(each, RecordDeserializationError) for each in failures)
        assert all("The record at offset 1 of partition 0" in each.__notes__[0] for each in failures)
        known |= {b"1", b"2"}
        while len(got) < 3:
            assert time.monotonic() < deadline
            got += take()
        assert [(record.offset, record.value) for record in got] == [(0, 0), (1, 1), (2, 2)]
        assert [record.delivery_count for record in got] == [1, 1, 1]


def test_a_program_decides_about_a_record_that_cannot_be_deserialized(group: Group) -> None:
    group.fill(1)

    def fails(value: bytes) -> None:
        raise LookupError("no schema")

    with group.open(value_deserializer=fails, share_acknowledgement_mode="explicit") as consumer:
        with pytest.raises(RecordDeserializationError, match="REJECT"):
            some(consumer)
        consumer.acknowledge(group.topic, 0, 0, AcknowledgeType.REJECT)
        assert nothing(consumer)


def test_iteration_gives_one_by_one_and_accepts_what_it_gave(group: Group) -> None:
    group.fill(6)
    with group.open(consumer_timeout_ms=60_000) as consumer:
        seen = []
        for record in consumer:
            seen.append(record.offset)
            if len(seen) == 2:
                break
        assert consumer.commit() == {group.tp: None}
        seen += [record.offset for record in some(consumer)]
        assert seen == [0, 1, 2, 3, 4, 5]
        seen.clear()
        group.fill(2, 6)
        seen.append(next(consumer).offset)
        assert consumer.commit() == {group.tp: None}
    with group.open() as consumer:
        assert (seen, [record.offset for record in some(consumer)]) == ([6], [7])


def test_iteration_ends_where_no_record_comes(group: Group) -> None:
    group.fill(2)
    with group.open(consumer_timeout_ms=500) as consumer:
        seen: list[int] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(seen) < 2:  # it may end before the broker has given it anything
            seen += [record.offset for record in consumer]
            assert time.monotonic() < deadline
        assert seen == [0, 1]
        assert list(consumer) == []


def test_poll_arrow(group: Group) -> None:
    pytest.importorskip("pyarrow")
    group.fill(5, **{"compression.type": "zstd"})
    with group.open(share_acknowledgement_mode="explicit") as consumer:
        deadline = time.monotonic() + PATIENCE_S
        while not (batch := consumer.poll_arrow(500)).num_rows:
            assert time.monotonic() < deadline
        assert batch.schema.names[-1] == "delivery_count"
        rows = batch.select(["topic", "partition", "offset", "value", "delivery_count"]).to_pylist()
        assert [tuple(row.values()) for row in rows] == [(group.topic, 0, n, b"%d" % n, 1) for n in range(5)]
        for offset in range(5):
            consumer.acknowledge(
                group.topic, 0, offset, AcknowledgeType.RELEASE if offset == 2 else AcknowledgeType.ACCEPT
            )
        while not (batch := consumer.poll_arrow(500)).num_rows:
            assert time.monotonic() < deadline
        assert batch.select(["offset", "delivery_count"]).to_pylist() == [{"offset": 2, "delivery_count": 2}]
        consumer.acknowledge(group.topic, 0, 2)
        empty = consumer.poll_arrow(300)
        assert (empty.num_rows, empty.schema) == (0, batch.schema)


def test_record_limit(group: Group) -> None:
    group.fill(10)
    with group.open(share_acquire_mode="record_limit", max_poll_records=4) as consumer:
        assert [[record.offset for record in some(consumer)] for _ in range(3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_markers_of_transactions_hold_nothing_up(group: Group, broker: Broker) -> None:
    with KafkaProducer(bootstrap_servers=group.servers, transactional_id=f"t-{uuid.uuid4()}") as producer:
        producer.init_transactions()
        for commits in (True, False):
            producer.begin_transaction()
            producer.send(group.topic, b"kept" if commits else b"aborted", partition=0)
            producer.flush()
            producer.commit_transaction() if commits else producer.abort_transaction()
    group.configure(share_isolation_level="read_committed")
    with group.open() as consumer:
        assert [record.value for record in some(consumer)] == [b"kept"]
        assert nothing(consumer)
        group.fill(1)
        assert [record.offset for record in some(consumer)] == [4]


def test_a_group_begins_at_the_end_unless_it_is_told_otherwise(broker: Broker, make_topic: MakeTopic) -> None:
    group = Group(broker, make_topic())
    group.id += "-latest"  # has no configs
    group.fill(3)
    with group.open() as consumer:
        deadline = time.monotonic() + PATIENCE_S
        while not consumer.metrics()["consumer-share-fetch-manager-metrics"]["fetch-total"]:
            assert not consumer.poll(200)
            assert time.monotonic() < deadline
        group.fill(1, 3)
        assert [record.offset for record in some(consumer)] == [3]


# -- several ----------------------------------------------------------------------------------------------------------


def test_several_consumers_share_one_partition_and_each_record_is_accepted_once(group: Group) -> None:
    total = 3000
    group.fill(total, **{"batch.num.messages": 50})
    counts: Counter[int] = Counter()
    by_consumer: Counter[int] = Counter()
    failures: list[object] = []
    lock, done, shared = threading.Lock(), threading.Event(), threading.Event()

    def work(number: int) -> None:
        with group.open(max_poll_records=100) as consumer:
            consumer.set_acknowledgement_commit_callback(
                lambda offsets, error: failures.append(error) if error else None
            )
            while not done.is_set():
                offsets = [record.offset for record in consumer.poll(200)]
                with lock:
                    by_consumer[number] += len(offsets)
                    if sum(count > 0 for count in by_consumer.values()) > 1:
                        shared.set()
                if offsets:  # the first one waits for a second one, as it may have joined long before the others
                    shared.wait(PATIENCE_S)
                failures.extend(error for error in consumer.commit().values() if error)
                with lock:
                    counts.update(offsets)
                    if len(counts) == total:
                        done.set()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    assert done.wait(2 * PATIENCE_S)
    for thread in threads:
        thread.join()
    assert not failures
    assert set(counts.values()) == {1}
    assert shared.is_set(), by_consumer


def test_what_a_consumer_had_that_died_is_delivered_to_others(group: Group) -> None:
    group.configure(share_record_lock_duration_ms=1000)
    group.fill(3)
    dead = group.open(share_acknowledgement_mode="explicit")
    assert len(some(dead)) == 3

    async def lose() -> None:
        await dead._core.client.close()  # as its machine would: nothing is said to anybody

    dead._runner.run(lose())
    with group.open() as consumer:
        assert [(record.offset, record.delivery_count) for record in some(consumer)] == [(n, 2) for n in range(3)]
    dead.close(timeout_ms=1000)


# -- asyncio ----------------------------------------------------------------------------------------------------------


async def test_the_asyncio_consumer(group: Group) -> None:
    group.fill(4)
    heard: list[set[int]] = []

    async def callback(offsets: dict[TopicPartition, set[int]], error: Exception | None) -> None:
        assert error is None
        heard.append(offsets[group.tp])

    async with group.open_async(share_acknowledgement_mode="explicit") as consumer:
        consumer.set_acknowledgement_commit_callback(callback)
        records: list[ConsumerRecord] = []
        async with asyncio.timeout(PATIENCE_S):
            while not records:
                records = list(await consumer.poll(500))
        for record in records:
            consumer.acknowledge(record)
        assert await consumer.commit() == {group.tp: None}
        assert heard == [{0, 1, 2, 3}]
        group.fill(1, 4)
        async for record in consumer:
            consumer.acknowledge(record)
            break
        assert await consumer.commit_sync() == {group.tp: None}
        assert not await consumer.poll(300)


async def test_a_poll_that_is_cancelled_loses_nothing(group: Group) -> None:
    total = 200
    seen: Counter[int] = Counter()
    async with group.open_async(max_poll_records=10, share_acquire_mode="record_limit") as consumer:
        await asyncio.to_thread(group.fill, total)
        delay = 0.0
        async with asyncio.timeout(PATIENCE_S):
            while len(seen) < total:
                polling = asyncio.ensure_future(consumer.poll(500))
                delay = (delay + 0.0007) % 0.02
                _ = await asyncio.wait({polling}, timeout=delay)
                polling.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    seen.update(record.offset for record in await polling)
        await consumer.commit()
    assert set(seen.values()) == {1}


async def test_only_one_task_at_a_time(group: Group) -> None:
    async with group.open_async() as consumer:
        polling = asyncio.ensure_future(consumer.poll(5000))
        await asyncio.sleep(0)
        with pytest.raises(IllegalStateError, match="during another of its calls"):
            await consumer.poll(0)
        consumer.wakeup()
        with pytest.raises(WakeupError):
            await polling


def test_a_wakeup_ends_one_poll_or_iteration_and_takes_nothing(group: Group) -> None:
    group.fill(3)
    with group.open(share_acknowledgement_mode="explicit") as consumer:
        consumer.wakeup()
        with pytest.raises(WakeupError):
            consumer.poll(5000)
        consumer.wakeup()
        with pytest.raises(WakeupError):
            next(consumer)
        records = some(consumer)
        assert [(record.offset, record.delivery_count) for record in records] == [(0, 1), (1, 1), (2, 1)]
        for record in records:
            consumer.acknowledge(record)
        consumer.wakeup()
        with pytest.raises(WakeupError):
            consumer.poll(5000)
        assert nothing(consumer)


# -- administration ---------------------------------------------------------------------------------------------------


def test_administrators_see_a_group_and_move_it(group: Group) -> None:
    group.fill(5)
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=group.servers)) as admin:
        with group.open(share_acknowledgement_mode="explicit") as consumer:
            records = some(consumer)
            for record in records[:2]:
                consumer.acknowledge(record)
            assert consumer.commit() == {group.tp: None}
            assert group.id in [each["group_id"] for each in admin.list_groups(types_filter=["share"])]
            told = admin.describe_share_groups([group.id])[group.id]
            assert (told["group_state"], told["error"]) == ("Stable", None)
            assert told["members"][0]["subscribed_topic_names"] == [group.topic]
            place = admin.list_share_group_offsets({group.id: [group.tp]})[group.id][group.tp]
            assert (place.start_offset <= 2, place.lag) == (True, 3)  # Apache Kafka writes the start down later
        assert admin.alter_share_group_offsets(group.id, {group.tp: 4}) == {group.tp: NoError}
        with group.open() as consumer:
            assert [record.offset for record in some(consumer)] == [4]
            assert consumer.commit() == {group.tp: None}
        assert admin.delete_share_group_offsets(group.id, [group.topic]) == {group.topic: NoError}
        with group.open() as consumer:
            assert [record.offset for record in some(consumer)] == [0, 1, 2, 3, 4], "as a new one"
        assert admin.delete_groups([group.id]) == {group.id: "OK"}
        assert group.id not in [each["group_id"] for each in admin.list_groups(types_filter=["share"])]


# -- dead letters -----------------------------------------------------------------------------------------------------


@pytest.mark.apache
def test_a_rejected_record_is_in_the_dead_letter_topic_of_kafka_4_4(tmp_path: pathlib.Path) -> None:
    """KIP-1191: the broker does it, as the group's and the topic's configs say; here they can be set, and read."""
    from conftest import missing
    from harness.apache import ApacheKafka
    from harness.fetch import FetchError
    from harness.topics import create_topic

    try:
        kafka = ApacheKafka(tmp_path, version="4.4.0")
    except FetchError as error:
        missing(f"Apache Kafka 4.4.0 is not to be had: {error}")
        raise
    with kafka:
        create_topic(kafka.bootstrap_servers, "jobs", 1, {})
        create_topic(kafka.bootstrap_servers, "dlq.jobs", 1, {"errors.deadletterqueue.group.enable": "true"})
        group = Group(kafka, "jobs")
        rows = {"errors.deadletterqueue.topic.name": "dlq.jobs", "errors.deadletterqueue.copy.record.enable": "true"}
        group.configure(**rows)
        group.fill(2)
        with group.open(share_acknowledgement_mode="explicit") as consumer:
            accepted, rejected = some(consumer)
            consumer.acknowledge(accepted)
            consumer.acknowledge(rejected, AcknowledgeType.REJECT)
            assert consumer.commit() == {group.tp: None}
        with KafkaConsumer(
            "dlq.jobs", bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            [letter] = read(consumer, 1)
    headers = dict(letter.headers)
    assert letter.value == b"1"
    assert (headers["__dlq.errors.topic"], headers["__dlq.errors.offset"]) == (b"jobs", b"1")
    assert headers["__dlq.errors.group"] == group.id.encode()


# -- the guide --------------------------------------------------------------------------------------------------------


def test_the_programs_of_the_guide_run_each_by_itself(broker: Broker) -> None:
    pytest.importorskip("pyarrow")
    mark = uuid.uuid4().hex
    programs = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) == 3
    names: dict[str, Any] = {}
    for program in reversed(programs):
        program = program.replace("localhost:9092", broker.bootstrap_servers)
        for name in ("parcels", "packers", "forms", "clerks", "rows", "columns"):
            program = program.replace(f'"{name}"', f'"{name}-{mark}"')
        own: dict[str, Any] = {}
        exec(compile(program, str(GUIDE), "exec"), own)
        names |= own
    assert names["done"] == [b"%d" % number for number in range(10)]
    assert names["outcomes"] == {number: "REJECT" if number == 3 else "ACCEPT" for number in range(10)}
    assert names["total"] == 10
