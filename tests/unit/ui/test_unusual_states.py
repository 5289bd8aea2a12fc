"""What the pages show when the cluster does not answer, has lost brokers, or contains unusual text.

The states of the cluster are made by changing a snapshot, because the embedded broker is a single one.
"""

import asyncio
import dataclasses
from collections.abc import Callable
from contextlib import aclosing

import pytest

from harness.ports import free_port
from kafka import KafkaAdminClient
from kafka.broker import EmbeddedBroker
from kafka.display.page_elements import UNKNOWN
from kafka.errors import GroupAuthorizationFailedError, KafkaError, NoBrokersAvailable
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.ui.message_rows import cell, isolated
from kafka.ui.shared_state import connected
from kafka.ui.tail_page import tail_events
from kafka.ui.web_server import news
from unit.ui.ui_support import Pages, pages_of, rows_of, settings, text_of

UNREAD = {"request_timeout_ms": 2_000, "bootstrap_timeout_ms": 100, "api_version_auto_timeout_ms": 100}


async def lose(pages: Pages, topic: str, **changed: object) -> None:
    """Show a topic as it would be with other leaders or replicas."""
    await pages.get("/topic", name=topic)
    now = pages.ui.poller.newest
    assert now is not None
    partitions = tuple(dataclasses.replace(each, **changed) for each in now.topics[topic].partitions)  # type: ignore[arg-type]
    topics = {**now.topics, topic: dataclasses.replace(now.topics[topic], partitions=partitions)}
    pages.ui.poller.newest = dataclasses.replace(now, topics=topics)


async def test_a_cluster_that_does_not_answer_is_shown_until_it_does() -> None:
    port = free_port()
    clients = {**UNREAD, "bootstrap_servers": f"127.0.0.1:{port}"}
    told: list[KafkaError] = []
    async with connected(
        dataclasses.replace(settings("127.0.0.1:1"), admin=clients), unreachable=lambda _, error: told.append(error)
    ) as ui:
        (error,) = told
        assert isinstance(error, NoBrokersAvailable)
        assert str(port) in ui.poller.trouble
        async with EmbeddedBroker(port=port):
            await ui.admin.list_topics()


async def test_without_a_callback_an_unreachable_cluster_is_an_error() -> None:
    given = dataclasses.replace(settings("127.0.0.1:1"), admin={**UNREAD, "bootstrap_servers": "127.0.0.1:1"})
    with pytest.raises(NoBrokersAvailable):
        async with connected(given):
            pass


