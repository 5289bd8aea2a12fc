"""A broker with one topic, and a `SimpleClient` for it. Modules set the topic's partition count in `partitions`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka import SimpleClient
from kafka.broker import EmbeddedBroker


@pytest.fixture
def broker(partitions: int) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(num_partitions=partitions) as broker:
        yield broker


@pytest.fixture
def client(broker: EmbeddedBroker) -> Iterator[SimpleClient]:
    client = SimpleClient(broker.bootstrap_servers, timeout=10)
    client.ensure_topic_exists("topic")
    yield client
    client.close()
