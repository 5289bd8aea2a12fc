"""The pytest plugin: a real broker for tests, in-process and on real TCP.

Installed with the package, so that ``def test_it(kafka_broker): ...`` works without an import. Nothing heavy is
imported until a test asks for the fixture.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kafka.broker import EmbeddedBroker


@pytest.fixture
def kafka_broker() -> "Iterator[EmbeddedBroker]":
    """An `EmbeddedBroker` of the test's own, empty, on a free port of the loopback interface."""
    from kafka.broker import EmbeddedBroker

    with EmbeddedBroker() as broker:
        yield broker
