"""A broker and what is on it, for scenarios that go alike on both kinds of consumer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from unit.consumer.consumer_setup import ConsumerSetup


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    # a group does not wait for more members
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), group_initial_rebalance_delay_ms=0) as broker:
        yield broker


@pytest.fixture(scope="module")
def producer(broker: EmbeddedBroker) -> Iterator[KafkaProducer]:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=1) as producer:
        yield producer


@pytest.fixture(params=["sync", "asyncio"])
async def setup(
    request: pytest.FixtureRequest, broker: EmbeddedBroker, producer: KafkaProducer
) -> AsyncIterator[ConsumerSetup]:
    setup = ConsumerSetup(request.param, broker, producer)
    yield setup
    await setup.face.close_all()
