"""Messages: order of time across partitions, paging, filters, times, downloads, and single messages."""

import csv
import datetime
import html
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow.parquet
import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.cli.position_syntax import parse_position
from kafka.ui.message_fields import parse_places, places_text
from kafka.ui.when import in_zone, parse_when, zone_named
from unit.ui.ui_support import HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once

NOW = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)


def values_of(page: str) -> list[str]:
    """Return the values on a page of messages."""
    return [row[4] for row in rows_of(page, "Messages found")]


def link_of(page: str, text: str) -> str:
    """Return the address of a link; "" if there is none."""
    found = re.search(rf'<a href="([^"]*)">{text}</a>', page)
    return "" if found is None else f"/{html.unescape(found[1])}"


async def followed(pages: Pages, page: str, text: str) -> str:
    """Return the page to which a link leads."""
    answer = await pages.browser.get(link_of(page, text))
    assert answer.status_code == 200
    return answer.text


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_pages_cover_each_message_once_in_the_order_of_time(
    pages: Pages, topic: Callable[..., str], order: str
) -> None:
    name = topic(*[b"%d" % at for at in range(23)], partitions=3)
    wanted = [str(at) for at in range(23)]
    onward, back = ("Older →", "← Newer") if order == "newest" else ("← Newer", "Older →")
    if order == "newest":
        wanted.reverse()
    page = await pages.get("/messages", topic=name, order=order, most=5)
    assert link_of(page, back) == ""
    seen, found = [page], values_of(page)
    while link_of(seen[-1], onward):
        seen.append(await followed(pages, seen[-1], onward))
        found += values_of(seen[-1])
    assert found == wanted
    assert values_of(await followed(pages, seen[2], back)) == values_of(seen[1])


async def test_messages_that_arrive_later_are_on_a_newer_page(
    pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker
) -> None:
    name = topic(b"0", b"1", b"2")
    page = await pages.get("/messages", topic=name, most=1)
    older = link_of(page, "Older →")
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(name, b"3")
    page = (await pages.browser.get(older)).text
    assert values_of(page) == ["1"]
    page = await followed(pages, page, "← Newer")
    assert values_of(page) == ["2"]
    assert values_of(await followed(pages, page, "← Newer")) == ["3"]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("value.status = 'PAID' and value.amount > 10", [3, 6]),
        ("headers.n = '4'", [4]),
        ("key like 'k%' and offset >= 5", [5, 6, 7]),
        ("partition = 0 and not value.status = 'PAID' and value.amount < 3", [1, 2]),
        ("value.missing is not null", []),
    ],
)
async def test_filters_find_messages(
    pages: Pages, broker: EmbeddedBroker, topic: Callable[..., str], where: str, found: list[int]
) -> None:
    name = topic()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for at in range(8):
            value = {"status": "OPEN" if at % 3 else "PAID", "amount": at * 4 if at % 3 == 0 else at}
            producer.send(name, json.dumps(value).encode(), key=b"k%d" % at, headers=[("n", b"%d" % at)])
    page = await pages.get("/messages", topic=name, where=where, order="oldest")
    assert [int(row[1]) for row in rows_of(page, "Messages found")] == found
    assert html.escape(where) in page


async def test_a_rare_message_is_found_with_growing_windows(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka.ui.search._FIRST_WINDOW", 2)
    name = topic(b"wanted", *[b"other"] * 60, b"wanted", partitions=2)
    page = await pages.get("/messages", topic=name, value="wanted")
    assert [row[0:2] for row in rows_of(page, "Messages found")] == [["1", "30"], ["0", "0"]]
    assert "62 records of 62 offsets were searched" in page


async def test_a_search_that_reached_its_limit_continues_on_the_next_page(
    broker: EmbeddedBroker, topic: Callable[..., str]
) -> None:
    name = topic(*[b"wanted" if at == 3 else b"other" for at in range(20)])
    async with pages_of(settings(broker.bootstrap_servers, search_records=7)) as pages:
        page = await pages.get("/messages", topic=name, value="wanted")
        looked = 0
        while not values_of(page):
            assert "The search ended early: 7 records were searched" in page
            looked += 1
            page = await followed(pages, page, "Older →")
        assert looked == 2


async def test_large_messages_end_a_search_before_they_fill_the_memory(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka.ui.merged_scan.MOST_BYTES", 1000)
    name = topic(b"x" * 600, b"x" * 600, b"x" * 600)
    page = await pages.get("/messages", topic=name, **{"from": "earliest"})
    assert "the records found take more than 0 MiB" in page
    assert rows_of(page, "Messages found")


@pytest.mark.parametrize("where", ["value.status = ", "nonsense here", f"value = '{HOSTILE}", "x" * 5000])
async def test_a_wrong_filter_is_an_error_with_its_place(pages: Pages, topic: Callable[..., str], where: str) -> None:
    page = await pages.get("/messages", topic=topic(b"v"), where=where)
    assert 'class="trouble"' in page
    assert len(where) > 4000 or "^" in page
    assert "<img" not in page
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("15 minutes ago", datetime.timedelta(minutes=15)),
        ("An hour ago", datetime.timedelta(hours=1)),
        ("2 days ago", datetime.timedelta(days=2)),
        ("10 min", datetime.timedelta(minutes=10)),
        ("90s", datetime.timedelta(seconds=90)),
        ("now", NOW),
        ("42", 42),
        ("earliest", "earliest"),
        ("today", datetime.datetime(2026, 1, 30, 23, tzinfo=datetime.UTC)),
        ("yesterday", datetime.datetime(2026, 1, 29, 23, tzinfo=datetime.UTC)),
        ("2026-01-31T10:00", datetime.datetime(2026, 1, 31, 9, tzinfo=datetime.UTC)),
        ("2026-01-31T10:00Z", datetime.datetime(2026, 1, 31, 10, tzinfo=datetime.UTC)),
    ],
)
def test_times_in_words_and_in_the_chosen_zone(text: str, found: Any) -> None:
    assert parse_when(text, zone_named("Europe/Berlin"), parse_position, NOW) == found


