"""Producing messages: keys, values and headers of each kind, copies, and errors."""

import asyncio
import html
import json
import pathlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaTimeoutError
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.structs import TopicPartition
from kafka.ui.access.settings import AccessSettings
from kafka.ui.merged_scan import Found
from kafka.ui.produce_page import parse_headers
from unit.ui.ui_support import HOSTILE, Pages, pages_of, settings, text_of

pytestmark = pytest.mark.once


@pytest.fixture
async def writing(broker: EmbeddedBroker, tmp_path: pathlib.Path) -> AsyncIterator[Pages]:
    """A UI that allows writes."""
    access = AccessSettings(audit_log=tmp_path / "audit")
    clients = {"bootstrap_servers": broker.bootstrap_servers}
    given = settings(broker.bootstrap_servers, allow_writes=True, producer=clients, access=access)
    async with pages_of(given) as made:
        yield made


async def record(pages: Pages, topic: str, offset: int = 0, partition: int = 0) -> Found:
    """Return a message."""
    found = await pages.ui.searches.one(TopicPartition(topic, partition), offset)
    assert found is not None
    return found


def fields_of(page: str) -> dict[str, str]:
    """Return the fields of the form on a page, as a browser sends them."""
    form = re.findall(r'<form method="post" action="produce".*?</form>', page, re.DOTALL)[0]
    fields = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', form))
    fields |= dict(re.findall(r'<textarea name="(\w+)"[^>]*>\n(.*?)</textarea>', form, re.DOTALL))
    chosen = re.findall(r'<select name="(\w+)">.*?<option value="(\w+)" selected>', form, re.DOTALL)
    return {name: html.unescape(value) for name, value in {**fields, **dict(chosen)}.items()}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"key": "k", "value": "a\r\nb"}, (b"k", b"a\nb")),
        ({"value": "", "key": ""}, (None, b"")),
        ({"key": "k", "value_as": "null", "value": "ignored"}, (b"k", None)),
        ({"key_as": "hex", "key": "ff 00", "value_as": "hex", "value": ""}, (b"\xff\x00", b"")),
        ({"value_as": "json", "value": '{"a": 1.50}'}, (None, b'{"a": 1.50}')),
    ],
)
async def test_a_message_is_produced(
    writing: Pages, topic: Callable[..., str], fields: dict[str, str], found: tuple[bytes | None, bytes | None]
) -> None:
    name = topic()
    page = await writing.post("/produce", topic=name, **fields)
    assert "Offset 0 in partition 0" in text_of(page)
    made = await record(writing, name)
    assert (made.key, made.value) == found


async def test_a_copy_of_a_message_has_the_same_bytes(
    writing: Pages, topic: Callable[..., str], broker: EmbeddedBroker, tmp_path: pathlib.Path
) -> None:
    name = topic(partitions=2)
    headers: list[tuple[str, bytes | None]] = [
        ("source", HOSTILE.encode()),
        ("bytes", b"\xff"),
        ("none", None),
        ("word", b"null"),
        ("hex", b"hex 00"),
        ("lines", b"a\nb"),
        ("empty", b""),
    ]
    values = (HOSTILE.encode(), b"\xff\x00", None, b"a\r\nb", b"\na")
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(name, value, key=value or b"k", headers=headers, partition=1)
    for offset, value in enumerate(values):
        page = await writing.get("/produce", topic=name, from_partition="1", from_offset=str(offset))
        assert "<img" not in page
        told = text_of(await writing.post("/produce", **fields_of(page) | {"partition": "0"}))
        assert f"Offset {offset} in partition 0" in told
        made = await record(writing, name, offset)
        assert (made.key, made.value, made.headers) == (value or b"k", value, headers)
    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert [each["what"]["offset"] for each in lines] == list(range(len(values)))
    assert lines[0]["what"]["value_bytes"] == len(HOSTILE)
    assert "alert" not in (tmp_path / "audit").read_text()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"partition": "x"}, "as partition, got 'x'"),
        ({"value_as": "json", "value": "{"}, "the value is not JSON"),
        ({"value_as": "hex", "value": "x"}, "expected hexadecimal digits"),
        ({"key_as": "other"}, "expected text, json, hex, null or schema as key_as"),
        ({"value_as": "schema", "value": "1"}, "a schema requires --registry URL"),
        ({"headers": "nothing"}, "line 1 of the headers: expected name: value, got 'nothing'"),
        ({"topic": ""}, "Not produced"),
        ({"topic": HOSTILE}, "Not produced"),
    ],
)
async def test_a_wrong_form_is_shown_again_with_the_error(
    writing: Pages, topic: Callable[..., str], tmp_path: pathlib.Path, fields: dict[str, str], told: str
) -> None:
    given = {"topic": topic(), "value": HOSTILE, **fields}
    page = await writing.post("/produce", **given)
    assert told in text_of(page)
    assert "<img" not in page
    assert fields_of(page)["value"] == given["value"]
    assert json.loads((tmp_path / "audit").read_text())["result"] == "failed"


