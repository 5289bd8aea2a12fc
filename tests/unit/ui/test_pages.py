"""The contents of the pages."""

import asyncio
import html
import os
import pathlib
import re
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConnectionError
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.ui import search
from kafka.ui.cluster_state import look
from kafka.ui.search import Progress, Search
from kafka.ui.snapshot import Need
from kafka.ui.web_server import event
from unit.ui.test_spark_log import line
from unit.ui.ui_support import HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once


async def test_partitions_of_a_topic_are_searched(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(partitions=12)

    async def found(words: str) -> list[str]:
        answer = await pages.browser.get("/topic", params={"name": name, "partitions.q": words})
        return [row[0] for row in rows_of(answer.text, "Partitions")]

    assert await found("11") == ["11"]
    assert await found("leader:1") == [str(number) for number in range(12)]
    assert not any(row.isdecimal() for row in await found("offline"))


async def test_topics_with_sizes_and_rates(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"x" * 100, b"y" * 100, partitions=2)
    page = await pages.get("/")
    (row,) = [each for each in rows_of(page, "Topics") if each[0] == name]
    assert row[1:4] == ["2", "1", "2"]
    assert row[4].endswith(" B")
    before = pages.ui.poller.newest
    assert before is not None
    after = await look(pages.ui.admin, before.time + 10, Need())
    pages.ui.poller.history.add(before, after)
    assert pages.ui.poller.history.rates[name][-1] == (before.time + 10, 0.0)


async def test_a_topic_with_its_partitions_configs_and_groups(
    pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker
) -> None:
    name = topic(b"a", b"b", b"c", partitions=2)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.alter_configs([ConfigResource("TOPIC", name, {"retention.ms": "123456"})])
    page = await pages.get("/topic", name=name)
    assert [row[:2] + row[4:7] for row in rows_of(page, "Partitions")] == [
        ["0", "1", "0", "2", "2"],
        ["1", "1", "0", "1", "1"],
    ]
    assert ["retention.ms", "123456", "this topic"] in rows_of(page, "Configs")
    every = await pages.get("/topic", **{"name": name, "configs.defaults": "show", "configs.q": "cleanup"})
    assert ["cleanup.policy", "delete", "default"] in rows_of(every, "Configs")
    missing = await pages.get("/topic", 404, name=HOSTILE)
    assert f"There is no topic {HOSTILE!r}" in text_of(missing)
    assert "<script>" not in missing


async def test_a_value_that_the_cluster_calls_sensitive_is_not_shown(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic()

    async def describe_configs(*_: object, **__: object) -> dict[str, dict[str, dict[str, dict[str, object]]]]:
        return {"topic": {name: {"password": {"value": "hunter2", "is_sensitive": True}}}}

    monkeypatch.setattr(pages.ui.admin, "describe_configs", describe_configs)
    page = await pages.get("/topic", name=name)
    assert "hunter2" not in page
    assert rows_of(page, "Configs") == [["password", "not shown", ""]]


async def test_groups_with_their_lag_and_members(
    pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker
) -> None:
    name, group = topic(*[b"v"] * 5), f"group/{HOSTILE}"
    consumer = KafkaConsumer(
        name,
        bootstrap_servers=broker.bootstrap_servers,
        group_id=group,
        auto_offset_reset="earliest",
        max_poll_records=3,
    )
    try:
        found = 0
        while not found:
            found = sum(map(len, (await asyncio.to_thread(consumer.poll, 200)).values()))
        await asyncio.to_thread(consumer.commit)
        page = await pages.get("/groups")
        (row,) = [each for each in rows_of(page, "Groups") if each[0] == group]
        assert row[5] == str(5 - found)
        assert row[1:5] == ["Stable", "classic", "1", name]
        assert "<img" not in page
        page = await pages.get("/group", id=group)
        ((*numbers, behind, member, client, host),) = rows_of(page, "Partitions")
        assert numbers == [name, "0", str(found), "5", str(5 - found)]
        assert behind.endswith("*"), "the page has not observed when the records arrived"
        assert member.startswith(client)
        assert host == "127.0.0.1"
        assert "<img" not in page
        assert [group, "Stable", str(5 - found)] in rows_of(await pages.get("/topic", name=name), "Groups")
    finally:
        await asyncio.to_thread(consumer.close)
    assert "There is no group 'nobody'" in text_of(await pages.get("/group", 404, id="nobody"))


async def test_commit_decisions_of_sparks_sink_have_no_lag(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(*[b"v"] * 5)
    offsets = {TopicPartition(name, 0): OffsetAndMetadata(2, "1/1/[]", None)}
    await pages.ui.admin.alter_group_offsets(f"{name}-decision", offsets)
    await pages.ui.admin.alter_group_offsets(f"{name}-place", offsets)
    page = await pages.get("/groups")
    rows = {row[0]: row[1:6] for row in rows_of(page, "Groups")}
    assert rows[f"{name}-decision"] == ["Empty", "classic", "0", name, "\N{EN DASH}"]
    assert rows[f"{name}-place"] == ["Empty, lagging", "classic", "0", name, "3"]


async def test_an_offset_beyond_the_end_is_named(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(*[b"v"] * 5)
    for group, offset in ((f"{name}-beyond", 900), (f"{name}-at-the-end", 5)):
        await pages.ui.admin.alter_group_offsets(group, {TopicPartition(name, 0): OffsetAndMetadata(offset, "", None)})
    lags = {row[0]: row[5:7] for row in rows_of(await pages.get("/groups"), "Groups")}
    assert lags[f"{name}-beyond"] == ["0 beyond the end", "\N{EN DASH}"]
    assert lags[f"{name}-at-the-end"] == ["0", "0 s"]
    readers = {row[0]: row[2] for row in rows_of(await pages.get("/topic", name=name), "Groups")}
    assert readers == {f"{name}-beyond": "0 beyond the end", f"{name}-at-the-end": "0"}
    page = await pages.get("/group", id=f"{name}-beyond")
    assert rows_of(page, "Partitions")[0][2:6] == ["900", "5", "beyond the end", "\N{EN DASH}"]
    assert "1 committed offset is beyond the end of the partition" in text_of(page)
    assert "beyond" not in text_of(await pages.get("/group", id=f"{name}-at-the-end")).replace(name, "")


async def test_the_newest_messages_of_all_partitions_come_first(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(*[b"value %d" % at for at in range(10)], partitions=3)
    assert "Enter a topic to see its newest messages." in await pages.get("/messages")
    page = await pages.get("/messages", topic=name, most=4)
    assert [row[4] for row in rows_of(page, "Messages found")] == ["value 9", "value 8", "value 7", "value 6"]
    assert "the newest records, newest first" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"key": "k1"}, [11, 10, 1]),
        ({"key": "k1", "exact": "1"}, [1]),
        ({"key": "6b 31", "match": "hex"}, [11, 10, 1]),
        ({"value": "item 7"}, [7]),
        ({"value": "item", "from": "3", "until": "5"}, [3, 4]),
        ({"from": "9"}, [9, 10, 11]),
        ({"from": "@1700000000008", "until": "@1700000000010"}, [8, 9]),
        ({"from": "2023-11-14T22:13:20.010+00:00"}, [10, 11]),
        ({"key": "k1", "value": "item 10"}, [10]),
        ({"value": "nothing"}, []),
        ({"partition": "0", "from": "11"}, [11]),
        ({"value": "item", "most": "2"}, [11, 10]),
        ({"value": "item", "most": "2", "order": "oldest"}, [0, 1]),
    ],
)
async def test_messages_are_found(
    pages: Pages, topic: Callable[..., str], query: dict[str, str], found: list[int]
) -> None:
    name = topic(*[(b"k%d" % at, b"item %d" % at) for at in range(12)])
    page = await pages.get("/messages", topic=name, **query)
    assert [int(row[1]) for row in rows_of(page, "Messages found")] == found
    assert "of 12 offsets" in page or "from" in query or "until" in query


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"partition": "9"}, "but not 9"),
        ({"partition": "-1"}, "Expected a number from 0 to 2147483647 as partition, got '-1'"),
        ({"partition": "²"}, "as partition"),
        ({"most": "501"}, "Expected a number from 1 to 500 as most, got '501'"),
        ({"from": "soon"}, "Expected an offset, 'earliest', 'latest'"),
        ({"key": "xyz", "match": "hex"}, "Expected hexadecimal digits"),
        ({"from": "9" * 400}, "Expected an offset"),
        ({"from": "@" + "9" * 20}, "Expected a time within the calendar"),
        ({"from": "99999999999h"}, "Expected a shorter duration"),
        ({"from": "0001-01-01"}, "Expected a time since 1970 as start"),
        ({"topic": HOSTILE}, "topic"),
        (
            {"topic": "nothing"},
            "There is no topic 'nothing' to read; see the Topics page (UnknownTopicOrPartitionError)",
        ),
        ({"topic": "a" * 300}, ""),
    ],
)
async def test_an_invalid_search_is_a_one_line_error(
    pages: Pages, topic: Callable[..., str], query: dict[str, str], told: str
) -> None:
    page = await pages.get("/messages", **{"topic": topic(b"v"), **query})
    assert told in text_of(page)
    assert 'class="trouble"' in page
    assert "<img" not in page
    assert page.count("<table>") == page.count("</tbody></table>")
    assert page.endswith("</html>")


