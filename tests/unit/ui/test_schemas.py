"""Pages about a schema registry, and messages decoded by its schemas."""

import asyncio
import datetime
import json
import math
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from harness.ports import free_port
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryConnectionError,
    SchemaRegistryError,
    header_schema_id_serializer,
)
from kafka.schema_registry.avro import AvroSerializer
from unit.cli.cli_support import Cli
from unit.ui.ui_support import HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": "string"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    ],
}
LATER = {**ORDER, "fields": [*ORDER["fields"], {"name": "currency", "type": "string", "default": "EUR"}]}
VALUE = {"id": 7, "note": HOSTILE, "amount": Decimal("12.50"), "day": datetime.date(2026, 1, 31)}


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker with a registry."""
    with EmbeddedBroker(registry=True) as embedded:
        yield embedded


@pytest.fixture(scope="module")
def registry(broker: EmbeddedBroker) -> Iterator[SchemaRegistryClient]:
    """A client of a registry with two versions of orders-value, and a schema that references the first."""
    with SchemaRegistryClient({"url": broker.registry_url}) as client:
        client.register_schema("orders-value", Schema(json.dumps(ORDER)))
        client.register_schema("orders-value", Schema(json.dumps(LATER)))
        basket = {"type": "record", "name": "Basket", "fields": [{"name": "first", "type": "Order"}]}
        client.register_schema(
            "baskets-value", Schema(json.dumps(basket), references=[SchemaReference("Order", "orders-value", 1)])
        )
        client.register_schema(HOSTILE, Schema('"string"'))
        yield client


@pytest.fixture
async def pages(broker: EmbeddedBroker, registry: SchemaRegistryClient) -> AsyncIterator[Pages]:
    """A UI with the registry."""
    async with pages_of(settings(broker.bootstrap_servers, registry={"url": broker.registry_url})) as made:
        yield made


async def test_subjects_are_shown_with_their_latest_version(pages: Pages) -> None:
    page = await pages.get("/schemas")
    rows = {row[0]: row[1:3] for row in rows_of(page, "Subjects")}
    assert rows["orders-value"] == ["AVRO", "2"]
    assert rows["baskets-value"] == ["AVRO", "1"]
    assert "<script>" not in page
    some = await pages.get("/schemas", q="ord")
    assert [row[0] for row in rows_of(some, "Subjects")] == ["orders-value"]


async def test_subjects_are_paged(pages: Pages, registry: SchemaRegistryClient) -> None:
    for number in range(3):
        registry.register_schema(f"many-{number}", Schema('"string"'))
    first = await pages.get("/schemas", q="many-", rows=2)
    assert [row[0] for row in rows_of(first, "Subjects")] == ["many-0", "many-1"]
    assert 'href="?q=many-&amp;rows=2&amp;page=2">Next' in first
    second = await pages.get("/schemas", q="many-", rows=2, page=2)
    assert [row[0] for row in rows_of(second, "Subjects")] == ["many-2"]


async def test_a_schema_with_its_versions_settings_and_references(pages: Pages) -> None:
    newest = text_of(await pages.get("/schema", subject="orders-value"))
    assert "version 2" in newest
    assert "compatibility BACKWARD (the default)" in newest
    assert '"currency"' in newest
    first = text_of(await pages.get("/schema", subject="orders-value", version="1"))
    assert '"currency"' not in first
    basket = await pages.get("/schema", subject="baskets-value")
    assert rows_of(basket, "References") == [["Order", "orders-value", "1"]]
    hostile = await pages.get("/schema", subject=HOSTILE)
    assert "<script>" not in hostile


async def test_the_difference_of_two_versions(pages: Pages) -> None:
    page = await pages.get("/schema", subject="orders-value", version="2", **{"with": "1"})
    assert "<ins>+" in page
    assert "currency" in page
    back = await pages.get("/schema", subject="orders-value", version="1", **{"with": "2"})
    assert "<del>-" in back
    same = await pages.get("/schema", subject="orders-value", version="1", **{"with": "1"})
    assert "The schemas are identical." in same


async def test_a_schema_by_its_id(pages: Pages, registry: SchemaRegistryClient) -> None:
    number = registry.get_version("orders-value", 1).schema_id
    page = await pages.get("/schema", id=number)
    assert ["orders-value", "1"] in rows_of(page, "Subjects")


async def test_missing_subjects_and_schemas_are_reported(pages: Pages) -> None:
    missing = text_of(await pages.get("/schema", 404, subject=HOSTILE + "?"))
    assert f"The schema registry has no subject {HOSTILE + '?'!r}" in missing
    assert "has no version 9 of subject" in text_of(
        await pages.get("/schema", 404, subject="orders-value", version="9")
    )
    assert "no schema with id '99999'" in text_of(await pages.get("/schema", 404, id="99999"))
    assert "Expected a number as id, got 'x'" in text_of(await pages.get("/schema", 400, id="x"))


@pytest.fixture
def orders(broker: EmbeddedBroker, registry: SchemaRegistryClient, topic: Callable[..., str]) -> Callable[..., str]:
    """A function that creates a topic with a value in a registered schema, followed by other bytes."""

    def make(*more: bytes, conf: dict[str, object] | None = None) -> str:
        name = topic()
        registry.register_schema(f"{name}-value", Schema(json.dumps(ORDER)))
        serializer = AvroSerializer(registry, json.dumps(ORDER), conf=conf)
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, value_serializer=serializer) as producer:
            producer.send(name, VALUE, headers=[], timestamp_ms=1)
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for at, each in enumerate(more):
                producer.send(name, each, timestamp_ms=2 + at)
        return name

    return make


@pytest.mark.parametrize("conf", [None, {"schema.id.serializer": header_schema_id_serializer}])
async def test_messages_are_decoded_by_their_schema(
    pages: Pages, orders: Callable[..., str], conf: dict[str, object] | None
) -> None:
    name = orders(b"text", conf=conf)
    page = await pages.get("/messages", topic=name)
    values = [row[4] for row in rows_of(page, "Messages found")]
    assert values[0] == "text"
    text = values[1].removesuffix(" · 1 header")
    assert json.loads(text) == {
        "id": 7,
        "note": HOSTILE,
        "amount": "12.50",
        "day": "2026-01-31",
    }
    assert "<script>" not in page
    one = await pages.get("/message", topic=name, partition="0", offset="0")
    assert "AVRO, schema" in text_of(one)
    assert ('href="schema?id=' in one) == (conf is None)
    as_hex = await pages.get("/messages", topic=name, as_="hex", **{"as": "hex"})
    assert "12.50" not in text_of(as_hex)


async def test_an_undecodable_value_is_shown_as_bytes_with_the_reason(
    pages: Pages, orders: Callable[..., str], registry: SchemaRegistryClient
) -> None:
    number = registry.get_version("orders-value", 1).schema_id
    assert number is not None
    name = orders(b"\0" + number.to_bytes(4) + b"\x02\x08ab", b"\0\0\x01\x86\x9fxyz", b"\0\0")
    page = await pages.get("/messages", topic=name)
    short, unknown, damaged, good = (row[4] for row in rows_of(page, "Messages found"))
    assert damaged.startswith(f"00{number:08x}"[:8])
    assert f"AVRO, schema {number}: At note, byte" in damaged
    assert "schema 99999: the schema registry does not know this id" in unknown
    assert short == "0000"
    assert '"amount"' in good
    shown = text_of(await pages.get("/messages", topic=name, **{"as": "schema"}))
    assert "no schema id" in shown


async def test_an_unreachable_registry_does_not_delay_messages(
    broker: EmbeddedBroker, orders: Callable[..., str]
) -> None:
    name = orders(b"text")
    port = free_port()
    own = {"url": f"http://user:hidden@127.0.0.1:{port}"}
    async with pages_of(settings(broker.bootstrap_servers, registry=own)) as pages:
        for _ in range(2):
            found = text_of(await pages.get("/messages", topic=name))
            assert "the schema registry does not answer" in found
            assert "text" in found
        page = text_of(await pages.get("/schemas", 400))
        assert f"127.0.0.1:{port}" in page
        assert "hidden" not in found + page


async def test_lookups_of_unknown_ids_are_limited(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(*(b"\0" + (1_000_000 + number).to_bytes(4) + b"x" for number in range(40)))
    asked: list[int] = []
    assert pages.ui.registry is not None
    client = pages.ui.registry.client
    get_schema = client.get_schema
    monkeypatch.setattr(client, "get_schema", lambda number, _: (asked.append(number), get_schema(number))[1])
    page = await pages.get("/messages", topic=name)
    assert len(rows_of(page, "Messages found")) == 40
    assert len(set(asked)) == len(asked) == 20
    await pages.get("/messages", topic=name)
    assert len(set(asked)) == len(asked) == 40, "an id that is not known is remembered"


async def test_a_proxys_page_is_not_a_registry_response(
    pages: Pages, orders: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page said that the registry does not know the id."""

    def proxied(*asked: object) -> Schema:
        raise SchemaRegistryError(404, -1, "no such page")

    assert pages.ui.registry is not None
    monkeypatch.setattr(pages.ui.registry.client, "get_schema", proxied)
    found = text_of(await pages.get("/messages", topic=orders()))
    assert "the schema registry rejected the request: " in found
    assert "no such page" in found
    monkeypatch.setattr(pages.ui.registry.client, "get_subjects", lambda: ["a-subject"])
    monkeypatch.setattr(pages.ui.registry.client, "get_versions", proxied)
    found = text_of(await pages.get("/schemas", 400))
    assert "No such page" in found
    assert "deleted" not in found