async def test_only_where_writes_are_allowed(pages: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"v")
    await pages.get("/produce", 404, topic=name)
    assert (await pages.browser.post("/produce", data={"topic": name})).status_code == 404
    assert "produce" not in await pages.get("/messages", topic=name)
    assert "produce" not in await pages.get("/message", topic=name, partition=0, offset=0)


async def test_a_message_that_does_not_exist_is_not_copied(writing: Pages, topic: Callable[..., str]) -> None:
    page = await writing.get("/produce", 400, topic=topic(b"v"), from_partition="0", from_offset="7")
    assert "There is no message at this offset to copy" in page


def test_headers_are_limited() -> None:
    assert parse_headers("a: 1\r\n\r\nb:2\na: ") == [("a", b"1"), ("b", b"2"), ("a", b"")]
    with pytest.raises(ValueError, match="at most 100 headers, got 101"):
        parse_headers("a: 1\n" * 101)


async def test_a_value_is_encoded_with_the_newest_schema() -> None:
    with EmbeddedBroker(registry=True) as broker:
        name = "typed"
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send(name, b"first").get(30)
        registry = {"url": broker.registry_url}
        with SchemaRegistryClient(registry) as client:
            text = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]}'
            await asyncio.to_thread(client.register_schema, f"{name}-value", Schema(text))
        clients: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        given = settings(broker.bootstrap_servers, allow_writes=True, producer=clients, registry=registry)
        async with pages_of(given) as writing:
            empty = await writing.get("/produce", topic=name)
            assert empty.count('<label class="with-schema">Protobuf message') == 2
            assert 'option[value="schema"]:checked)) .with-schema { display: none' in await writing.get(
                "/static/style.css"
            )
            assert '<option value="schema">' in empty
            fields = {"topic": name, "value_as": "schema", "partition": "0"}
            told = await writing.post("/produce", **fields, value='{"a": "x"}')
            assert "the value cannot be encoded" in text_of(told)
            assert "Offset 1" in text_of(await writing.post("/produce", **fields, value='{"a": 7}'))
            made = await record(writing, name, 1)
            assert made.value is not None
            assert made.value[:1] == b"\0"
            assert '{"a":7}' in text_of(await writing.get("/messages", topic=name, where="value.a = 7"))
            page = await writing.get("/produce", topic=name, from_partition="0", from_offset="1")
            assert fields_of(page)["value_as"] == "schema"
            assert "Offset 2" in text_of(await writing.post("/produce", **fields_of(page)))
            assert (await record(writing, name, 2)).value == made.value
            missing = await writing.post("/produce", **fields | {"key_as": "schema", "key": "1"}, value='{"a": 7}')
            assert "the key cannot be encoded" in text_of(missing)


_PROTO = """syntax = "proto3"; package shop;
message Order { int64 id = 1; repeated Item items = 2; message Item { string sku = 1; } }
message Refund { int64 order = 1; string reason = 2; }"""
_CLOSED = (
    '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}'
)


