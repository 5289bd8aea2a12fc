"""The web UI for an embedded broker."""

import itertools
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.broker import EmbeddedBroker
from unit.ui.ui_support import Pages, pages_of, settings

_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for the tests of a module, which use different topic names."""
    with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as embedded:
        yield embedded


@pytest.fixture
async def pages(broker: EmbeddedBroker) -> AsyncIterator[Pages]:
    """A read-only UI."""
    async with pages_of(settings(broker.bootstrap_servers)) as made:
        yield made


@pytest.fixture
def topic(broker: EmbeddedBroker) -> Callable[..., str]:
    """A function that creates a topic with the given records: values, or pairs of key and value."""

    def make(*records: bytes | tuple[bytes | None, bytes | None], partitions: int = 1) -> str:
        name = f"topic-{next(_NUMBERS)}"
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for at, each in enumerate(records):
                key, value = each if isinstance(each, tuple) else (None, each)
                producer.send(name, value, key=key, partition=at % partitions, timestamp_ms=1_700_000_000_000 + at)
        return name

    return make
