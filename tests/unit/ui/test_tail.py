"""The live tail: new messages, its rate, where it continues, and its end."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing

import pytest
from starlette.types import Message

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.display.page_elements import Html
from kafka.ui import streams
from kafka.ui.search import Search
from kafka.ui.tail_page import tail_events, tail_page
from kafka.ui.tail_reader import TailPart
from unit.ui.ui_support import HOSTILE, Pages, pages_of, settings

pytestmark = pytest.mark.once


def send(broker: EmbeddedBroker, topic: str, *values: bytes) -> None:
    """Write messages."""
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, value, partition=0)


async def tailed(pages: Pages, search: Search, per_second: int, until: int) -> list[TailPart]:
    """Follow a topic until a number of messages have been shown or skipped."""
    parts: list[TailPart] = []
    async with aclosing(pages.ui.tails.run(search, per_second, None)) as following:
        async for part in following:
            parts.append(part)
            if sum(len(each.records) + each.skipped for each in parts) >= until:
                break
    return parts


async def test_new_messages_are_shown_from_the_place_where_a_tail_continues(
    pages: Pages, broker: EmbeddedBroker, topic: Callable[..., str]
) -> None:
    name = topic(b"old", b"old")
    async with aclosing(pages.ui.tails.run(Search(name), 10, None)) as following:
        first = asyncio.ensure_future(anext(following))
        while not pages.ui.tails.assigned:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(send, broker, name, b"new")
        part = await first
        while not part.records:
            part = await anext(following)
    assert [each.value for each in part.records] == [b"new"]
    assert part.places == {0: 3}
    await asyncio.to_thread(send, broker, name, b"while paused", b"and again")
    parts = await tailed(pages, Search(name, after=part.places), 10, 2)
    assert [each.value for part in parts for each in part.records] == [b"while paused", b"and again"]


async def test_messages_beyond_the_rate_are_counted(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(*[b"%d" % at for at in range(50)])
    parts = await tailed(pages, Search(name, after={0: 0}), 5, 50)
    assert sum(each.skipped for each in parts) + sum(len(each.records) for each in parts) == 50
    assert all(len(each.records) <= 5 for each in parts)
    assert parts[-1].records[-1].value == b"49"


async def test_conditions_apply_to_a_tail(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(*[b"%d" % at for at in range(20)])
    parts = await tailed(pages, Search(name, after={0: 0}, value=b"9"), 5, 2)
    assert [each.value for part in parts for each in part.records] == [b"9", b"19"]


async def events_of(pages: Pages, given: Mapping[str, str], last: str, number: int) -> list[str]:
    """Return the first server-sent events of a tail."""
    found: list[str] = []
    async with aclosing(tail_events(pages.ui, given, last)) as events:
        async for each in events:
            found.append(each.decode())
            if len(found) == number:
                break
    return found


async def test_events_have_escaped_rows_and_the_place_as_their_id(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(HOSTILE.encode(), b"a\nevent: ended\n\n")
    health, event = await events_of(pages, {"topic": name}, "0:0", 2)
    assert health.startswith("event: health\ndata: ")
    assert event.startswith("event: message\nid: 0:2\ndata: <tr>")
    assert "<img" not in event
    assert event.count("\n\n") == 1
    assert not re.search(r"^event: ended", event, re.MULTILINE)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"topic": "nothing"}, "there is no topic 'nothing' to follow; see the Topics page"),
        ({"partition": "9"}, "there is no partition 9"),
        ({"rate": "1000"}, "expected a number from 1 to 200 as rate"),
        ({"where": "("}, "expected"),
    ],
)
async def test_a_tail_that_cannot_begin_ends_with_an_error(
    pages: Pages, topic: Callable[..., str], given: dict[str, str], told: str
) -> None:
    (event,) = await events_of(pages, {"topic": topic(b"v"), **given}, "", 2)
    assert event.startswith("event: ended\n")
    assert told in event


async def test_the_number_and_duration_of_tails_are_limited(broker: EmbeddedBroker, topic: Callable[..., str]) -> None:
    name = topic(b"v")
    async with pages_of(settings(broker.bootstrap_servers, tails=1)) as pages:
        async with aclosing(pages.ui.tails.run(Search(name, after={0: 0}), 5, None)) as following:
            await anext(following)
            (event,) = await events_of(pages, {"topic": name}, "", 2)
            assert "1 live tails are running, which is the limit" in event
        assert await tailed(pages, Search(name, after={0: 0}), 5, 1)
        pages.ui.tails.close()
        (event,) = await events_of(pages, {"topic": name}, "0:0", 2)
        assert "the time limit was reached" in event
    async with pages_of(settings(broker.bootstrap_servers, tail_s=0.0)) as pages:
        (event,) = await events_of(pages, {"topic": name}, "0:0", 2)
        assert "the time limit was reached" in event


async def test_a_tail_updates_the_health_in_the_header(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"v")
    await pages.get("/health")
    async with asyncio.timeout(120), aclosing(tail_events(pages.ui, {"topic": name}, "0:0")) as events:
        assert 'class="state good"' in (await anext(events)).decode()
        assert (await anext(events)).startswith(b"event: message\n")
        monkeypatch.setattr("kafka.ui.tail_page.badge", lambda ui: Html("critical"))
        assert await anext(events) == b"event: health\ndata: critical\n\n"
        assert (await anext(events)).startswith(b"event: message\n")
        assert (await anext(events)).startswith(b"event: message\n"), "the health has not changed again"


async def test_a_browser_that_reads_nothing_occupies_no_tail(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_PATIENCE_S", 0.05)
    sent: list[str] = []

    async def body() -> AsyncIterator[bytes]:
        async with aclosing(tail_events(pages.ui, {"topic": topic(b"a")}, "")) as events:
            async for each in events:
                yield each

    async def send(message: Message) -> None:
        sent.append(message["type"])
        if message["type"] == "http.response.body":
            assert pages.ui.tails._running == 1
            await asyncio.Event().wait()  # as if the buffers were full

    await streams.StreamedResponse(body()).stream_response(send)
    assert sent == ["http.response.start", "http.response.body"]
    assert pages.ui.tails._running == 0


async def test_the_page_follows_without_scripts(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"entry 1", b"entry 2")
    found = ""
    async with aclosing(tail_page(pages.ui, {"topic": name, "plain": "1", "after": "0:0"})) as parts:
        async for part in parts:
            found += part
            if "entry 2" in found:
                break
    assert "<code>entry 1</code>" in found
    assert "<code>entry 2</code>" in found
    with_scripts = await pages.get("/tail", topic=name, where="offset > 3")
    assert 'data-tail="tail-events?topic=' in with_scripts
    assert "Follow without scripts" in with_scripts
    assert 'class="trouble"' in await pages.get("/tail", topic=name, where="(")
    assert "<table" not in await pages.get("/tail")