async def test_protobuf_and_json_are_encoded_with_the_newest_schema() -> None:
    with EmbeddedBroker(registry=True) as broker:
        name = "proto"
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send(name, b"first").get(30)
        registry = {"url": broker.registry_url}
        with SchemaRegistryClient(registry) as client:
            schemas = {f"{name}-value": Schema(_PROTO, "PROTOBUF"), f"{name}-key": Schema(_CLOSED, "JSON")}
            for subject, schema in schemas.items():
                await asyncio.to_thread(client.register_schema, subject, schema)
        clients: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        given = settings(broker.bootstrap_servers, allow_writes=True, producer=clients, registry=registry)
        async with pages_of(given) as writing:
            fields = {"topic": name, "value_as": "schema", "partition": "0", "key_as": "schema", "key": '{"a": 1}'}
            for wrong, told in (
                ({"value": '{"id": "x"}'}, "the value cannot be encoded"),
                ({"value": '{"unknown": 1}'}, 'no field named "unknown"'),
                ({"value": "null"}, "the value cannot be encoded"),
                ({"value": "{}", "value_message": HOSTILE}, "the value cannot be encoded"),
                ({"value": "{}", "key": '{"b": 1}'}, "the key cannot be encoded"),
                ({"value": "{}", "key_message": "shop.Order"}, "only Protobuf has message types"),
            ):
                page = await writing.post("/produce", **fields | wrong)
                assert told in text_of(page)
                assert "<img" not in page
            order = '{"id": "7", "items": [{"sku": "é"}]}'
            assert "Offset 1" in text_of(await writing.post("/produce", **fields, value=order))
            made = await record(writing, name, 1)
            assert made.value is not None
            assert made.value[5:] == b"\0\x08\x07\x12\x04\x0a\x02\xc3\xa9", "the first message of the schema"
            refund = {"value": '{"order": 7, "reason": "late"}', "value_message": "shop.Refund"}
            assert "Offset 2" in text_of(await writing.post("/produce", **fields | refund))
            page = await writing.get("/produce", topic=name, from_partition="0", from_offset="2")
            copied = fields_of(page)
            assert (copied["value_as"], copied["value_message"], copied["key_as"]) == (
                "schema",
                "shop.Refund",
                "schema",
            )
            assert "Offset 3" in text_of(await writing.post("/produce", **copied))
            first, second = [await record(writing, name, offset) for offset in (2, 3)]
            assert (first.key, first.value) == (second.key, second.value)


async def test_a_form_that_is_sent_twice_produces_one_message(writing: Pages, topic: Callable[..., str]) -> None:
    name = topic()
    form = {**fields_of(await writing.get("/produce", topic=name)), "value": "v"}
    answers = await asyncio.gather(*(writing.post("/produce", **form) for _ in range(2)))
    answers.append(await writing.post("/produce", **form))
    assert ["The message was produced" in each and "Offset 0" in text_of(each) for each in answers] == [True] * 3
    another = {**fields_of(await writing.get("/produce", topic=name)), "value": "v"}
    assert "Offset 1 " in text_of(await writing.post("/produce", **another))
    assert "Offset 2 " in text_of(await writing.post("/produce", **{**form, "value": "changed"}))


async def test_a_form_that_failed_may_be_sent_again_and_an_unconfirmed_message_is_not_called_lost(
    writing: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic()
    form = {**fields_of(await writing.get("/produce", topic=name)), "value": "v"}

    async def sent(*_: object) -> asyncio.Future[None]:
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        failed.set_exception(KafkaTimeoutError("no answer"))
        return failed

    with monkeypatch.context() as patched:
        patched.setattr("kafka.ui.produce_page.AsyncKafkaProducer.send", sent)
        page = text_of(await writing.post("/produce", **form))
    assert "The cluster did not confirm the message, which may have been written: no answer" in page
    assert "Offset 0 " in text_of(await writing.post("/produce", **form))
