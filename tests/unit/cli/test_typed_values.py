"""`kafka produce` and `kafka consume` with typed keys and values, on the embedded broker and registry."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import kafka
from harness.ports import free_port
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.formats.avro.object_decoder import AvroObjectEncoder
from kafka.formats.avro.schema import AvroDuration, parse
from kafka.schema_registry import Schema, SchemaRegistryClient
from kafka.schema_registry.avro_values import schema_of
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
JSON_SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
LINES = '{"id":1,"note":"a"}\n{"id":2,"note":null}\n'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with EmbeddedBroker(registry=True) as broker:
        yield broker.registry_url


@pytest.fixture
def order(tmp_path: Path) -> str:
    path = tmp_path / "order.avsc"
    path.write_text(json.dumps(ORDER))
    return str(path)


def values(cli: Cli, topic: str) -> list[Any]:
    return [each.value for each in kafka.read(topic, bootstrap_servers=cli.bootstrap_servers)]


def send(cli: Cli, topic: str, *sent: bytes) -> None:
    with KafkaProducer(bootstrap_servers=cli.bootstrap_servers) as producer:
        for each in sent:
            producer.send(topic, each)


@pytest.mark.parametrize(
    ("kind", "text", "data"),
    [
        ("short", "-2", struct.pack(">h", -2)),
        ("int", "7", struct.pack(">i", 7)),
        ("long", "1099511627776", struct.pack(">q", 2**40)),
        ("float", "0.1", struct.pack(">f", 0.1)),
        ("double", "0.1", struct.pack(">d", 0.1)),
        ("string", "text", b"text"),
        ("bytes", "text", b"text"),
        ("json", '{"a": [1]}', b'{"a": [1]}'),
    ],
)
def test_plain_keys_and_values_need_no_registry(
    cli: Cli, topic: Callable[..., str], kind: str, text: str, data: bytes
) -> None:
    name = topic()
    cli("produce", name, "--key-format", kind, "--value", kind, "-K", "|", stdin=f"{text}|{text}\n")
    [record] = kafka.read(name, bootstrap_servers=cli.bootstrap_servers)
    assert (record.key, record.value) == (data, data)
    typed = ("--key-format", kind, "--value-format", kind)
    assert cli("consume", name, *typed, "-K", "|") == f"{text}|{text}\n"
    assert cli("consume", name, *typed, "--key", text, "-f", "%k %s\\n") == f"{text} {text}\n"
    assert cli("consume", name, *typed, "--key", "other") == ""
    found = json.loads(cli("consume", name, *typed, "-f", "json"))
    assert found["value"] == (text if kind in ("string", "bytes") else json.loads(text))
    [row] = csv.DictReader(io.StringIO(cli("consume", name, *typed, "-f", "csv")))
    assert (row["key"], row["value"]) == (text, text)


def test_avro_by_the_registry(cli: Cli, topic: Callable[..., str], url: str, order: str) -> None:
    name = topic()
    cli("produce", name, "--value", "avro", "--registry", url, "--value-schema", order, stdin=LINES)
    with SchemaRegistryClient({"url": url}) as registry:
        schema_id = registry.get_latest_version(f"{name}-value").schema_id
        assert schema_id is not None
        assert [each[:5] for each in values(cli, name)] == [b"\0" + schema_id.to_bytes(4, "big")] * 2
        assert cli("consume", name, "--value", "avro", "--registry", url) == LINES
        found = cli("consume", name, "--value", "avro", "--registry", url, "-f", "json").splitlines()
        assert [json.loads(each)["value"] for each in found] == [{"id": 1, "note": "a"}, {"id": 2, "note": None}]
        second = cli("consume", name, "--value", "avro", "--registry", url, "--grep", '"id":2')
        assert second == LINES.splitlines(True)[1]
        newest = ("--registry", url, "--value-subject", f"{name}-value")  # the registered schema
        cli("produce", name, "--value", "avro", *newest, "-k", "k", stdin='{"id": 3}\n')
        assert cli("consume", name, "--value", "avro", *newest, "--last", "1") == '{"id":3,"note":null}\n'
        refused = cli.run("produce", name, "--value", "avro", *newest, stdin='{"id": 4}\n{"id": "5"}\n')
        assert refused.exit_code == 2
        assert "record 2: the value cannot be sent" in refused.stderr
        assert "id: expected" in refused.stderr


def test_json_schema_by_the_registry(cli: Cli, topic: Callable[..., str], url: str, tmp_path: Path) -> None:
    name = topic()
    file = tmp_path / "order.json"
    file.write_text(json.dumps(JSON_SCHEMA))
    typed = ("--value", "json", "--registry", url, "--value-schema", str(file))
    cli("produce", name, *typed, stdin='{"id":1}\n')
    assert values(cli, name)[0][:1] == b"\0"
    assert cli("consume", name, "--value", "json") == '{"id":1}\n'
    refused = cli.run("produce", name, *typed, stdin='{"id":"1"}\n')
    assert refused.exit_code == 2
    assert "record 1: the value cannot be sent" in refused.stderr


PROTO = """syntax = "proto3";
message Other { string name = 1; }
message Order { int64 id = 1; string note = 2; repeated string tags = 3; }
"""


def test_protobuf_by_the_registry(cli: Cli, topic: Callable[..., str], url: str, tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    name = topic()
    file = tmp_path / "order.proto"
    file.write_text(PROTO)
    named = ("--value-message", "Order")
    typed = ("--value", "protobuf", "--registry", url, "--value-schema", str(file), *named)
    cli("produce", name, *typed, stdin='{"id":"1","note":"a"}\n{"id":2,"tags":["x"]}\n')
    assert values(cli, name)[0][5:] == b"\x02\x02" + b"\x08\x01\x12\x01a", "the second message of its schema"
    read = ("--value", "protobuf", "--registry", url)
    found = [json.loads(line) for line in cli("consume", name, *read).splitlines()]
    assert found == [{"id": "1", "note": "a", "tags": []}, {"id": "2", "note": "", "tags": ["x"]}]
    newest = (*read, "--value-subject", f"{name}-value")
    cli("produce", name, *newest, *named, stdin='{"id":3}\n')
    cli("produce", name, *newest, stdin='{"name":"n"}\n')
    found = [json.loads(line) for line in cli("consume", name, *read, "--last", "2").splitlines()]
    assert found == [{"id": "3", "note": "", "tags": []}, {"name": "n"}], "each value names its message"
    refused = cli.run("produce", name, *typed, stdin='{"id":1}\n{"id":"x"}\n')
    assert refused.exit_code == 2
    assert "record 2: the value cannot be sent" in refused.stderr
    assert "id" in refused.stderr.partition("cannot be sent")[2]
    missing = cli.run("produce", name, "--value", "protobuf", *newest[2:], "--value-message", "Nothing", stdin="{}\n")
    assert missing.exit_code == 2
    assert "the schema has no message 'Nothing'; it has Other, Order" in missing.stderr


def test_protobuf_without_a_registry(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    name = topic()
    file = tmp_path / "order.proto"
    file.write_text(PROTO)
    typed = ("--value", "protobuf", "--value-schema", str(file), "--value-message", "Order")
    cli("produce", name, *typed, stdin='{"id":1,"note":"a"}\n')
    assert values(cli, name) == [b"\x08\x01\x12\x01a"]
    assert json.loads(cli("consume", name, *typed)) == {"id": "1", "note": "a", "tags": []}
    send(cli, name, b"\x12\x05a")
    failed = cli.run("consume", name, *typed)
    assert failed.exit_code == 1
    assert f"offset 1 of partition 0 of topic '{name}'" in failed.stderr
    assert "note" in failed.stderr
    file.write_text("no schema")
    for command in ("consume", "produce"):
        refused = cli.run(command, name, *typed, stdin="{}\n")
        assert (refused.exit_code, f"--value-schema {file}: " in refused.stderr) == (2, True)


@pytest.mark.parametrize("registered", [False, True])
def test_imports_of_a_proto_file_are_found_next_to_it(
    cli: Cli, topic: Callable[..., str], url: str, tmp_path: Path, registered: bool
) -> None:
    pytest.importorskip("grpc_tools")
    name, file = topic(), tmp_path / "order.proto"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "money.proto").write_text(
        'syntax = "proto3";\nimport "parts/unit.proto";\nmessage Money { int64 cents = 1; Unit unit = 2; }\n'
    )
    (tmp_path / "parts" / "unit.proto").write_text('syntax = "proto3";\nmessage Unit { string name = 1; }\n')
    file.write_text('syntax = "proto3";\nimport "parts/money.proto";\nmessage Order { Money price = 1; }\n')
    typed = ["--value", "protobuf", "--value-schema", str(file)]
    sent = '{"price":{"cents":"5","unit":{"name":"EUR"}}}\n'
    if registered:
        cli("produce", name, *typed, "--registry", url, stdin=sent)
        assert cli("consume", name, "--value", "protobuf", "--registry", url) == sent
        with SchemaRegistryClient({"url": url}) as registry:
            references = registry.get_latest_version(f"{name}-value").schema.references
            assert [each.name for each in references or ()] == ["parts/money.proto"]
    else:
        cli("produce", name, *typed, stdin=sent)
        assert cli("consume", name, *typed) == sent
    (tmp_path / "parts" / "unit.proto").unlink()
    refused = cli.run("produce", name, *typed, stdin=sent)
    assert refused.exit_code == 2
    assert "parts/unit.proto" in refused.stderr


def test_schemas_of_another_type(
    cli: Cli, topic: Callable[..., str], order: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("grpc_tools")
    name, proto, empty = topic(), tmp_path / "order.proto", tmp_path / "empty.avsc"
    proto.write_text(PROTO)
    empty.write_text("")
    old = tmp_path / "old.proto"
    old.write_text("message Old { optional int64 id = 1; bad }\n")
    for kind, file, told in (
        ("avro", proto, "got 'syntax = "),
        ("avro", proto, "for a .proto file, use --value protobuf"),
        ("protobuf", order, "for Avro or JSON Schema, use --value avro or json"),
        ("protobuf", order, 'got JSON: {"type": "record"'),
        ("avro", empty, f"--value-schema {empty}: the file is empty"),
        ("protobuf", empty, f"--value-schema {empty}: the file is empty"),
        ("protobuf", old, "line 1, column 38: Expected"),
    ):
        for registry in ((), ("--registry", "http://127.0.0.1:1")):
            refused = cli.run("produce", name, "--value", kind, "--value-schema", str(file), *registry, stdin="{}\n")
            assert refused.exit_code == 2
            assert told in refused.stderr
            assert '{"type":syntax' not in refused.stderr
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("kind", ["avro", "protobuf"])
def test_a_subject_that_is_not_registered(cli: Cli, topic: Callable[..., str], url: str, kind: str) -> None:
    name = topic()
    failed = cli.run("produce", name, "--value", kind, "--registry", url, stdin="{}\n")
    assert failed.exit_code == 1
    assert (
        f"the registry has no subject '{name}-value': register a schema there with --value-schema FILE" in failed.stderr
    )


def test_avro_without_a_registry(cli: Cli, topic: Callable[..., str], order: str) -> None:
    name = topic()
    cli("produce", name, "--value", "avro", "--value-schema", order, stdin=LINES)
    assert values(cli, name) == [b"\2\2\2a", b"\4\0"]
    assert cli("consume", name, "--value", "avro", "--value-schema", order) == LINES


def fixed(name: str, size: int, **logical: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, **logical}


def logical(kind: str, name: str, **further: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **further}


A, B = ({"type": "record", "name": name, "fields": [{"name": "x", "type": "int"}]} for name in ("ns.A", "ns.B"))
TYPES: list[tuple[Any, Any, Any]] = [
    ("null", None, None),
    ("boolean", True, True),
    ("int", -7, -7),
    ("long", 2**62, 2**62),
    ("float", 0.1, 0.1),
    ("float", float("nan"), "NaN"),
    ("double", 1e300, 1e300),
    ("double", 5.0, 5.0),
    ("double", float("-inf"), "-Infinity"),
    ("string", 'a"\u00e9', 'a"\u00e9'),
    ("bytes", b"\0\xff", "00ff"),
    (fixed("Two", 2), b"ab", "6162"),
    ({"type": "enum", "name": "E", "symbols": ["P", "Q"]}, "Q", "Q"),
    (logical("bytes", "decimal", precision=6, scale=2), Decimal("0.00"), "0.00"),
    (logical("bytes", "decimal", precision=40, scale=10), Decimal("-1E-10"), "-0.0000000001"),
    (fixed("Money", 8, logicalType="decimal", precision=18, scale=3), Decimal("12.345"), "12.345"),
    (logical("string", "uuid"), UUID(int=7), str(UUID(int=7))),
    (fixed("Id", 16, logicalType="uuid"), UUID(int=7), str(UUID(int=7))),
    (logical("int", "date"), date(2026, 1, 31), "2026-01-31"),
    (logical("int", "time-millis"), time(12, 0, 0, 1000), "12:00:00.001000"),
    (logical("long", "time-micros"), time(12), "12:00:00"),
    (logical("long", "timestamp-millis"), datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00+00:00"),
    (logical("long", "timestamp-micros"), datetime(1, 1, 1, 0, 0, 0, 1, UTC), "0001-01-01T00:00:00.000001+00:00"),
    (logical("long", "timestamp-nanos"), -1, "1969-12-31T23:59:59.999999999+00:00"),
    (logical("long", "local-timestamp-millis"), datetime(2026, 1, 1), "2026-01-01T00:00:00"),
    (logical("long", "local-timestamp-micros"), datetime(2026, 1, 1), "2026-01-01T00:00:00"),
    (logical("long", "local-timestamp-nanos"), 10**9, "1970-01-01T00:00:01.000000000"),
    (
        fixed("Span", 12, logicalType="duration"),
        AvroDuration(1, 2, 3),
        {"months": 1, "days": 2, "milliseconds": 3},
    ),
    ({"type": "array", "items": logical("int", "date")}, [date(2026, 1, 31)], ["2026-01-31"]),
    ({"type": "map", "values": "bytes"}, {"k": b"v"}, {"k": "76"}),
    (["null", logical("bytes", "decimal", precision=4, scale=2)], Decimal("0.25"), "0.25"),
    (["null", logical("bytes", "decimal", precision=4, scale=2)], None, None),
    (["string", "bytes"], "ab", "ab"),
    (["string", "bytes"], b"ab", {"bytes": "6162"}),
    (["bytes", "string"], "no", "no"),
    (["null", "string", logical("int", "date")], date(2026, 1, 31), {"int": "2026-01-31"}),
    (["string", "double"], float("nan"), {"double": "NaN"}),
    (["long", "double"], 5, 5),
    (["long", "double"], 5.0, 5.0),
    ([A, B], ("ns.A", {"x": 1}), {"x": 1}),
    ([A, B], ("ns.B", {"x": 1}), {"ns.B": {"x": 1}}),
    ([{"type": "map", "values": "int"}, A], {"x": 1}, {"map": {"x": 1}}),
    ([{"type": "array", "items": ["string", "bytes"]}, "null"], ["a", b"a"], ["a", {"bytes": "61"}]),
]
"""Types, values to write, and their JSON."""


def in_a_record(types: list[Any]) -> dict[str, Any]:
    """Return a record schema with fields of these types; names defined twice get a namespace."""
    fields = []
    for number, each in enumerate(types):
        wrapped = {"type": "record", "name": f"n{number}.W", "namespace": f"n{number}", "fields": []}
        wrapped["fields"].append({"name": "v", "type": each})
        fields.append({"name": f"f{number}", "type": wrapped})
    return {"type": "record", "name": "All", "fields": fields}


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("form", ["lines", "json", "csv"])
def test_every_avro_type_round_trips(
    cli: Cli, topic: Callable[..., str], url: str, tmp_path: Path, form: str, registered: bool
) -> None:
    cases = [each for each in TYPES if each[0] not in ([A, B],)]
    schema = in_a_record([type_ for type_, _, _ in cases])
    two = {"type": "record", "name": "Two", "fields": [{"name": "u", "type": {"type": "array", "items": [A, B]}}]}
    encoded = AvroObjectEncoder(parse(schema)).encode({f"f{at}": {"v": each[1]} for at, each in enumerate(cases)})
    records = AvroObjectEncoder(parse(two)).encode({"u": [("ns.B", {"x": 1}), ("ns.A", {"x": 2})]})
    json_of_all = {f"f{at}": {"v": each[2]} for at, each in enumerate(cases)}
    for type_, data, text in (
        (schema, encoded, json_of_all),
        (two, records, {"u": [{"ns.B": {"x": 1}}, {"x": 2}]}),
        ("string", b"\4ab", "ab"),
        (logical("bytes", "decimal", precision=4, scale=1), b"\2\5", "0.5"),
        ("double", struct.pack("<d", 0.1), 0.1),
    ):
        file = tmp_path / "schema.avsc"
        file.write_text(json.dumps(type_))
        name, again = topic(), topic()
        typed = ["--value", "avro", "--value-schema", str(file)]
        if registered:
            typed += ["--registry", url]
            with SchemaRegistryClient({"url": url}) as registry:
                number = registry.register_schema(f"{name}-value", schema_of(json.dumps(type_)))
            data = b"\0" + number.to_bytes(4, "big") + data
        send(cli, name, data)
        assert cli("consume", name, *typed) == json.dumps(text, ensure_ascii=False, separators=(",", ":")) + "\n"
        shown = cli("consume", name, *typed, "-f", form)
        cli("produce", again, *typed, "-f", form, stdin=shown)
        assert values(cli, again) == [data]


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("form", ["lines", "json", "csv"])
@pytest.mark.parametrize(("type_", "null", "more"), [("null", b"", []), (["string", "null"], b"\2", [b"\0\x08null"])])
def test_an_avro_null_is_not_a_tombstone(
    cli: Cli,
    topic: Callable[..., str],
    url: str,
    tmp_path: Path,
    type_: Any,
    null: bytes,
    more: list[bytes],
    form: str,
    registered: bool,
) -> None:
    file = tmp_path / "schema.avsc"
    file.write_text(json.dumps(type_))
    name, again, prefix = topic(), topic(), b""
    typed = ["--value", "avro", "--value-schema", str(file)]
    if registered:
        typed += ["--registry", url]
        with SchemaRegistryClient({"url": url}) as registry:
            prefix = b"\0" + registry.register_schema(f"{name}-value", schema_of(json.dumps(type_))).to_bytes(4, "big")
    sent = [prefix + null, None, *(prefix + each for each in more)]
    with KafkaProducer(bootstrap_servers=cli.bootstrap_servers) as producer:
        for each in sent:
            producer.send(name, each, key=b"k")
    how = [] if form == "json" else ["--null", "none"]
    how += ["-K", "|"] if form == "lines" else []
    shown = cli("consume", name, *typed, *how, "-f", form)
    assert ('{""null"":null}' if form == "csv" else '{"null":null}') in shown
    cli("produce", again, *typed, *how, "-f", form, stdin=shown)
    assert values(cli, again) == sent
    written = topic()
    cli("produce", written, *typed, stdin="null\n")
    cli("produce", written, *typed, "-f", "json", stdin='{"key":"k","value":null}\n{"value":{"null":null}}\n')
    assert values(cli, written) == [prefix + null, None, prefix + null]


def test_a_record_schema_rejects_null(cli: Cli, topic: Callable[..., str], url: str, order: str) -> None:
    for registered in ((), ("--registry", url)):
        refused = cli.run("produce", topic(), "--value", "avro", "--value-schema", order, *registered, stdin="null\n")
        assert refused.exit_code == 2
        assert "Expected an object for record Order, got null" in refused.stderr


def test_accepted_forms_of_avro_values(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "schema.avsc"
    typed = ("--value", "avro", "--value-schema", str(file))
    decimal, moment = logical("bytes", "decimal", precision=20, scale=4), logical("long", "timestamp-micros")
    for type_, text, shown in (
        (decimal, "0.25", '"0.2500"'),
        (decimal, "1234567890123456.7891", '"1234567890123456.7891"'),
        (decimal, "2", '"2.0000"'),
        (decimal, "1e2", '"100.0000"'),
        (moment, '"2026-01-01T01:00:00.5+01:00"', '"2026-01-01T00:00:00.500000+00:00"'),
        (moment, '"2026-01-01 00:00Z"', '"2026-01-01T00:00:00+00:00"'),
        (moment, "1000000", '"1970-01-01T00:00:01+00:00"'),
        (["null", "long"], '{"long": 5}', "5"),
        ("double", '"Infinity"', '"Infinity"'),
        ("double", "3", "3.0"),
    ):
        name = topic()
        file.write_text(json.dumps(type_))
        cli("produce", name, *typed, stdin=f"{text}\n")
        assert cli("consume", name, *typed) == f"{shown}\n"


@pytest.mark.parametrize(
    ("type_", "text", "told"),
    [
        ("long", '"bad"', 'At v: expected a long, got "bad"'),
        ("int", "2147483648", "At v: expected an int, got 2147483648"),
        (["null", "long"], '"5"', 'At v: expected a long, got "5"'),
        ("double", "NaN", 'NaN is not JSON; write it as the string "NaN"'),
        ("float", "1e39", "At v: expected a float, got"),
        ("bytes", '"abc"', 'At v: expected bytes in hexadecimal, got "abc"'),
        (fixed("F", 2), '"61"', 'At v: expected 2 bytes in hexadecimal, got "61"'),
        (logical("bytes", "decimal", precision=4, scale=2), "0.125", "a decimal of at most 4 digits, 2 of them behind"),
        (logical("bytes", "decimal", precision=4, scale=2), "1e999999999", "a decimal of at most 4 digits"),
        (logical("long", "timestamp-millis"), '"2026-01-01T00:00:00"', "a time with its time zone such as"),
        (logical("long", "timestamp-millis"), '"2026-01-01T00:00:00.0001Z"', "at most 3 digits of a second"),
        (logical("long", "local-timestamp-millis"), '"2026-01-01T00:00:00Z"', "a time without a time zone"),
        (logical("int", "date"), '"2026-02-30"', "a date such as 2026-01-31"),
        (logical("string", "uuid"), '"x"', "expected a UUID"),
        ({"type": "enum", "name": "E", "symbols": ["P", "Q"]}, '"R"', "expected one of P, Q, got"),
        ({"type": "array", "items": "int"}, "[1,true]", "At v[1]: expected an int, got true"),
        ({"type": "map", "values": "int"}, '{"k":null}', "At v['k']: expected an int, got null"),
        (["null", A], '{"y":1}', "At v: record ns.A has no field 'y'"),
        (["string", "long"], "true", "expected a value of union [string, long], got true"),
    ],
)
def test_values_that_do_not_fit_an_avro_type(
    cli: Cli, topic: Callable[..., str], tmp_path: Path, type_: Any, text: str, told: str
) -> None:
    name, file = topic(), tmp_path / "schema.avsc"
    file.write_text(json.dumps({"type": "record", "name": "R", "fields": [{"name": "v", "type": type_}]}))
    typed = ("--value", "avro", "--value-schema", str(file))
    refused = cli.run("produce", name, *typed, stdin=f'{{"v":{text}}}\n')
    assert refused.exit_code == 2
    assert told in refused.stderr
    assert values(cli, name) == []


def test_unknown_and_missing_fields(cli: Cli, topic: Callable[..., str], url: str, order: str) -> None:
    for typed in (["--registry", url, "--value-schema", order], ["--value-schema", order]):
        name = topic()
        refused = cli.run("produce", name, "--value", "avro", *typed, stdin='{"id":4,"nte":"x"}\n')
        assert refused.exit_code == 2
        assert "Record Order has no field 'nte'; did you mean 'note'?" in refused.stderr
        refused = cli.run("produce", name, "--value", "avro", *typed, stdin='{"note":"x"}\n')
        assert refused.exit_code == 2
        assert "The field 'id' of record Order, which has no default, is missing" in refused.stderr
        assert values(cli, name) == []


def test_records_sent_before_a_bad_one_are_reported_without_usage(
    cli: Cli, topic: Callable[..., str], order: str
) -> None:
    name = topic()
    typed = ("--value", "avro", "--value-schema", order)
    for lines, sent in (
        ('{"id":10}\n{"id":"bad"}\n{"id":11}\n', "1 record was sent before"),
        ('{"id":"bad"}\n', "0 records were sent before"),
        ('{"id":1}\n{"id":2}\n{"id":\n', "2 records were sent before"),
    ):
        refused = cli.run("produce", name, *typed, stdin=lines)
        assert refused.exit_code == 2
        assert sent in refused.stderr
        assert "Usage" not in refused.stderr
    assert len(values(cli, name)) == 3
    refused = cli.run("produce", name, "-f", "json", stdin='{"value":"x"}\nno\n')
    assert (refused.exit_code, "Usage" in refused.stderr) == (2, False)
    assert "line 2 is not a record" in refused.stderr
    assert "1 record was sent before" in refused.stderr


def test_the_reader_schema_comes_from_a_subject(cli: Cli, topic: Callable[..., str], url: str, order: str) -> None:
    name = topic()
    cli("produce", name, "--value", "avro", "--registry", url, "--value-schema", order, stdin=LINES)
    further = {**ORDER, "fields": [*ORDER["fields"], {"name": "more", "type": "int", "default": 5}]}
    with SchemaRegistryClient({"url": url}) as registry:
        registry.register_schema(f"{name}-view", Schema(json.dumps(ORDER), "AVRO"))
        registry.register_schema(f"{name}-view", Schema(json.dumps(further), "AVRO"))
    read = ("consume", name, "--value", "avro", "--registry", url)
    assert cli(*read, "--value-subject", f"{name}-view", "-n", "1") == '{"id":1,"note":"a","more":5}\n'
    missing = cli.run(*read, "--value-subject", "nowhere")
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "Subject 'nowhere' not found" in missing.stderr
    both = cli.run(*read, "--value-subject", f"{name}-view", "--value-schema", order)
    assert both.exit_code == 2
    assert "--value-schema and --value-subject are mutually exclusive" in both.stderr
    for kind in ("protobuf", "json"):
        refused = cli.run("consume", name, "--value", kind, "--registry", url, "--value-subject", f"{name}-view")
        assert refused.exit_code == 2
        assert "--value-subject has no effect when reading" in refused.stderr


def test_csv_rows_are_fields_of_avro_values(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    file, rows = tmp_path / "row.avsc", tmp_path / "rows.csv"
    price = logical("bytes", "decimal", precision=9, scale=2)
    fields = [("id", "long"), ("note", ["null", "string"]), ("ok", "boolean"), ("price", price)]
    fields += [("day", ["null", logical("int", "date")]), ("tags", {"type": "array", "items": "string"})]
    listed = [{"name": name, "type": type_} for name, type_ in fields]
    file.write_text(json.dumps({"type": "record", "name": "R", "fields": listed}))
    typed = ("--value", "avro", "--value-schema", str(file))
    rows.write_text('id,note,ok,price,day,tags\n7,12,true,0.25,2026-01-31,"[""a""]"\n8,,false,1,,[]\n')
    name = topic()
    cli("produce", name, str(rows), *typed, "--key-column", "id")
    assert cli("consume", name, *typed, "-K", "|") == (
        '7|{"id":7,"note":"12","ok":true,"price":"0.25","day":"2026-01-31","tags":["a"]}\n'
        '8|{"id":8,"note":null,"ok":false,"price":"1.00","day":null,"tags":[]}\n'
    )
    rows.write_text("id,note,ok,price,day,tags\n1,a,true,1,-,[]\nx,a,true,1,-,[]\n")
    refused = cli.run("produce", name, str(rows), *typed, "--null", "-")
    assert refused.exit_code == 2
    assert 'record 2: the value cannot be sent: At id: expected a long, got "x" (1 record was sent' in refused.stderr
    rows.write_text("id,nte\n1,a\n")
    refused = cli.run("produce", name, str(rows), *typed)
    assert "Record R has no field 'nte'; did you mean 'note'?" in refused.stderr


@pytest.mark.parametrize("kind", ["avro", "protobuf", "json"])
@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_a_key_column_need_not_be_a_field(
    kind: str, format_: str, cli: Cli, topic: Callable[..., str], tmp_path: Path
) -> None:
    pytest.importorskip("grpc_tools")
    pa, csv, parquet = (pytest.importorskip(f"pyarrow{each}") for each in ("", ".csv", ".parquet"))
    name, file, rows = topic(), tmp_path / "row.schema", tmp_path / f"rows.{format_}"
    schemas = {
        "avro": json.dumps({"type": "record", "name": "R", "fields": [{"name": "note", "type": "string"}]}),
        "protobuf": 'syntax = "proto3"; message R { string note = 1; }',
        "json": json.dumps({"properties": {"note": {"type": "string"}}, "additionalProperties": False}),
    }
    file.write_text(schemas[kind])
    write = parquet.write_table if format_ == "parquet" else csv.write_csv
    write(pa.table({"shop": pa.array([7, -8]), "note": ["a", "b"]}), rows)
    typed = ("--value", kind, "--value-schema", str(file))
    cli("produce", name, str(rows), *typed, "--key-column", "shop", "--key-format", "long")
    read = typed if kind != "json" else typed[:2]
    assert cli("consume", name, *read, "--key-format", "long", "-K", "|") == '7|{"note":"a"}\n-8|{"note":"b"}\n'


def test_likely_mistakes_are_reported(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    name, file = topic(), tmp_path / "row.avsc"
    file.write_text('"string"')
    written = cli.run("produce", name, "--value", "avro", "--value-schema", str(file), stdin='"x"\n')
    assert written.exit_code == 0
    assert "values are written without a schema id because no registry is given" in written.stderr
    written = cli.run("produce", name, "--key", "long", stdin="x\n")
    assert (written.exit_code, "use --key-format long" in written.stderr) == (0, True)
    read = cli.run("consume", name, "--key", "double")
    assert "--key double is the key 'double', not a format" in read.stderr
    read = cli.run("consume", name, "--key", "double", "--key-format", "string")
    assert "not a format" not in read.stderr
    framed = topic()
    send(cli, framed, b"\0\0\0\0\7\2x")
    read = cli.run("consume", framed, "--value", "avro", "--value-schema", str(file))
    assert read.exit_code == 1
    assert "it begins like a value with the schema id 7, which is read by a schema registry" in read.stderr


def test_csv_rows_are_fields_of_protobuf_messages(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    name, file, rows = topic(), tmp_path / "order.proto", tmp_path / "rows.csv"
    file.write_text(PROTO)
    rows.write_text('id,note,tags\n7,12,"[""a""]"\n,,\n')
    typed = ("--value", "protobuf", "--value-schema", str(file), "--value-message", "Order")
    cli("produce", name, str(rows), *typed)
    assert cli("consume", name, *typed) == ('{"id":"7","note":"12","tags":["a"]}\n{"id":"0","note":"","tags":[]}\n')


PRODUCT = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "price": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "ok": {"$ref": "#/$defs/flag"},
        "note": {"type": "string"},
        "code": {"type": ["string", "integer", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "level": {"enum": [1, 2]},
    },
    "required": ["id"],
    "$defs": {"flag": {"type": "boolean"}},
}


@pytest.mark.parametrize("registered", ["no", "file", "subject"])
def test_csv_rows_are_properties_of_a_json_schema(
    cli: Cli, topic: Callable[..., str], url: str, tmp_path: Path, registered: str
) -> None:
    pytest.importorskip("jsonschema")
    name, file, rows = topic(), tmp_path / "product.json", tmp_path / "rows.csv"
    file.write_text(json.dumps(PRODUCT))
    typed = ["--value", "json"] + ([] if registered == "subject" else ["--value-schema", str(file)])
    if registered != "no":
        typed += ["--registry", url]
    if registered == "subject":
        typed += ["--value-subject", f"{name}-products"]
        with SchemaRegistryClient({"url": url}) as registry:
            registry.register_schema(f"{name}-products", Schema(json.dumps(PRODUCT), "JSON"))
    rows.write_text('id,price,ok,note,code,tags,level,more\n7,0.5,true,12,34,"[""a""]",1,5\n8,,,,,,,\n')
    cli("produce", name, str(rows), *typed)
    shown = cli("consume", name, "--value", "json").splitlines()
    assert [json.loads(each) for each in shown] == [
        {"id": 7, "price": 0.5, "ok": True, "note": "12", "code": "34", "tags": ["a"], "level": 1, "more": "5"},
        {"id": 8, "price": None, "note": "", "code": None, "more": ""},
    ]
    rows.write_text("id,note,price,ok\n-,-,-,-\n")
    refused = cli.run("produce", name, str(rows), *typed, "--null", "-")
    assert (refused.exit_code, "'id' is a required property" in refused.stderr) == (2, True)
    rows.write_text("id,ok\nx,true\n")
    refused = cli.run("produce", name, str(rows), *typed)
    assert (refused.exit_code, "At id: 'x' is not of type 'integer'" in refused.stderr) == (2, True)
    rows.write_text("id,tags\n1,[\n")
    refused = cli.run("produce", name, str(rows), *typed)
    assert (refused.exit_code, "at tags: expected JSON" in refused.stderr) == (2, True)


def test_csv_rows_become_json_strings_without_a_schema(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    name, rows = topic(), tmp_path / "rows.csv"
    rows.write_text("id,note\n7,\n")
    cli("produce", name, str(rows), "--value", "json")
    assert values(cli, name) == [b'{"id": "7", "note": ""}']


def test_a_json_null_is_a_value(cli: Cli, topic: Callable[..., str], url: str, tmp_path: Path) -> None:
    pytest.importorskip("jsonschema")
    name, file = topic(), tmp_path / "schema.json"
    file.write_text('{"type": ["integer", "null"]}')
    cli("produce", name, "--value", "json", "--registry", url, "--value-schema", str(file), stdin="null\n1\n")
    assert [each[5:] for each in values(cli, name)] == [b"null", b"1"]


def test_arrow_rows_are_values(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    name, file, rows = topic(), tmp_path / "row.avsc", tmp_path / "rows.parquet"
    fields = [("data", "bytes"), ("day", logical("int", "date"))]
    fields.append(("price", logical("bytes", "decimal", precision=9, scale=2)))
    listed = [{"name": name, "type": type_} for name, type_ in fields]
    file.write_text(json.dumps({"type": "record", "name": "R", "fields": listed}))
    row = {"data": b"\xff", "day": date(2026, 1, 31), "price": Decimal("0.25")}
    parquet.write_table(pa.Table.from_pylist([row]), rows)
    typed = ("--value", "avro", "--value-schema", str(file))
    cli("produce", name, str(rows), *typed)
    assert cli("consume", name, *typed) == '{"data":"ff","day":"2026-01-31","price":"0.25"}\n'


def test_arrow_maps_are_maps(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    name, plain, file, rows = topic(), topic(), tmp_path / "row.avsc", tmp_path / "rows.parquet"
    stock = {"type": "map", "values": "int"}
    listed = [{"name": "stock", "type": stock}, {"name": "shops", "type": {"type": "array", "items": stock}}]
    file.write_text(json.dumps({"type": "record", "name": "R", "fields": listed}))
    of_map = pa.map_(pa.string(), pa.int32())
    columns = {
        "stock": pa.array([[("nail", 3), ("nut", 4)], []], of_map),
        "shops": pa.array([[[("bolt", 5)], []], []], pa.list_(of_map)),
    }
    parquet.write_table(pa.table(columns), rows)
    typed = ("--value", "avro", "--value-schema", str(file))
    expected = '{"stock":{"nail":3,"nut":4},"shops":[{"bolt":5},{}]}\n{"stock":{},"shops":[]}\n'
    cli("produce", name, str(rows), *typed)
    assert cli("consume", name, *typed) == expected
    cli("produce", plain, str(rows))
    assert [json.loads(line) for line in cli("consume", plain, "--format", "lines").splitlines()] == [
        json.loads(line) for line in expected.splitlines()
    ]
    parquet.write_table(pa.table({"stock": pa.array([[("nail", 3), ("nail", 4)]], of_map)}), rows)
    failed = cli.run("produce", plain, str(rows))
    assert failed.exit_code == 2
    assert "a map with duplicate keys cannot be written as JSON" in failed.stderr
    assert "'nail'" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_bad_record_ends_the_command_or_is_skipped(cli: Cli, topic: Callable[..., str], url: str) -> None:
    name = topic()
    with SchemaRegistryClient({"url": url}) as registry:
        schema_id = registry.register_schema(f"{name}-value", Schema(json.dumps(ORDER), "AVRO"))
    prefix = b"\0" + schema_id.to_bytes(4, "big")
    send(cli, name, prefix + b"\2\0", prefix + b"\2\4", b"\0\0\0\xff\1x", b"text", prefix + b"\4\0")
    typed = ("--value", "avro", "--registry", url)
    failed = cli.run("consume", name, *typed)
    assert (failed.exit_code, failed.stdout) == (1, '{"id":1,"note":null}\n')
    assert f"offset 1 of partition 0 of topic '{name}'" in failed.stderr
    assert f"schema id {schema_id}" in failed.stderr
    assert "note" in failed.stderr
    assert "use --skip-bad to skip such records" in failed.stderr
    done = cli.run("consume", name, *typed, "--skip-bad")
    assert (done.exit_code, done.stdout) == (0, '{"id":1,"note":null}\n{"id":2,"note":null}\n')
    for offset in (1, 2, 3):
        assert f"offset {offset} of partition 0" in done.stderr
    assert "skipped 3 records that could not be read" in done.stderr
    short = cli.run("consume", name, "--value", "long", "--skip-bad")
    assert (short.exit_code, short.stdout) == (0, "")
    assert "expected the 8 bytes of a long, got 7" in short.stderr


def test_an_unreachable_registry_ends_the_command(cli: Cli, topic: Callable[..., str], order: str) -> None:
    name = topic()
    send(cli, name, b"\0\0\0\0\1\2\0")
    url = f"http://127.0.0.1:{free_port()}"
    down = ("--value", "avro", "--registry", url, "--registry-option", "max.retries=0")
    failed = cli.run("consume", name, *down, "--skip-bad")
    assert (failed.exit_code, failed.stdout) == (3, "")
    assert url.removeprefix("http://") in failed.stderr
    failed = cli.run("produce", name, *down, "--value-schema", order, stdin=LINES)
    assert failed.exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--value", "avro"], "--value-format avro requires --registry URL, or --value-schema FILE"),
        (["--value-subject", "s"], "--value-subject requires --value-format avro, protobuf or json"),
        (["--value-message", "M"], "--value-message requires --value-format protobuf"),
        (["--value", "avro", "--value-message", "M"], "--value-message applies to protobuf, not avro"),
        (["--key-format", "protobuf"], "--key-format protobuf requires --registry URL, or --key-schema FILE"),
        (["--value", "long", "--value-schema", __file__], "apply to avro, protobuf and json, not long"),
        (
            ["--value", "avro", "--value-schema", __file__],
            f"--value-schema {__file__}: Expected an Avro schema in JSON",
        ),
        (["--key-format", "json", "--key-subject", "s"], "--key-subject requires --registry URL"),
    ],
)
def test_mutually_exclusive_options(cli: Cli, topic: Callable[..., str], arguments: list[str], told: str) -> None:
    name = topic()
    send(cli, name, b"x")
    for command in ("consume", "produce"):
        refused = cli.run(command, name, *arguments, stdin="x\n")
        assert refused.exit_code == 2, refused.output
        assert told in refused.stderr


def test_consume_rejects_formats_without_text(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    name = topic()
    refused = cli.run("consume", name, "--value", "long", "-o", str(tmp_path / "r.parquet"))
    assert (refused.exit_code, "parquet and arrow contain bytes" in refused.stderr) == (2, True)
    refused = cli.run("consume", name, "--skip-bad")
    assert (refused.exit_code, "--skip-bad requires" in refused.stderr) == (2, True)
    for text in ("1.5", "x", "99999999999"):
        refused = cli.run("produce", name, "--value", "int", stdin=f"{text}\n")
        assert refused.exit_code == 2
        assert f"record 1: the value cannot be sent: expected an int, got '{text}'" in refused.stderr
    assert values(cli, name) == []
