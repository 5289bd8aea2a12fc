"""Values of tests in every format, with and without a schema registry."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from kafka.broker import EmbeddedBroker
from kafka.errors import KafkaConfigurationError
from kafka.pipelines.declaration import FieldFormat
from kafka.pipelines.testing.value_bytes import Coder
from kafka.schema_registry import SchemaRegistryClient

VALUE = {"carrier": "UA", "delay": 5.5}
SCHEMAS = {
    "avro": (
        '{"type":"record","name":"F","fields":[{"name":"carrier","type":"string"},{"name":"delay","type":"double"}]}'
    ),
    "json-schema": '{"type":"object","properties":{"carrier":{"type":"string"},"delay":{"type":"number"}}}',
    "protobuf": 'syntax = "proto3"; message F { string carrier = 1; double delay = 2; }',
}


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistryClient]:
    """The client of a registry."""
    with EmbeddedBroker(registry=True) as broker, SchemaRegistryClient({"url": broker.registry_url}) as client:
        yield client


def coder(declared: dict[str, Any], topic: str = "t", client: Any = None) -> Coder:
    """Return the coder for values of a format."""
    return Coder("value", FieldFormat.model_validate(declared), topic, client)


@pytest.mark.parametrize(
    ("format_", "value", "data"),
    [
        ("bytes", "abc", b"abc"),
        ("string", "é", "é".encode()),
        ("string", 5, b"5"),
        ("short", -2, b"\xff\xfe"),
        ("int", 1, b"\x00\x00\x00\x01"),
        ("long", 1, b"\x00" * 7 + b"\x01"),
        ("double", 1.0, b"\x3f\xf0" + b"\x00" * 6),
        ("json", {"a": [1, None]}, b'{"a":[1,null]}'),
        ("json", {"t": datetime.date(2024, 1, 31)}, b'{"t":"2024-01-31"}'),
        ("json", None, None),
    ],
)
def test_formats_without_a_schema(format_: str, value: Any, data: bytes | None) -> None:
    made = coder({"format": format_, **({"schema": "a int"} if format_ == "json" else {})})
    assert made.encode(value) == data
    if isinstance(value, (str, float)) or value is None:
        assert made.decode(data) == value


@pytest.mark.parametrize("format_", SCHEMAS)
def test_schemas_in_the_declaration(format_: str, registry: SchemaRegistryClient) -> None:
    declared = {"format": format_, "schema": SCHEMAS[format_]}
    plain = coder(declared)
    assert plain.decode(plain.encode(VALUE)) == VALUE
    framed = coder(declared, f"given-{format_}", registry)
    data = framed.encode(VALUE)
    assert data is not None
    assert data[:1] == b"\0"
    assert framed.decode(data) == VALUE
    assert registry.get_latest_version(f"given-{format_}-value").schema.schema_str


@pytest.mark.parametrize("format_", SCHEMAS)
def test_schemas_in_the_registry(format_: str, registry: SchemaRegistryClient) -> None:
    coder({"format": format_, "schema": SCHEMAS[format_]}, f"first-{format_}", registry).encode(VALUE)
    other = coder({"format": format_, "subject": f"first-{format_}-value"}, "other", registry)
    assert other.decode(other.encode(VALUE)) == VALUE


def test_values_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="expected a short, got 'x'"):
        coder({"format": "short"}).encode("x")
    with pytest.raises(ValueError, match="delay"):
        coder({"format": "avro", "schema": SCHEMAS["avro"]}).encode({"carrier": "UA", "delay": "late"})
    with pytest.raises(KafkaConfigurationError, match="cannot be encoded: declare their schema or a registry"):
        coder({"format": "avro"}).encode(VALUE)
    with pytest.raises(KafkaConfigurationError, match="cannot be decoded"):
        coder({"format": "avro"}).decode(b"\0")
