"""confluent-kafka's serializers of plain values, and the binary form of schema ids, match the originals."""

from __future__ import annotations

import io
import uuid
from typing import Any

import pytest

from kafka import serialization
from kafka.schema_registry import (
    SchemaId,
    dual_schema_id_deserializer,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from kafka.serialization import MessageField, SerializationContext, SerializationError

pytestmark = pytest.mark.once

GUID = "97e8d6a3-fde9-db8e-1312-a98fe4cbd64e"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Double", 1.5),
        ("Double", -0.0),
        ("Integer", 7),
        ("Integer", -(2**31)),
        ("String", "grün"),
        ("Double", None),
        ("Integer", None),
        ("String", None),
    ],
)
def test_bytes_match_the_original(kind: str, value: Any) -> None:
    original = pytest.importorskip("confluent_kafka.serialization")
    data = getattr(serialization, f"{kind}Serializer")()(value)
    assert data == getattr(original, f"{kind}Serializer")()(value)
    assert getattr(serialization, f"{kind}Deserializer")()(data) == value


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (serialization.DoubleSerializer(), "x"),
        (serialization.IntegerSerializer(), 2**31),
        (serialization.StringSerializer(), 7),
        (serialization.StringSerializer("ascii"), "ü"),
        (serialization.DoubleDeserializer(), b"123"),
        (serialization.IntegerDeserializer(), b""),
        (serialization.StringDeserializer(), b"\xff"),
    ],
)
def test_invalid_values(call: Any, value: Any) -> None:
    with pytest.raises(SerializationError):
        call(value)


def test_names_of_subjects() -> None:
    key = SerializationContext("orders", MessageField.KEY)
    assert topic_subject_name_strategy(key, "n.Order") == "orders-key"
    assert topic_record_subject_name_strategy(key, "n.Order") == "orders-n.Order"
    assert record_subject_name_strategy(None, "n.Order") == "n.Order"
    assert topic_record_subject_name_strategy(key, None) is None
    with pytest.raises(ValueError, match="SerializationContext"):
        topic_subject_name_strategy(None, "n.Order")


def test_ids_before_the_value() -> None:
    data = prefix_schema_id_serializer(b"value", None, SchemaId("AVRO", 258))
    assert data == b"\0\0\0\1\2value"
    found = SchemaId("AVRO")
    assert dual_schema_id_deserializer(data, None, found).read() == b"value"
    assert found.id == 258


@pytest.mark.parametrize("field", [MessageField.KEY, MessageField.VALUE])
@pytest.mark.parametrize("headers", [list, dict])
def test_guids_in_a_header(field: MessageField, headers: Any) -> None:
    ctx = SerializationContext("orders", field, headers())
    assert header_schema_id_serializer(b"value", ctx, SchemaId("AVRO", 258, GUID)) == b"value"
    assert dict(ctx.headers) == {f"__{field}_schema_id": b"\1" + uuid.UUID(GUID).bytes}
    found = SchemaId("AVRO")
    assert dual_schema_id_deserializer(b"value", ctx, found).read() == b"value"
    assert str(found.guid) == GUID


def test_headers_that_cannot_be_extended() -> None:
    for ctx in (None, SerializationContext("t", "value"), SerializationContext("t", "value", ())):
        with pytest.raises(SerializationError, match=r"headers=\[\]"):
            header_schema_id_serializer(b"", ctx, SchemaId("AVRO", 1, GUID))


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\1", b"\1" + bytes(15), b"hello"])
def test_bytes_without_a_schema_id(data: bytes) -> None:
    with pytest.raises(SerializationError, match="schema id"):
        SchemaId("AVRO").from_bytes(io.BytesIO(data))


def test_missing_ids() -> None:
    with pytest.raises(SerializationError, match="no id"):
        SchemaId("AVRO").id_to_bytes()
    with pytest.raises(SerializationError, match="no GUID"):
        SchemaId("AVRO", 1).guid_to_bytes()
