"""The share consumer where brokers fail: nothing is lost, commits tell what has failed, and it goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kafka import AcknowledgeType, AsyncKafkaAdminClient, AsyncKafkaProducer, AsyncKafkaShareConsumer, TopicPartition
from kafka.admin import ConfigResource
from kafka.broker import EmbeddedBroker
from kafka.broker.api.share_fetch import ShareFetching
from kafka.errors import (
    GroupAuthorizationFailedError,
    IllegalStateError,
    InvalidShareSessionEpochError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    ShareSessionNotFoundError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from kafka.record import ConsumerRecord

TP = TopicPartition("t", 0)
PATIENCE_S = 20.0


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(share_heartbeat_interval_ms=50) as broker:
        yield broker


async def prepare(broker: EmbeddedBroker, count: int = 3) -> None:
    async with AsyncKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        await admin.alter_configs([ConfigResource("group", "g", {"share.auto.offset.reset": "earliest"})])
    await fill(broker, count)


async def fill(broker: EmbeddedBroker, count: int) -> None:
    async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(count):
            await producer.send("t", b"%d" % number)


def consumer_of(broker: EmbeddedBroker, **options: Any) -> AsyncKafkaShareConsumer:
    given = {"fetch_max_wait_ms": 100, "retry_backoff_ms": 10, "share_acknowledgement_mode": "explicit", **options}
    return AsyncKafkaShareConsumer("t", bootstrap_servers=broker.bootstrap_servers, group_id="g", **given)


async def some(consumer: AsyncKafkaShareConsumer) -> list[ConsumerRecord]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            records = list(await consumer.poll(200))
            if records:
                return records


def accept(consumer: AsyncKafkaShareConsumer, records: list[ConsumerRecord]) -> None:
    for record in records:
        consumer.acknowledge(record)


async def finish(consumer: AsyncKafkaShareConsumer) -> list[tuple[int, int]]:
    """What comes again, which is accepted."""
    again = await some(consumer)
    accept(consumer, again)
    assert await consumer.commit() == {TP: None}
    return [(record.offset, record.delivery_count) for record in again]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(122, ShareSessionNotFoundError), (123, InvalidShareSessionEpochError), (6, NotLeaderForPartitionError)],
)
async def test_a_commit_that_is_refused_says_so_and_the_records_come_again(
    broker: EmbeddedBroker, code: int, kind: type[Exception]
) -> None:
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        accept(consumer, await some(consumer))
        broker.faults.fail(code, api="ShareAcknowledge", times=1)
        outcome = await consumer.commit()
        assert isinstance(outcome[TP], kind)
        if code != 6:  # the session was given up, and what was acquired with it
            assert await finish(consumer) == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("code", [122, 123, 6, 3, 100, 41 + 92])
async def test_a_refused_fetch_is_repeated(broker: EmbeddedBroker, code: int) -> None:
    await prepare(broker)
    broker.faults.fail(code, api="ShareFetch", times=2)
    async with consumer_of(broker) as consumer:
        assert await finish(consumer) == [(0, 1), (1, 1), (2, 1)]


async def test_acknowledgements_in_a_failed_fetch_are_reported_to_the_callback(broker: EmbeddedBroker) -> None:
    await prepare(broker)
    heard: list[tuple[Any, Any]] = []
    async with consumer_of(broker, share_acknowledgement_mode="implicit") as consumer:
        consumer.set_acknowledgement_commit_callback(lambda offsets, error: heard.append((offsets, error)))
        await some(consumer)
        broker.faults.fail(123, api="ShareFetch", times=1)
        again = await some(consumer)
        assert [record.delivery_count for record in again] == [2, 2, 2]
        [(offsets, error)] = heard
        assert offsets == {TP: {0, 1, 2}}
        assert isinstance(error, InvalidShareSessionEpochError)
        assert await consumer.commit() == {TP: None}


async def test_a_broker_that_is_killed_loses_no_record(broker: EmbeddedBroker) -> None:
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        records = await some(consumer)
        consumer.acknowledge(records[0])
        assert await consumer.commit() == {TP: None}
        await broker.restart_async()
        accept(consumer, records[1:])
        outcome = (await consumer.commit())[TP]
        assert isinstance(outcome, ShareSessionNotFoundError | KafkaConnectionError)
        assert await finish(consumer) == [(1, 1), (2, 1)]


async def test_a_connection_that_is_cut_within_an_answer_loses_no_record(broker: EmbeddedBroker) -> None:
    await prepare(broker)
    broker.faults.cut_answers(40, api="ShareFetch", times=1)
    async with consumer_of(broker) as consumer:
        assert await finish(consumer) == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("code", [25, 110])
async def test_a_member_that_is_fenced_joins_again(broker: EmbeddedBroker, code: int) -> None:
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        accept(consumer, await some(consumer))
        rule = broker.faults.fail(code, api="ShareGroupHeartbeat", times=1)
        await asyncio.to_thread(rule.wait, 1, PATIENCE_S)
        await consumer.commit()
        await fill(broker, 1)
        assert [record.offset for record in await some(consumer)] == [3]


@pytest.mark.parametrize(
    ("api", "code", "kind"),
    [
        ("ShareFetch", 29, TopicAuthorizationFailedError),
        ("ShareFetch", 30, GroupAuthorizationFailedError),
        ("ShareGroupHeartbeat", 30, GroupAuthorizationFailedError),
        ("ShareGroupHeartbeat", 29, TopicAuthorizationFailedError),
    ],
)
async def test_authorization_errors_are_raised(
    broker: EmbeddedBroker, api: str, code: int, kind: type[Exception]
) -> None:
    await prepare(broker)
    broker.faults.fail(code, api=api)
    async with consumer_of(broker) as consumer:
        with pytest.raises(kind):
            await some(consumer)


async def test_a_cluster_without_the_feature_is_named() -> None:
    async with EmbeddedBroker(share_version=0) as broker:
        broker.faults.fail(35, api="ShareGroupHeartbeat")
        async with consumer_of(broker) as consumer:
            for _ in range(2):
                with pytest.raises(UnsupportedVersionError, match=r"share\.version"):
                    await some(consumer)


async def test_a_recreated_topic_is_read_from_the_configured_offset(
    broker: EmbeddedBroker,
) -> None:
    await prepare(broker)
    async with consumer_of(broker, share_acknowledgement_mode="implicit", metadata_max_age_ms=200) as consumer:
        await some(consumer)
        assert await consumer.commit() == {TP: None}
        async with AsyncKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            await admin.delete_topics(["t"])
        await fill(broker, 2)
        assert next(record.offset for record in await some(consumer)) == 0


async def test_a_poll_that_is_cancelled_at_each_step_loses_nothing(broker: EmbeddedBroker) -> None:
    """Whatever step it is cancelled at: each record comes, and is accepted, once."""
    total = 30
    await prepare(broker, total)
    seen: list[int] = []
    async with consumer_of(broker, share_acquire_mode="record_limit", max_poll_records=2) as consumer:
        steps = 0
        async with asyncio.timeout(PATIENCE_S):
            while len(seen) < total:
                polling = asyncio.ensure_future(consumer.poll(500))
                for _ in range(steps % 7):
                    await asyncio.sleep(0)
                steps += 1
                polling.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    records = list(await polling)
                    seen += [record.offset for record in records]
                    accept(consumer, records)
        await consumer.commit()
    assert sorted(seen) == list(range(total))


async def test_a_commit_that_is_cancelled_is_still_sent(broker: EmbeddedBroker) -> None:
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        accept(consumer, await some(consumer))
        committing = asyncio.ensure_future(consumer.commit())
        await asyncio.sleep(0)
        committing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await committing
        await consumer.commit()
        assert not await consumer.poll(300)
    async with consumer_of(broker) as consumer:
        assert not await consumer.poll(300)


@pytest.mark.once
async def test_a_commit_that_gets_no_answer_says_so_in_time(broker: EmbeddedBroker) -> None:
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        accept(consumer, await some(consumer))
        rule = broker.faults.delay(1.0, api="ShareAcknowledge")
        assert isinstance((await consumer.commit(timeout_ms=50))[TP], KafkaTimeoutError)
        rule.remove()
        assert not await consumer.poll(1500), "it was taken later"


async def test_false_acquired_ranges_cost_neither_memory_nor_records(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answered = ShareFetching.response

    def lie(fetching: ShareFetching) -> Any:
        response = answered(fetching)
        for topic in response.responses:
            for data in topic.partitions:
                for one in data.acquired_records:
                    one.last_offset = 2**60
                data.acquired_records *= 2
        return response

    monkeypatch.setattr(ShareFetching, "response", lie)
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        for number in range(2):
            assert await finish(consumer) == [(offset, 1) for offset in range(3 * number, 3 * number + 3)]
            await fill(broker, 3)
        metrics = consumer.metrics()["consumer-share-fetch-manager-metrics"]
        assert metrics["records-consumed-total"] == 6
    [said] = [record.getMessage() for record in caplog.records if "has not sent" in record.getMessage()]
    assert "from offset 3 on" in said


@pytest.mark.parametrize("iterates", [False, True])
async def test_renewed_records_with_an_expired_lock_are_dropped_and_counted(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture, iterates: bool
) -> None:
    await prepare(broker)
    async with consumer_of(broker, consumer_timeout_ms=300) as consumer:
        for record in await some(consumer):
            consumer.acknowledge(record, AcknowledgeType.RENEW)
        assert await consumer.commit() == {TP: None}
        now = consumer._core.now
        lock_s = (consumer.acquisition_lock_timeout_ms() or 0) / 1000
        consumer._core.now = lambda: now() + lock_s  # nobody has polled for so long
        given = [record async for record in consumer] if iterates else list(await consumer.poll(300))
        assert given == []
        metrics = consumer.metrics()["consumer-share-fetch-manager-metrics"]
        assert metrics["records-lock-expired-total"] == 3
        [said] = [record.getMessage() for record in caplog.records if "their lock expired" in record.getMessage()]
        assert "from offset 0 on" in said
        consumer._core.now = now


async def test_renewed_records_are_returned_while_their_lock_lasts(broker: EmbeddedBroker) -> None:
    await prepare(broker)
    async with consumer_of(broker) as consumer:
        for record in await some(consumer):
            consumer.acknowledge(record, AcknowledgeType.RENEW)
        await consumer.commit()
        now = consumer._core.now
        lock_s = (consumer.acquisition_lock_timeout_ms() or 0) / 1000
        consumer._core.now = lambda: now() + lock_s - 20
        assert len(await some(consumer)) == 3


async def test_a_recreated_topic_is_read_completely(broker: EmbeddedBroker) -> None:
    await prepare(broker, 0)
    async with (
        AsyncKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        consumer_of(broker, allow_auto_create_topics=False, share_acknowledgement_mode="implicit") as consumer,
    ):
        for partitions in (2, 2, 3, 1):  # as many, more, fewer
            if "t" in await admin.list_topics():
                await admin.delete_topics(["t"])
            await admin.create_topics({"t": {"num_partitions": partitions}}, wait_for_metadata=True)
            async with AsyncKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
                for number in range(6):
                    await producer.send("t", b"%d" % number, partition=number % partitions)
            records: list[ConsumerRecord] = []
            while len(records) < 6:
                records += await some(consumer)
            assert sorted(record.value for record in records) == [b"%d" % number for number in range(6)]


async def test_before_its_start_every_call_says_so() -> None:
    consumer = AsyncKafkaShareConsumer("t", group_id="g")
    with pytest.raises(IllegalStateError, match="started"):
        await consumer.poll(0)
    await consumer.close()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"auto_offset_reset": "earliest"}, r"share\.auto\.offset\.reset"),
        ({"isolation_level": "read_committed"}, r"share\.isolation\.level"),
        ({"group_instance_id": "x"}, "static"),
        ({"enable_auto_commit": False}, "share_acknowledgement_mode"),
        ({"partition_assignment_strategy": ()}, "coordinator"),
        ({"session_timeout_ms": 1}, r"share\.session\.timeout\.ms"),
        ({"acks": 1}, "option of the producer"),
        ({"share_acknowledgement_mode": "never"}, "implicit"),
        ({"group_id": None}, "group_id"),
        ({"fetch_max_wait_ms": 10**6}, "request_timeout_ms"),
    ],
)
def test_options_without_meaning_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=text):
        AsyncKafkaShareConsumer(**{"group_id": "g", **options})


def test_types_are_as_in_the_protocol() -> None:
    assert [(kind.name, int(kind)) for kind in AcknowledgeType] == [
        ("ACCEPT", 1),
        ("RELEASE", 2),
        ("REJECT", 3),
        ("RENEW", 4),
    ]
