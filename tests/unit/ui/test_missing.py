"""What pages offer if something does not exist."""

import re
import time
from collections.abc import Callable

import pytest

from kafka import KafkaAdminClient
from kafka.broker import EmbeddedBroker
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.ui.missing import similar
from kafka.ui.page_frame import sentence
from unit.ui.ui_support import HOSTILE, Pages, text_of

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ordres", ["orders"]),
        ("ORDERS", ["orders", "orders.v2"]),
        ("orders-v2", ["orders.v2", "orders"]),
        ("shipment", ["shipments"]),
        ("x", []),
        ("", []),
    ],
)
def test_similar_names_come_first(name: str, found: list[str]) -> None:
    assert similar(name, ["payments", "orders.v2", "orders", "shipments"]) == found


def test_names_of_any_length_are_compared_quickly() -> None:
    """A group may have a name of 32,767 letters, and the search must not delay other pages."""
    names = [f"{number}{'ab' * 16_000}" for number in range(300)]
    began = time.process_time()
    assert similar("ordres", [*names, "orders"]) == ["orders"]
    assert similar("x" * 32_767, names) == []
    assert time.process_time() - began < 0.1


def test_the_number_of_similar_names_is_limited() -> None:
    assert similar("topic-7", [f"topic-{number}" for number in range(100)])[0] == "topic-7"
    assert len(similar("topic-7", [f"topic-{number}" for number in range(100)])) == 5


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("there is no topic 'x'", "There is no topic 'x'"),
        ("expected, at the least, a number", "Expected, at the least, a number"),
        ("localhost:9092 does not answer", "localhost:9092 does not answer"),
        ("retention.ms is not a number", "retention.ms is not a number"),
        ("'/x' is not a page", "'/x' is not a page"),
        ("UnknownTopicOrPartitionError", "UnknownTopicOrPartitionError"),
        ("", ""),
    ],
)
def test_messages_are_sentences_and_names_stay(text: str, shown: str) -> None:
    assert sentence(text) == shown


async def test_a_missing_topic_leads_to_similar_ones_and_to_the_search(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"v")
    page = await pages.get("/topic", 404, name=f"{name}x")
    assert f'<a href="topic?name={name}">{name}</a>' in page
    assert f'name="q" value="{name}x"' in page
    assert '<form method="get" action="./" role="search">' in page
    assert '<a href="./">All topics</a>' in page
    page = await pages.get("/messages", topic=f"{name}x")
    assert f'<a href="messages?topic={name}">{name}</a>' in page
    assert "<tbody>" not in page, "no table without messages"
    page = await pages.get("/topic", 404, name=HOSTILE)
    assert "<script>alert" not in page
    assert "Similar topics" not in page


async def test_a_missing_group_leads_to_similar_ones(
    pages: Pages, broker: EmbeddedBroker, topic: Callable[..., str]
) -> None:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_group_offsets("billing", {TopicPartition(topic(b"v"), 0): OffsetAndMetadata(0, "", None)})
    await pages.ui.poller._observe()
    page = await pages.get("/group", 404, id="biling")
    assert '<a href="group?id=billing">billing</a>' in page
    assert '<form method="get" action="groups" role="search">' in page


async def test_a_missing_message_leads_to_those_of_its_partition(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"v")
    page = await pages.get("/message", 404, topic=name, partition=0, offset=99)
    assert f'href="messages?topic={name}&amp;partition=0&amp;from=earliest"' in page
    assert f'href="messages?topic={name}&amp;partition=0"' in page
    assert f'href="topic?name={name}"' in page


async def test_a_message_of_a_missing_topic_or_partition_leads_to_what_exists(
    pages: Pages, topic: Callable[..., str]
) -> None:
    name = topic(b"v")
    await pages.ui.poller._observe()
    for path in ("/message", "/message-bytes"):
        page = await pages.get(path, 404, topic=f"{name}x", partition=0, offset=0)
        assert f"There is no topic '{name}x'" in text_of(page)
        assert f'<a href="topic?name={name}">{name}</a>' in page
        page = await pages.get(path, 404, topic=name, partition=99, offset=0)
        assert f"Topic '{name}' has no partition 99" in text_of(page)
        assert f'<a href="topic?name={name}">' in page


@pytest.mark.parametrize("path", ["/nowhere", "/a/deeper/address"])
async def test_a_wrong_address_leads_to_all_pages(pages: Pages, path: str) -> None:
    page = await pages.get(path, 404)
    listed = re.findall(r'<li><a href="([^"]*)">', page.partition("<h1>")[2])
    up = "../" * (path.count("/") - 1)
    assert {f"{up}groups", f"{up}health", f"{up}./"} <= set(listed)
    assert "is not a page of this server" in text_of(page)
