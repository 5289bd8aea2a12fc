"""Errors of values can be passed between processes, such as those of Spark tasks and worker processes."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from kafka.consumer.records.build_records import deserialization_error
from kafka.errors import RecordDeserializationError
from kafka.formats.avro.errors import AvroDecodeError, AvroEncodeError
from kafka.formats.json.column_encoder import JsonEncodeError
from kafka.formats.json.validation import JsonInvalidError
from kafka.formats.protobuf.errors import ProtobufDecodeError, ProtobufEncodeError
from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError
from kafka.record import ConsumerRecord
from kafka.serialization import SerializationError
from kafka.structs import TopicPartition

pytestmark = pytest.mark.once


def test_an_error_of_two_types_is_pickled_as_the_one_that_has_a_name() -> None:
    record = ConsumerRecord("t", 0, offset=5, value=b"x")
    error = deserialization_error(record, "value", json.JSONDecodeError("why", "doc", 2))
    assert isinstance(error, json.JSONDecodeError)
    made = pickle.loads(pickle.dumps(error))
    assert type(made) is RecordDeserializationError
    assert str(made) == str(error)
    assert (made.offset, made.record, made.part) == (5, record, "value")


@pytest.mark.parametrize(
    "error",
    [
        AvroDecodeError("items[3].price", 7, "expected a long"),
        AvroEncodeError("items[3].price", "expected a long"),
        AvroEncodeError("price", "expected a long", 5),
        JsonEncodeError(5, "price: expected a number"),
        JsonInvalidError("price", "expected a number"),
        ProtobufDecodeError("At price: expected a number", "price"),
        ProtobufEncodeError("Row 5: price: expected a number"),
        SchemaRegistryError(404, 40403, "not found", "GET /schemas/ids/1"),
        SchemaRegistryConnectionError(0, -1, "no answer", "GET /subjects"),
        SerializationError("bad", schema_id=7, field="price"),
        RecordDeserializationError(TopicPartition("t", 0), 5, "value", "bad", schema_id=7, field="price"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error: Exception) -> None:
    for made in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(made) is type(error)
        assert str(made) == str(error)
        assert vars(made) == vars(error)
