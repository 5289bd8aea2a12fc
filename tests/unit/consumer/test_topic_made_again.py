"""A topic that is deleted and made again, as docs/ADMIN.md tells, by `KafkaConsumer` and `AsyncKafkaConsumer` alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.errors import TopicAlreadyExistsError, TopicRecreatedError
from unit.consumer.consumer_setup import ConsumerSetup

WAYS = ("classic", "consumer", "assign", "no group", "pattern")
QUICK = {"metadata_max_age_ms": 100, "allow_auto_create_topics": False}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """Its groups hear of a topic that was created again at once."""
    settings = {"group_initial_rebalance_delay_ms": 0, "consumer_heartbeat_interval_ms": 50}
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), **settings) as broker:
        yield broker


@pytest.fixture
def admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as client:
        yield client


async def test_a_deleted_topic_is_recreated_by_an_auto_creating_subscriber(
    setup: ConsumerSetup, admin: KafkaAdminClient
) -> None:
    consumer = await setup.face.open(setup.topic, enable_auto_commit=False, metadata_max_age_ms=100)
    await consumer.read(20)
    admin.delete_topics([setup.topic])
    await consumer.poll_until(lambda: setup.topic in admin.list_topics())
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics({setup.topic: {"num_partitions": 2}})


async def test_it_does_not_if_the_option_forbids_it(setup: ConsumerSetup, admin: KafkaAdminClient) -> None:
    consumer = await setup.face.open(
        setup.topic, enable_auto_commit=False, metadata_max_age_ms=100, allow_auto_create_topics=False
    )
    await consumer.read(20)
    admin.delete_topics([setup.topic])
    for _ in range(3):
        await consumer.poll(200)
    admin.create_topics({setup.topic: {"num_partitions": 2}})


async def test_a_group_that_was_stopped_reads_the_new_topic_from_its_beginning(
    setup: ConsumerSetup, admin: KafkaAdminClient, broker: EmbeddedBroker
) -> None:
    consumer = await setup.face.open(setup.topic)
    await consumer.read(20)
    await consumer.close()
    assert offsets_of_the_group(setup, admin) == {10}
    admin.delete_topics([setup.topic])
    admin.create_topics({setup.topic: {"num_partitions": 2}}, wait_for_metadata=True)
    assert offsets_of_the_group(setup, admin) == set()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(24):
            producer.send(setup.topic, b"new %d" % number, partition=number % 2)
    other = await setup.face.another().open(setup.topic)
    assert {record.value for record in await other.read(24)} == {b"new %d" % number for number in range(24)}


def offsets_of_the_group(setup: ConsumerSetup, admin: KafkaAdminClient) -> set[int]:
    """The offsets that the setup's group has committed."""
    return {each.offset for each in admin.list_consumer_group_offsets(f"g-{setup.topic}").values()}


# A consumer that runs on ----------------------------------------------------------------------------------------------


async def open_in_a_way(setup: ConsumerSetup, way: str, **options: Any) -> Any:
    """Have the setup's consumer read the topic in one of the ways in which partitions come to a consumer."""
    options = {**QUICK, **options}
    if way == "consumer":
        return await setup.face.open(setup.topic, group_protocol="consumer", heartbeat_interval_ms=3_000, **options)
    if way == "classic":
        return await setup.face.open(setup.topic, **options)
    consumer = await setup.face.open(**{**options, "group_id": None} if way != "assign" else options)
    if way == "assign":
        await consumer.assign([setup.first, setup.second])
    else:
        await consumer.subscribe(**{"pattern": f"^{setup.topic}$"} if way == "pattern" else {"topics": [setup.topic]})
    return consumer


def create_again(setup: ConsumerSetup, admin: KafkaAdminClient, partitions: int) -> None:
    admin.delete_topics([setup.topic])
    admin.create_topics({setup.topic: {"num_partitions": partitions}}, wait_for_metadata=True)


def write(setup: ConsumerSetup, text: str, partitions: int, count: int = 24) -> set[bytes]:
    """Write records to the partitions in turn; returns their values."""
    values = [b"%s %d" % (text.encode(), number) for number in range(count)]
    with KafkaProducer(bootstrap_servers=setup.servers) as producer:
        for number, value in enumerate(values):
            producer.send(setup.topic, value, partition=number % partitions)
    return set(values)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
async def test_a_consumer_that_runs_on_reads_each_record_of_the_new_topic_once(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str
) -> None:
    consumer = await open_in_a_way(setup, way, auto_offset_reset="earliest")
    await consumer.read(20)
    for text, partitions in ("equal", 2), ("more", 3), ("fewer", 1):
        if way == "assign" and text == "fewer":
            await consumer.assign([setup.first])
        create_again(setup, admin, partitions)
        written = write(setup, text, 2 if way == "assign" and text == "more" else partitions)
        records = await consumer.read(24)
        assert {record.value for record in records} == written
        assert len(records) == 24
    if way in ("classic", "consumer", "assign"):
        await consumer.commit()
        assert offsets_of_the_group(setup, admin) == {24}