async def test_the_form_keeps_the_search(pages: Pages, topic: Callable[..., str]) -> None:
    sought = 'a\u200db\u00ad<>"'
    page = await pages.get("/messages", topic=topic(b"v"), key=sought)
    fields = dict(re.findall(r'<input name="(\w+)"[^>]*value="([^"]*)"', page))
    assert html.unescape(fields["key"]) == sought
    assert "<>" not in fields["key"]


async def test_hostile_keys_and_values_are_text(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic((HOSTILE.encode(), HOSTILE.encode()), (b"key", None), (b"\x00\xff", b'{"a": "<b>"}'))
    page = await pages.get("/messages", topic=name)
    assert [row[3:] for row in rows_of(page, "Messages found")] == [
        ["00ff", '{"a": "<b>"}'],
        ["key", "null"],
        [HOSTILE, HOSTILE],
    ]
    assert "<img" not in page
    page = await pages.get("/message", topic=name, partition=0, offset=0)
    assert HOSTILE in text_of(page)
    assert "<img" not in page


async def test_the_page_of_a_message(pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker) -> None:
    name = topic(b"v" * 100_000, b"next")
    page = await pages.get("/message", topic=name, partition=0, offset=0)
    assert "the first 64.0 KiB of 97.7 KiB (100,000 bytes)" in page
    assert len(page) < 75_000
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(name, b"[1]", headers=[(HOSTILE, b"\xff"), ("none", None)])
    page = await pages.get("/message", topic=name, partition=0, offset=2, **{"as": "hex"})
    assert "00000000 5b 31 5d [1]" in text_of(page)
    assert rows_of(page, "Headers") == [[HOSTILE, "ff"], ["none", "null"]]
    missing = text_of(await pages.get("/message", 404, topic=name, partition=0, offset=3))
    assert (
        f"Partition 0 of topic {name!r} has no record at offset 3: it was deleted, or has not been written yet"
        in missing
    )
    for query in ({"offset": "x"}, {"offset": "1", "partition": "x"}):
        assert 'class="trouble"' in await pages.get("/message", 400, **{"topic": name, "partition": "0", **query})


async def test_a_search_ends_at_its_limits(broker: EmbeddedBroker, topic: Callable[..., str]) -> None:
    name = topic(*[b"v"] * 20)
    async with pages_of(settings(broker.bootstrap_servers, search_records=7)) as pages:
        page = await pages.get("/messages", topic=name, value="nothing")
        assert "7 records of 20 offsets were searched. The search ended early: 7 records were searched" in page
    async with pages_of(settings(broker.bootstrap_servers, search_s=0.0)) as pages:
        page = await pages.get("/messages", topic=name)
        assert "The search ended early: the time limit was reached (0 s)" in page
        assert "The request timed out" in await pages.get("/message", 504, topic=name, partition=0, offset=0)


async def test_leaving_the_page_ends_the_search(broker: EmbeddedBroker, topic: Callable[..., str]) -> None:
    name = topic(*[b"v"] * 20)
    async with pages_of(settings(broker.bootstrap_servers, searches=1)) as pages:
        for _ in range(3):
            progress = Progress()
            async with aclosing(pages.ui.searches.run(Search(name, start=0, most=1), progress)) as found:
                assert len(await anext(found)) == 1
        waiting = asyncio.create_task(anext(pages.ui.searches.run(Search(name, start=0), Progress())))
        async with aclosing(pages.ui.searches.run(Search(name), Progress())) as found:
            waiting.cancel()
            assert len(await anext(found)) == 20
        with pytest.raises(asyncio.CancelledError):
            await waiting


@pytest.mark.parametrize("partitions", [1, 2, 3], ids=["fewer", "as many", "more"])
@pytest.mark.parametrize("searched", [{"value": "v"}, {}], ids=["searched", "newest"])
async def test_a_search_reports_a_recreated_topic_and_shows_none_of_its_records(
    broker: EmbeddedBroker,
    topic: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    partitions: int,
    searched: dict[str, str],
) -> None:
    name = topic(*[b"v"] * 20, partitions=2)
    found = search.read_async

    def make_again() -> None:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.delete_topics([name])
            admin.create_topics({name: {"num_partitions": partitions}}, wait_for_metadata=True)
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for number in range(40):
                producer.send(name, b"v of the new topic", partition=number % partitions)

    async def found_before(*arguments: Any, **options: Any) -> Any:
        read = await found(*arguments, **options)
        await asyncio.to_thread(make_again)
        return read

    async with pages_of(settings(broker.bootstrap_servers)) as pages:
        monkeypatch.setattr(search, "read_async", found_before)
        page = text_of(await pages.get("/messages", topic=name, **searched))
        assert "no longer exist: their topic was deleted since the read found them; search again" in page
        assert "v of the new topic" not in page
        monkeypatch.setattr(search, "read_async", found)
        assert "v of the new topic" in await pages.get("/messages", topic=name, **searched)


async def test_searches_end_with_the_page(
    broker: EmbeddedBroker, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def silent(*_: object, **__: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(search, "read_async", silent)
    async with pages_of(settings(broker.bootstrap_servers)) as pages:
        asking = asyncio.create_task(pages.get("/messages", topic="silent"))
        await asked.wait()
        pages.ui.searches.close()
        assert "The search ended early: the time limit was reached" in await asking
        assert "The request timed out" in await pages.get("/message", 504, topic="silent", partition=0, offset=0)


async def test_the_page_of_spark_queries(broker: EmbeddedBroker, tmp_path: pathlib.Path, pages: Pages) -> None:
    file = tmp_path / "progress.jsonl"
    async with pages_of(settings(broker.bootstrap_servers, spark=file)) as watching:
        assert rows_of(await watching.get("/spark"), "Queries") == [["The file contains no query yet."]]
        file.write_text(line(1) + line(2, lag=1_234) + line(1, query=HOSTILE) + "{}\n")
        page = await watching.get("/spark")
        rows = {row[0]: row[1:] for row in rows_of(page, "Queries")}
        assert rows["flights"] == ["2", "2026-01-31 12:00:00.000Z", "5", "–", "2.5 rows/s", "1.50 s", "1,234", "3"]  # noqa: RUF001
        assert HOSTILE in rows
        assert "<img" not in page
        assert "1 lines of progress.jsonl are not reports" in page
        file.unlink()
        file.mkdir()
        assert "Is a directory" in await watching.get("/spark")
    assert "kafka ui --spark PATH" in await pages.get("/spark")


async def test_an_unreachable_cluster_is_reported(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    async def describe_cluster() -> None:
        raise KafkaConnectionError("no broker <b>answers</b>")

    monkeypatch.setattr(pages.ui.admin, "describe_cluster", describe_cluster)
    for path in ("/", "/groups", "/messages"):
        page = await pages.get(path)
        assert "No broker <b>answers</b>" in text_of(page)
        assert page.endswith("</html>")


async def test_sparks_file_may_be_a_pipe_without_a_writer(broker: EmbeddedBroker, tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with pages_of(settings(broker.bootstrap_servers, spark=pipe)) as watching:
        assert "Expected a file written by kafka.spark.watch" in await watching.get("/spark")


def test_an_event_stays_one_event_with_any_content() -> None:
    assert event("a\nb") == b"data: a\ndata: b\n\n"
    assert event("a\r\revent: x\u2028\x85y") == "data: a␍␍event: x\\u2028\\x85y\n\n".encode()


async def test_topics_of_an_unreachable_cluster_are_shown_without_waiting_for_configs(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: object) -> None:
        await asyncio.Event().wait()

    name = topic(b"a")
    await pages.get("/topic", name=name)
    monkeypatch.setattr(pages.ui.admin, "describe_configs", never)
    monkeypatch.setattr(pages.ui.poller, "trouble", "no broker answers")
    page = text_of(await asyncio.wait_for(pages.get("/topic", name=name), 30))
    assert "No broker answers" in page
    assert "Partitions" in page


async def test_an_unknown_stream_is_not_found(pages: Pages) -> None:
    await pages.get("/live/nothing", 404)
    page = await pages.get("/nowhere", 404)
    assert "'/nowhere' is not a page of this server" in text_of(page)
    assert 'href="groups"' in page
    answer = await pages.browser.post("/groups")
    assert answer.status_code == 405
    assert "'/groups' does not accept this request" in text_of(answer.text)
