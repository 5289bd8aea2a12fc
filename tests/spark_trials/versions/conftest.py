"""What the tests with each PySpark share."""

from __future__ import annotations

import pytest

from conftest import MakeTopic, topic_maker
from kafka.broker import EmbeddedBroker


@pytest.fixture
def embedded_topic(embedded_broker: EmbeddedBroker) -> MakeTopic:
    """Makes topics on the embedded broker."""
    return topic_maker(embedded_broker)