@pytest.mark.parametrize("way", ["classic", "assign", "no group"])
async def test_stale_metadata_of_a_deleted_topic_do_not_restart_the_new_one(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str
) -> None:
    consumer = await open_in_a_way(setup, way)
    await consumer.read(20)
    core = consumer.consumer._core
    before = core.client.metadata
    create_again(setup, admin, 2)
    written = write(setup, "new", 2)
    assert {record.value for record in await consumer.read(24)} == written
    for _ in range(5):
        core._runner.submit(core.client._updater._set, before)
        await consumer.poll(20)
    await consumer.poll_until(lambda: core.client.metadata.topic_id(setup.topic) != before.topic_id(setup.topic))
    later = write(setup, "later", 2)
    assert {record.value for record in await consumer.read(24)} == later


async def test_a_partition_that_was_assigned_by_hand_and_is_gone_is_waited_for(
    setup: ConsumerSetup, admin: KafkaAdminClient, caplog: pytest.LogCaptureFixture
) -> None:
    consumer = await open_in_a_way(setup, "assign", auto_offset_reset="earliest")
    await consumer.read(20)
    create_again(setup, admin, 1)
    written = write(setup, "new", 1)
    records = await consumer.read(24)
    assert {record.value for record in records} == written
    text = f"topic '{setup.topic}' has 1 partition, and none with the number 1; waiting for it"
    await consumer.poll_until(lambda: text in [each.getMessage() for each in caplog.records])
    assert consumer.consumer.assignment() == {setup.first, setup.second}
    admin.create_partitions({setup.topic: 2})
    admin.wait_for_topics([setup.topic])
    with KafkaProducer(bootstrap_servers=setup.servers) as producer:
        producer.send(setup.topic, b"there again", partition=1)
    assert [record.value for record in await consumer.read(1)] == [b"there again"]


class Heard(ConsumerRebalanceListener):
    """What a listener hears: the partitions that the consumer has, after each call."""

    def __init__(self) -> None:
        self.owned: set[TopicPartition] = set()
        self.history: list[set[int]] = []

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._now(self.owned - set(revoked))

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._now(self.owned | set(assigned))

    def _now(self, owned: set[TopicPartition]) -> None:
        self.owned = owned
        self.history.append({each.partition for each in owned})


@pytest.mark.slow
@pytest.mark.parametrize("way", ["classic", "consumer", "no group", "pattern"])
async def test_listeners_hear_of_partitions_that_are_gone_and_that_came(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str
) -> None:
    heard = Heard()
    group = {"group_id": None} if way in ("no group", "pattern") else {}
    if way == "consumer":
        group = {"group_protocol": "consumer", "heartbeat_interval_ms": 3_000}  # type: ignore[dict-item]
    consumer = await setup.face.open(**{**QUICK, **group}, auto_offset_reset="earliest")
    chosen: dict[str, Any] = {"pattern": f"^{setup.topic}$"} if way == "pattern" else {"topics": [setup.topic]}
    await consumer.subscribe(**chosen, listener=heard)
    await consumer.read(20)
    assert heard.history[-1] == {0, 1}
    for partitions in (1, 3):
        create_again(setup, admin, partitions)
        write(setup, "new", partitions)
        await consumer.read(24)
        assert heard.history[-1] == set(range(partitions))


@pytest.mark.parametrize("way", ["classic", "consumer", "no group"])
async def test_records_written_before_the_consumer_noticed_are_read_with_latest_too(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str
) -> None:
    consumer = await open_in_a_way(setup, way, auto_offset_reset="latest")
    await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)
    await position_of(consumer, setup.first), await position_of(consumer, setup.second)
    create_again(setup, admin, 1)
    written = write(setup, "new", 1)
    assert {record.value for record in await consumer.read(24)} == written


@pytest.mark.parametrize("is_another", [False, True])
async def test_new_partitions_are_not_skipped_by_a_rebalance_before_the_first_commit(
    setup: ConsumerSetup, admin: KafkaAdminClient, is_another: bool
) -> None:
    consumer = await open_in_a_way(
        setup,
        "classic",
        auto_offset_reset="latest",
        auto_offset_reset_new_partitions="earliest",
        enable_auto_commit=False,
    )
    await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)
    await position_of(consumer, setup.first), await position_of(consumer, setup.second)
    if is_another:
        create_again(setup, admin, 3)
    else:
        admin.create_partitions({setup.topic: 3})
    for number in range(3):
        written = {b"%d %d" % (number, index) for index in range(10)}
        with KafkaProducer(bootstrap_servers=setup.servers) as producer:
            for value in sorted(written):
                producer.send(setup.topic, value, partition=2)
        assert {record.value for record in await consumer.read(10)} == written
        consumer.consumer.enforce_rebalance()


