"""Modules of aiokafka, and internal names of aiokafka's and kafka-python's clients, that frameworks use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

import kafka.aio
from kafka import (
    AsyncKafkaAdminClient,
    AsyncKafkaConsumer,
    AsyncKafkaProducer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
)
from kafka.aio import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from kafka.aio.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.aio.coordinator.assignors.range import RangePartitionAssignor
from kafka.aio.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.aio.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.aio.options import producer_options
from kafka.aio.partitioner import DefaultPartitioner, murmur2
from kafka.aio.producer.producer import BatchBuilder, _missing
from kafka.broker import EmbeddedBroker

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as broker:
        yield broker


async def test_aiokafkas_modules_can_be_imported(broker: EmbeddedBroker) -> None:
    assert kafka.aio.__version__.startswith("0.14.")
    assert murmur2(b"21") == -973932308 & 0xFFFFFFFF
    producer = AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        acks=_missing,
        partitioner=DefaultPartitioner(),
        send_backoff_ms=100,
    )
    async with producer:
        assert isinstance(producer.create_batch(), BatchBuilder)
        await producer.send_and_wait("frameworks", b"value", key=b"key")
    assert producer_options({"acks": _missing}) == producer_options({})
    for assignor in (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor):
        assert issubclass(assignor, AbstractPartitionAssignor)
        async with AIOKafkaConsumer(
            "frameworks",
            bootstrap_servers=broker.bootstrap_servers,
            group_id=f"group-{assignor.__name__}",
            auto_offset_reset="earliest",
            partition_assignment_strategy=[assignor],
        ) as consumer:
            assert (await consumer.getone()).value == b"value"


async def test_frameworks_can_tell_whether_a_client_runs(broker: EmbeddedBroker) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="group")
    assert producer._sender.sender_task is None
    await producer.start()
    await consumer.start()
    assert (producer._closed, consumer._closed, consumer._group_id) == (False, False, "group")
    assert not producer._sender.sender_task.done()
    await producer.stop()
    await consumer.stop()
    assert (producer._closed, consumer._closed) == (True, True)
    assert producer._sender.sender_task.done()
    await producer.stop()


async def test_a_listener_can_read_its_consumers_member_id_and_subscription(broker: EmbeddedBroker) -> None:
    class Telling(ConsumerRebalanceListener):
        told: ClassVar[list[tuple[str, frozenset[str]]]] = []

        async def on_partitions_assigned(self, assigned: object) -> None:
            self.told.append((consumer._coordinator.member_id, consumer._subscription.topics))

        async def on_partitions_revoked(self, revoked: object) -> None:
            """Do nothing."""

    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        await producer.send_and_wait("told", b"value")
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="told", client_id="listens")
    consumer.subscribe(["told"], listener=Telling())
    async with consumer:
        ((member_id, topics),) = Telling.told
        assert member_id.startswith("listens-")
        assert topics == {"told"}


@pytest.mark.parametrize("face", [KafkaConsumer, KafkaProducer, KafkaAdminClient])
def test_a_client_shows_whether_it_is_closed(broker: EmbeddedBroker, face: Any) -> None:
    client = face(bootstrap_servers=broker.bootstrap_servers)
    assert client._closed is False
    client.close()
    assert client._closed is True


@pytest.mark.parametrize("face", [AsyncKafkaConsumer, AsyncKafkaProducer, AsyncKafkaAdminClient])
async def test_an_asyncio_client_shows_whether_it_is_closed(broker: EmbeddedBroker, face: Any) -> None:
    client = face(bootstrap_servers=broker.bootstrap_servers)
    assert client._closed is False
    await client.start()
    assert client._closed is False
    await client.close()
    assert client._closed is True


def test_a_subclass_may_define_closed_itself(broker: EmbeddedBroker) -> None:
    class Marked(KafkaProducer[Any, Any]):
        def __init__(self, **configs: Any) -> None:
            super().__init__(**configs)
            self._closed = "its own"

    with Marked(bootstrap_servers=broker.bootstrap_servers) as producer:
        assert producer._closed == "its own"


def test_a_subclass_iterates_by_poll_until_the_timeout(broker: EmbeddedBroker) -> None:
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        assert consumer._consumer_timeout == math.inf
        consumer._set_consumer_timeout()
        assert consumer._consumer_timeout == math.inf
    with KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, consumer_timeout_ms=60_000) as consumer:
        consumer._set_consumer_timeout()
        first = consumer._consumer_timeout
        consumer._set_consumer_timeout()
        assert 1_500_000_000 < first <= consumer._consumer_timeout < math.inf