async def test_without_a_registry_the_page_explains_how_to_set_one(broker: EmbeddedBroker) -> None:
    async with pages_of(settings(broker.bootstrap_servers)) as pages:
        for path in ("/schemas", "/schema"):
            assert "Start kafka ui --registry URL , or set" in text_of(await pages.get(path))


MIXED = {
    "type": "record",
    "name": "Mixed",
    "fields": [
        {"name": "share", "type": "double"},
        {"name": "data", "type": "bytes"},
        {"name": "either", "type": ["null", "string", "bytes"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    ],
}


async def test_avro_values_have_the_same_json_as_on_the_command_line(
    broker: EmbeddedBroker, pages: Pages, registry: SchemaRegistryClient, topic: Callable[..., str], tmp_path: Path
) -> None:
    at = datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)
    value = {"share": math.nan, "data": b"\x01\xff", "either": b"ab", "at": at, "amount": Decimal("1.10")}
    name = topic()
    serializer = AvroSerializer(registry, json.dumps(MIXED))
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, value_serializer=serializer) as producer:
        producer.send(name, value)
    [row] = rows_of(await pages.get("/messages", topic=name), "Messages found")
    assert row[4] == (
        '{"share":"NaN","data":"01ff","either":{"bytes":"6162"},"at":"2026-01-31T00:00:00+00:00","amount":"1.10"}'
    )
    run = Cli(broker.bootstrap_servers, str(tmp_path))
    typed = ("--value", "avro", "--registry", broker.registry_url)
    assert await asyncio.to_thread(run, "consume", name, *typed) == f"{row[4]}\n"