async def position_of(consumer: Any, tp: TopicPartition) -> int:
    return int(await consumer.position(tp))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["classic", "consumer", "assign"])
@pytest.mark.parametrize("ending", ["close", "commit", "commit_async", "interval"])
async def test_a_position_in_the_deleted_topic_is_not_committed_for_the_new_one(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str, ending: str
) -> None:
    options = {"auto_commit_interval_ms": 50} if ending == "interval" else {}
    if ending.startswith("commit"):
        options["enable_auto_commit"] = False
    consumer = await open_in_a_way(setup, way, **options)
    await consumer.read(20)
    await consumer.commit()
    create_again(setup, admin, 2)
    if ending == "close":
        await consumer.close()
    elif ending == "commit":
        await consumer.commit()
    elif ending == "commit_async":
        (await consumer.commit_async()).add_both(lambda *_: None)
    else:
        for _ in range(3):
            await consumer.poll(50)
    assert offsets_of_the_group(setup, admin) <= {0}  # 0 is its place in the new one
    await consumer.close()
    written = write(setup, "new", 2)
    other = await setup.face.another().open(setup.topic, **QUICK)
    assert {record.value for record in await other.read(24)} == written


@pytest.mark.parametrize("way", ["classic", "consumer", "assign", "no group"])
async def test_raise_tells_of_it_once_and_then_the_new_topic_is_read(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str
) -> None:
    consumer = await open_in_a_way(setup, way, on_topic_recreated="raise")
    await consumer.read(20)
    create_again(setup, admin, 2)
    written = write(setup, "new", 2)
    with pytest.raises(TopicRecreatedError, match="deleted and recreated while it was read") as raised:
        await consumer.read(1)
    assert raised.value.topics == {setup.topic}
    assert {record.value for record in await consumer.read(24)} == written


async def test_continue_keeps_the_offsets_that_the_new_topic_has(
    setup: ConsumerSetup, admin: KafkaAdminClient, caplog: pytest.LogCaptureFixture
) -> None:
    consumer = await open_in_a_way(setup, "assign", on_topic_recreated="continue")
    await consumer.read(20)
    await consumer.pause(setup.first, setup.second)  # the new topic is not asked before it has records
    create_again(setup, admin, 2)
    write(setup, "new", 1, 30)
    await consumer.resume(setup.first, setup.second)
    records = await consumer.read(20)
    assert [record.offset for record in records if record.partition == 0] == list(range(10, 30))
    assert "was deleted and recreated: reading continues at the same offsets" in caplog.text
    await consumer.commit()
    assert offsets_of_the_group(setup, admin) >= {30}


# Partitions and topics that come while a consumer runs ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("way", ["classic", "consumer", "no group", "pattern"])
async def test_new_partitions_are_read_from_the_beginning_if_configured(
    setup: ConsumerSetup, admin: KafkaAdminClient, way: str
) -> None:
    consumer = await open_in_a_way(
        setup, way, auto_offset_reset="latest", auto_offset_reset_new_partitions="earliest", enable_auto_commit=False
    )
    await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)
    await position_of(consumer, setup.first), await position_of(consumer, setup.second)
    admin.create_partitions({setup.topic: 3})
    admin.wait_for_topics([setup.topic])
    with KafkaProducer(bootstrap_servers=setup.servers) as producer:
        for number in range(5):
            producer.send(setup.topic, b"%d" % number, partition=2)
    assert {(record.partition, record.offset) for record in await consumer.read(5)} == {(2, n) for n in range(5)}


async def test_without_the_option_the_policy_holds_for_new_partitions_too(
    setup: ConsumerSetup, admin: KafkaAdminClient
) -> None:
    consumer = await open_in_a_way(setup, "no group", auto_offset_reset="latest")
    await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)
    admin.create_partitions({setup.topic: 3})
    with KafkaProducer(bootstrap_servers=setup.servers) as producer:
        producer.send(setup.topic, b"before it was noticed", partition=2).get(30)
    await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 3)
    assert await position_of(consumer, TopicPartition(setup.topic, 2)) == 1


async def test_a_topic_that_matches_a_pattern_later_is_read_from_its_beginning_too(
    setup: ConsumerSetup, admin: KafkaAdminClient
) -> None:
    consumer = await setup.face.open(
        **QUICK, auto_offset_reset="latest", auto_offset_reset_new_partitions="earliest", enable_auto_commit=False
    )
    await consumer.subscribe(pattern=f"^{setup.topic}")
    await consumer.poll_until(lambda: len(consumer.consumer.assignment()) == 2)
    later = f"{setup.topic}-later"
    admin.create_topics([later], wait_for_metadata=True)
    with KafkaProducer(bootstrap_servers=setup.servers) as producer:
        producer.send(later, b"first")
    assert [record.value for record in await consumer.read(1)] == [b"first"]
