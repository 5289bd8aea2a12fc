"""``help()`` of a client shows its options."""

import inspect

import pytest

from kafka import (
    AsyncKafkaAdminClient,
    AsyncKafkaConsumer,
    AsyncKafkaProducer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
)
from kafka.config import option_table
from kafka.config.option_text import option_lines

CLIENTS = [
    (KafkaConsumer, "consumer"),
    (AsyncKafkaConsumer, "consumer"),
    (KafkaProducer, "producer"),
    (AsyncKafkaProducer, "producer"),
    (KafkaAdminClient, "admin"),
    (AsyncKafkaAdminClient, "admin"),
]


@pytest.mark.parametrize(("cls", "client"), CLIENTS)
def test_a_client_documents_exactly_its_options(cls: type, client: str) -> None:
    doc = inspect.getdoc(cls)
    assert doc is not None
    for row in option_table().values():
        assert doc.count(f"\n{row.name}: ") == (client in row.clients), row.name


def test_no_default_shows_a_memory_address() -> None:
    for client in ("consumer", "producer", "admin"):
        assert " at 0x" not in "\n".join(option_lines(client))