async def test_a_deleted_subject_is_not_listed(pages: Pages, registry: SchemaRegistryClient) -> None:
    registry.register_schema("gone-value", Schema('"string"'))
    assert [row[0] for row in rows_of(await pages.get("/schemas", q="gone-value"), "Subjects")] == ["gone-value"]
    registry.delete_subject("gone-value")
    assert rows_of(await pages.get("/schemas", q="gone-value"), "Subjects") == [
        ["No entry matches “gone-value”. Show all"]
    ]


MONEY = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
SALE = """syntax = "proto3"; package shop; import "money.proto";
message Other { string name = 1; }
message Sale { message Line { string item = 1; Money price = 2; } repeated Line lines = 1; bool paid = 2; }
"""


@pytest.fixture
def sales(registry: SchemaRegistryClient, topic: Callable[..., str]) -> Callable[..., str]:
    """A function that creates a topic with a Protobuf value, whose schema imports another, and a truncated value."""
    protobuf = pytest.importorskip("kafka.formats.protobuf.codec").Protobuf
    pytest.importorskip("grpc_tools")

    def make(subject: str) -> str:
        registry.register_schema(f"{subject}-money", Schema(MONEY, "PROTOBUF"))
        schema = Schema(SALE, "PROTOBUF", [SchemaReference("money.proto", f"{subject}-money", 1)])
        number = registry.register_schema(subject, schema)
        line = protobuf(SALE, "Sale.Line", references={"money.proto": MONEY})
        data = line.encode({"item": HOSTILE, "price": {"cents": 2**40}})
        framed = b"\0" + number.to_bytes(4) + b"\x04\x02\x00" + data  # the first message within the second one
        return topic(framed, framed[:-2])

    return make


async def test_protobuf_values_are_decoded_with_imported_schemas(pages: Pages, sales: Callable[..., str]) -> None:
    page = await pages.get("/messages", topic=sales("sales-value"))
    damaged, good = (row[4] for row in rows_of(page, "Messages found"))
    assert json.loads(good) == {"item": HOSTILE, "price": {"cents": str(2**40)}}
    assert "PROTOBUF, schema" in damaged
    assert "price" in damaged
    assert "<script>" not in page


async def test_an_unreachable_registry_is_asked_once_for_references(
    pages: Pages, sales: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = sales("lost-value")
    assert pages.ui.registry is not None
    asked: list[str] = []

    def silent(subject: str, *_: object, **__: object) -> None:
        asked.append(subject)
        raise SchemaRegistryConnectionError(0, -1, "no answer", "GET /subjects")

    with monkeypatch.context() as patch:
        patch.setattr(pages.ui.registry.client, "get_version", silent)
        found = text_of(await pages.get("/messages", topic=name))
        assert found.count("the schema registry does not answer") == 2
        assert asked == ["lost-value-money"]
    pages.ui.registry._silent_until = 0
    assert HOSTILE in json.loads(rows_of(await pages.get("/messages", topic=name), "Messages found")[1][4])["item"]
