"""`kafka produce` and `kafka consume` of typed keys and values, on the embedded broker and registry."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kafka
from harness.ports import free_port
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.schema_registry import Schema, SchemaRegistryClient
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
        newest = ("--registry", url, "--value-subject", f"{name}-value")  # the schema that is registered
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
        assert (refused.exit_code, "--value-schema: " in refused.stderr) == (2, True)


def test_avro_without_a_registry(cli: Cli, topic: Callable[..., str], order: str) -> None:
    name = topic()
    cli("produce", name, "--value", "avro", "--value-schema", order, stdin=LINES)
    assert values(cli, name) == [b"\2\2\2a", b"\4\0"]
    assert cli("consume", name, "--value", "avro", "--value-schema", order) == LINES


def test_a_bad_record_ends_the_command_behind_those_before_it_or_is_left_out(
    cli: Cli, topic: Callable[..., str], url: str
) -> None:
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
    assert "--skip-bad leaves such records out" in failed.stderr
    done = cli.run("consume", name, *typed, "--skip-bad")
    assert (done.exit_code, done.stdout) == (0, '{"id":1,"note":null}\n{"id":2,"note":null}\n')
    for offset in (1, 2, 3):
        assert f"offset {offset} of partition 0" in done.stderr
    assert "left out, as they could not be read: 3 records" in done.stderr
    short = cli.run("consume", name, "--value", "long", "--skip-bad")
    assert (short.exit_code, short.stdout) == (0, "")
    assert "expected the 8 bytes of a long, got 7" in short.stderr


def test_a_registry_that_does_not_answer_ends_the_command(cli: Cli, topic: Callable[..., str], order: str) -> None:
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
        (["--value", "avro"], "--value-format avro expects --registry URL, or --value-schema FILE"),
        (["--value-subject", "s"], "--value-subject expects --value-format avro, protobuf or json"),
        (["--value-message", "M"], "--value-message expects --value-format protobuf"),
        (["--value", "avro", "--value-message", "M"], "--value-message is for protobuf, not avro"),
        (["--key-format", "protobuf"], "--key-format protobuf expects --registry URL, or --key-schema FILE"),
        (["--value", "long", "--value-schema", __file__], "are for avro, protobuf and json, not long"),
        (["--value", "avro", "--value-schema", __file__], "--value-schema: "),
        (["--key-format", "json", "--key-subject", "s"], "--key-subject expects --registry URL"),
    ],
)
def test_options_that_do_not_go_together(cli: Cli, topic: Callable[..., str], arguments: list[str], told: str) -> None:
    name = topic()
    send(cli, name, b"x")
    for command in ("consume", "produce"):
        refused = cli.run(command, name, *arguments, stdin="x\n")
        assert refused.exit_code == 2, refused.output
        assert told in refused.stderr


def test_consume_refuses_what_has_no_text(cli: Cli, topic: Callable[..., str], tmp_path: Path) -> None:
    name = topic()
    refused = cli.run("consume", name, "--value", "long", "-o", str(tmp_path / "r.parquet"))
    assert (refused.exit_code, "parquet and arrow have bytes" in refused.stderr) == (2, True)
    refused = cli.run("consume", name, "--skip-bad")
    assert (refused.exit_code, "--skip-bad expects" in refused.stderr) == (2, True)
    for text in ("1.5", "x", "99999999999"):
        refused = cli.run("produce", name, "--value", "int", stdin=f"{text}\n")
        assert refused.exit_code == 2
        assert f"record 1: the value cannot be sent: expected an int, got '{text}'" in refused.stderr
    assert values(cli, name) == []