async def test_pages_of_an_unreachable_cluster_give_the_reason_once(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pages_of(settings(broker.bootstrap_servers, patience_s=0.0)) as pages:
        monkeypatch.setattr(pages.ui.poller, "begin", lambda: None)
        pages.ui.poller.trouble = "the reason"
        for path in ("/", "/groups", "/health", "/brokers", "/topic?name=x", "/group?id=x"):
            page = text_of(await pages.get(path))
            assert page.count("The reason") == 1, path
            assert "Configs" not in page


async def test_live_parts_say_that_the_cluster_does_not_answer_any_more(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pages.get("/health")
    assert "last known state" not in await news(pages.ui, "health", {})
    monkeypatch.setattr(pages.ui.poller, "trouble", "no broker answers")
    told = await news(pages.ui, "health", {})
    assert told.startswith('<template data-health><a href="health"><span class="state bad">unreachable')
    assert "The last known state, from " in told
    assert "last known state" not in await news(pages.ui, "spark", {}), "it does not show the cluster"


async def test_a_search_says_that_the_cluster_does_not_answer(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"v")
    await pages.get("/messages", topic=name)
    monkeypatch.setattr(pages.ui.poller, "begin", lambda: None)
    monkeypatch.setattr(pages.ui.poller, "trouble", "no broker answers")
    assert "No broker answers" in await pages.get("/messages", topic=name)


async def test_a_tail_says_that_the_cluster_does_not_answer(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"v")
    monkeypatch.setattr(pages.ui.poller, "begin", lambda: None)
    monkeypatch.setattr(pages.ui.poller, "trouble", "no broker answers")
    async with asyncio.timeout(120), aclosing(tail_events(pages.ui, {"topic": name}, "")) as events:
        assert b"unreachable" in await anext(events)
        assert await anext(events) == b"event: silent\ndata: No broker answers\n\n"


async def test_an_offline_partition_is_named_where_its_messages_are_searched(
    pages: Pages, topic: Callable[..., str]
) -> None:
    name = topic(b"v", partitions=2)
    assert "no leader" not in text_of(await pages.get("/messages", topic=name))
    await lose(pages, name, leader=-1, isr=())
    page = text_of(await pages.get("/messages", topic=name))
    assert "Partitions 0, 1 have no leader: messages there cannot be read now." in page
    (row,) = (each for each in rows_of(await pages.get("/", q=name), "Topics") if each[0] == name)
    assert row[2] == "2 offline 1"


async def test_replicas_that_are_not_in_sync_are_a_warning(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"v")
    await lose(pages, name, replicas=(1, 9), isr=(1,))
    page = await pages.get("/", q=name)
    assert '<span class="state warn" title="Number of partitions with replicas that are not in sync">1 short' in page
    assert "Broker 9 has replicas, but is not running" in text_of(await pages.get("/brokers"))
    row = rows_of(await pages.get("/topic", name=name), "Partitions")[0]
    assert row[3] == "1 under-replicated"


async def test_a_tail_that_ends_says_why_in_plain_text(pages: Pages) -> None:
    answer = await pages.browser.get("/tail-events", params={"topic": "it's-missing"})
    assert answer.text.startswith("event: ended\ndata: ")
    assert "it's-missing" in answer.text, "the script shows it as text, so that entities would be visible"


def test_strings_without_an_end_are_isolated_up_to_the_end_of_their_line() -> None:
    assert isolated('א "b\\\nc "d"') == "א <bdi>&quot;b\\</bdi>\nc <bdi>&quot;d&quot;</bdi>"
    # One match for the whole text: a search that fails at each quotation mark takes a quadratic number of steps.
    assert isolated("א" + '"\\' * 30_000 + '"').count("<bdi>") == 1


def test_names_and_values_of_json_keep_their_order_in_right_to_left_scripts() -> None:
    assert isolated('{"name": "<b>"}') == "{&quot;name&quot;: &quot;&lt;b&gt;&quot;}"
    assert isolated('{"اسم": "מ\\"ה", "n": 1}') == (
        "{<bdi>&quot;اسم&quot;</bdi>: <bdi>&quot;מ\\&quot;ה&quot;</bdi>, <bdi>&quot;n&quot;</bdi>: 1}"
    )


def test_a_row_shows_a_limited_number_of_lines() -> None:
    assert "… " not in cell(b"\n".join([b"x"] * 8), "auto")
    shown = cell(b"\n".join([b"x"] * 9), "auto")
    assert shown.count("x") == 8
    assert "… 8 lines" in shown


async def test_long_keys_are_folded_in_the_list(pages: Pages, topic: Callable[..., str]) -> None:
    page = await pages.get("/messages", topic=topic((b"short", b"v"), (b"m" * 41, b"v"), (b"l" * 161, b"v")))
    assert '<td data-label="Key"><code>short</code></td>' in page
    assert f'<td class="long-key" data-label="Key"><code>{"m" * 41}</code></td>' in page
    folded = f'<details class="fold"><summary><code>{"l" * 161}</code></summary></details>'
    assert f'<td class="long-key" data-label="Key">{folded}</td>' in page, "a click shows all of it"


async def test_many_topics_are_suggested_while_their_name_is_typed(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = topic(b"v")
    page = await pages.get("/messages")
    assert f'<option value="{known}">' in page
    assert "data-source" not in page, "the page has all names"
    now = pages.ui.poller.newest
    assert now is not None
    names = [f"orders-{at:05}" for at in range(10_000)] + ["Old-Orders", "orders", "<b>"]
    topics = {name: dataclasses.replace(now.topics[known], name=name) for name in names}
    monkeypatch.setattr(pages.ui.poller, "begin", lambda: None)
    pages.ui.poller.newest = dataclasses.replace(now, topics=topics)
    page = await pages.get("/messages")
    assert '<datalist id="topics" data-source="topic-names">' in page
    assert page.count('<option value="orders-') == 50

    async def suggested(text: str) -> list[str]:
        found: list[str] = (await pages.browser.get("/topic-names", params={"q": text})).json()
        return found

    assert await suggested(" ORDERS-0999") == [f"orders-{at:05}" for at in range(9990, 10_000)]
    assert len(await suggested("")) == 50
    assert (await suggested("orders"))[0] == "orders"
    assert await suggested("d-orders") == ["Old-Orders"]
    assert await suggested("<b") == ["<b>"]
    assert await suggested("nothing") == []


async def test_parts_that_the_cluster_refuses_say_what_is_missing(
    pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"v")
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_group_offsets("refused", {TopicPartition(name, 0): OffsetAndMetadata(0, "", None)})

    async def refused(*_: object, **__: object) -> None:
        raise GroupAuthorizationFailedError("not yours")

    monkeypatch.setattr(pages.ui.admin, "describe_groups", refused)
    monkeypatch.setattr(pages.ui.admin, "describe_configs", refused)
    page = await pages.get("/group", id="refused")
    assert "The cluster does not describe the members: not yours" in page
    assert [row[6] for row in rows_of(page, "Partitions")] == [UNKNOWN], "the members are unknown, not missing"
    assert "The cluster does not describe the configs: not yours" in await pages.get("/topic", name=name)


async def test_long_names_of_configs_break_after_their_dots(pages: Pages, topic: Callable[..., str]) -> None:
    page = await pages.get("/topic", name=topic(b"v"), **{"configs.defaults": "show"})
    assert '<th scope="row">follower.<wbr>replication.<wbr>throttled.<wbr>replicas</th>' in page


async def test_bytes_are_shown_in_lines_that_do_not_break(pages: Pages, topic: Callable[..., str]) -> None:
    page = await pages.get("/message", topic=topic((b"text", bytes(range(256)))), offset=0)
    assert page.count('class="dump"') == 1


async def test_offsets_are_reset_only_if_there_are_any(broker: EmbeddedBroker, topic: Callable[..., str]) -> None:
    tp = TopicPartition(topic(b"v"), 0)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_group_offsets("unusual", {tp: OffsetAndMetadata(0, "", None)})
    async with pages_of(dataclasses.replace(settings(broker.bootstrap_servers), allow_writes=True)) as pages:
        assert "Reset offsets" in await pages.get("/group", id="unusual")
        now = pages.ui.poller.newest
        assert now is not None
        empty = dataclasses.replace(now.groups["unusual"], committed={}, ends={})
        pages.ui.poller.newest = dataclasses.replace(now, groups={**now.groups, "unusual": empty})
        assert "Reset offsets" not in await pages.get("/group", id="unusual")