def test_zones() -> None:
    assert zone_named("") is zone_named("utc") is datetime.UTC
    assert in_zone(1_700_000_000_123, zone_named("Asia/Tokyo")) == "2023-11-15 07:13:20.123+09:00"
    assert in_zone(-1, zone_named("Asia/Tokyo")) == in_zone(0, datetime.UTC) == ""
    for name in ("Nowhere/Town", "../../etc/passwd", "/etc/localtime", "a\0b"):
        with pytest.raises(ValueError, match="expected a time zone"):
            zone_named(name)


async def test_the_date_picker_and_the_zone_are_used(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"0", b"1", b"2")
    query = {"from_at": "2023-11-14T23:13:20", "zone": "Europe/Berlin"}
    page = await pages.get("/messages", topic=name, **query)
    assert values_of(page) == ["0", "1", "2"]
    assert "2023-11-14 23:13:20.000+01:00 2023-11-14 22:13:20.000Z" in text_of(page)
    later = query | {"from_at": "2023-11-15T00:00:00"}
    assert values_of(await pages.get("/messages", topic=name, **later)) == []
    assert "Expected a time zone" in await pages.get("/messages", topic=name, zone="x")


def test_places_in_a_url() -> None:
    assert parse_places("0:1,7:8") == {0: 1, 7: 8}
    assert places_text({0: 1, 7: 8}) == "0:1,7:8"
    for text in ("0", "a:b", "0:-1", "0:1,", f"0:{2**63}"):
        with pytest.raises(ValueError, match="expected offsets"):
            parse_places(text)


async def test_downloads_have_all_messages_of_the_search(
    pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker
) -> None:
    name = topic(b'{"a": 1}', b"\xff\x00", b"=1+1", partitions=1)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send(name, None, key=b"k", headers=[("h", b"x"), ("b", b"\xff")])
    answer = await pages.browser.get("/download", params={"topic": name, "format": "jsonl", "order": "oldest"})
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.jsonl"'
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [each["value"] for each in lines] == [{"a": 1}, "/wA=", "=1+1", None]
    assert lines[1]["value_encoding"] == "base64"
    assert lines[3]["headers"] == [
        {"name": "h", "value": "x"},
        {"name": "b", "value": "/w==", "value_encoding": "base64"},
    ]
    text = await pages.get("/download", topic=name, format="csv", order="oldest")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [each["value"] for each in rows] == ['{"a": 1}', "/wA=", "'=1+1", ""]
    answer = await pages.browser.get("/download", params={"topic": name, "format": "parquet", "order": "oldest"})
    table = pyarrow.parquet.read_table(io.BytesIO(answer.content))
    assert table["value"].to_pylist() == [b'{"a": 1}', b"\xff\x00", b"=1+1", None]
    assert table["headers"].to_pylist()[3] == [{"name": "h", "value": b"x"}, {"name": "b", "value": b"\xff"}]
    filtered = await pages.get("/download", topic=name, format="jsonl", where="offset = 2")
    assert [json.loads(line)["offset"] for line in filtered.splitlines()] == [2]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"format": "exe"}, "Expected a format (jsonl, csv, parquet), got 'exe'"),
        ({"format": "csv", "where": "("}, "Expected"),
        ({"format": "parquet", "topic": "nothing"}, "There is no topic 'nothing' to read; see the Topics page"),
    ],
)
async def test_a_wrong_download_is_an_error(pages: Pages, query: dict[str, str], told: str) -> None:
    assert told in text_of(await pages.get("/download", 400, **{"topic": "x", **query}))


async def test_the_bytes_of_a_message_are_a_file(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic((b"key", b"<script>"), (None, b"v"))
    where = {"topic": name, "partition": 0}
    answer = await pages.browser.get("/message-bytes", params={**where, "offset": 0, "part": "value"})
    assert (answer.content, answer.headers["content-type"]) == (b"<script>", "application/octet-stream")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert (await pages.browser.get("/message-bytes", params={**where, "offset": 0, "part": "key"})).content == b"key"
    await pages.get("/message-bytes", 404, **where, offset=1, part="key")
    page = await pages.get("/message", **where, offset=0)
    assert "/message?" in link_of(page, "Next offset →")
    assert "offset=1" in link_of(page, "Next offset →")
    assert values_of(await followed(pages, page, "Messages around it")) == ["<script>"]
