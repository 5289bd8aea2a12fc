"""Changes: only if they are allowed, only by forms of the page itself, and only after confirmation."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Callable

import pytest

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.structs import OffsetAndMetadata
from unit.ui.ui_support import ADDRESS, HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once


@pytest.fixture
async def writing(broker: EmbeddedBroker) -> AsyncIterator[Pages]:
    """A UI that allows writes."""
    async with pages_of(settings(broker.bootstrap_servers, allow_writes=True)) as made:
        yield made


def commit(broker: EmbeddedBroker, group: str, topic: str, offset: int) -> None:
    """Commit an offset for a group without members."""
    with KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, group_id=group, enable_auto_commit=False
    ) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)})


def produce(broker: EmbeddedBroker, topic: str, count: int) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for _ in range(count):
            producer.send(topic, b"later")


async def committed(pages: Pages, group: str) -> list[int]:
    found = await pages.ui.admin.list_group_offsets([group])
    return [each.offset for each in found[group].values()]


async def test_a_read_only_page_has_no_routes_for_changes(pages: Pages) -> None:
    for path in ("/topics", "/reset-group"):
        answer = await pages.browser.post(path, data={"token": pages.ui.forms.token, "name": "made"})
        assert answer.status_code == 404
    assert (await pages.get("/")).count('method="post"') == 2, "only the theme can be changed"
    assert "read-only" in await pages.get("/")
    assert "made" not in await pages.ui.admin.list_topics()


async def test_a_topic_is_created(writing: Pages) -> None:
    assert "writes allowed" in await writing.get("/")
    told = await writing.post("/topics", name="made-here", partitions="3", replicas="")
    assert "Topic made-here was created" in text_of(told)
    (described,) = await writing.ui.admin.describe_topics(["made-here"])
    assert len(described["partitions"]) == 3


async def test_a_creation_that_is_sent_twice_succeeds_twice(writing: Pages) -> None:
    (form,) = re.findall(r'<form method="post" action="topics">(.*?)</form>', await writing.get("/"), re.DOTALL)
    fields = {**dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)), "name": "made-once"}
    for told in await asyncio.gather(*(writing.post("/topics", **fields) for _ in range(2))):
        assert "Topic made-once was created" in text_of(told)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": HOSTILE}, "The topic was not created"),
        ({"name": "x", "partitions": "many"}, "expected a number of partitions, got 'many'"),
        ({"name": "x", "replicas": "9"}, "The topic was not created"),
        ({}, "The topic was not created"),
    ],
)
async def test_a_failed_creation_is_a_one_line_error(writing: Pages, fields: dict[str, str], told: str) -> None:
    page = await writing.post("/topics", **fields)
    assert told in text_of(page)
    assert "<img" not in page


@pytest.mark.parametrize("token", ["", "wrong", "é"])
async def test_a_form_from_another_page_is_rejected(writing: Pages, token: str) -> None:
    assert "Refused" in await writing.post("/topics", 403, token=token, name="forged")
    assert "forged" not in await writing.ui.admin.list_topics()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://attacker.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_request_from_another_site_is_rejected(writing: Pages, headers: dict[str, str]) -> None:
    assert "another site" in await writing.post("/topics", 403, headers, name="forged")
    assert "forged" not in await writing.ui.admin.list_topics()


async def test_a_request_from_the_page_itself_is_accepted(writing: Pages) -> None:
    headers = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
    assert "was created" in await writing.post("/topics", 200, headers, name="from-a-browser")


async def test_an_endless_form_is_rejected(writing: Pages) -> None:
    assert "65,536 bytes" in await writing.post("/topics", 413, name="x" * 100_000)


async def test_a_group_is_reset_after_confirmation(
    writing: Pages, broker: EmbeddedBroker, topic: Callable[..., str]
) -> None:
    name = topic(*[b"v"] * 10)
    await asyncio.to_thread(commit, broker, "moved", name, 7)
    page = await writing.get("/group", id="moved")
    assert "Reset offsets" in page
    shown = await writing.post("/reset-group", id="moved", topic=name, to="4")
    assert rows_of(shown, "New offsets") == [[name, "0", "7", "4"]]
    assert '<a href="group?id=moved">Cancel</a>' in shown
    assert await committed(writing, "moved") == [7]
    forged = await writing.post("/reset-group", id="moved", topic=name, to="4", confirmed="yes")
    assert "the form has no valid offsets" in text_of(forged)
    assert await committed(writing, "moved") == [7]
    told = await writing.post("/reset-group", id="moved", topic=name, to="4", offsets="0:4", confirmed="yes")
    assert "The group was reset" in text_of(told)
    assert await committed(writing, "moved") == [4]


async def test_a_group_is_reset_to_the_offsets_of_the_preview_though_records_have_come_since(
    writing: Pages, broker: EmbeddedBroker, topic: Callable[..., str]
) -> None:
    name = topic(*[b"v"] * 10)
    await asyncio.to_thread(commit, broker, "latest", name, 7)
    shown = await writing.post("/reset-group", id="latest", topic=name, to="latest")
    assert rows_of(shown, "New offsets") == [[name, "0", "7", "10"]]
    await asyncio.to_thread(produce, broker, name, 5)
    fields = dict(re.findall(r'type="hidden" name="(offsets|topic|to|confirmed)" value="([^"]*)"', shown))
    assert "The group was reset" in text_of(await writing.post("/reset-group?id=latest", **fields))
    assert await committed(writing, "latest") == [10]


async def test_the_group_shown_is_the_group_reset(
    writing: Pages, broker: EmbeddedBroker, topic: Callable[..., str]
) -> None:
    name, group = topic(*[b"v"] * 10), 'g\u200b\x7f\n<&"'
    await asyncio.to_thread(commit, broker, group, name, 7)
    page = await writing.get("/group", id=group)
    for fields in ({"topic": name}, {"confirmed": "yes"}):
        (form,) = re.findall(r'<form method="post" action="(reset-group[^"]*)">(.*?)</form>', page, re.DOTALL)
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[1]))
        page = await writing.post(html.unescape(form[0]), **{"to": "4", **hidden, **fields})
    assert "The group was reset" in page
    assert await committed(writing, group) == [4]


@pytest.mark.parametrize("to", ["", "somewhere", HOSTILE, "P999999999Y"])
async def test_an_invalid_position_is_a_one_line_error(
    writing: Pages, broker: EmbeddedBroker, topic: Callable[..., str], to: str
) -> None:
    name = topic(b"v")
    await asyncio.to_thread(commit, broker, "kept", name, 1)
    page = await writing.post("/reset-group", id="kept", topic=name, to=to, confirmed="yes")
    assert "The group was not reset" in text_of(page)
    assert "<img" not in page
