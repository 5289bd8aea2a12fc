"""Functions that serializers call are checked when they are passed."""

from collections.abc import Callable
from typing import Any

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.schema_registry import SchemaRegistryClient
from kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer

pytest.importorskip("jsonschema")
pytestmark = pytest.mark.once
CONF = {"url": "http://localhost:9"}
AVRO = '"string"'
JSON = '{"type": "object"}'


class Order:
    """A class like pydantic's models."""

    @classmethod
    def model_validate(cls, value: Any, *, strict: bool = False) -> "Order":
        return cls()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda registry, function: AvroSerializer(registry, AVRO, to_dict=function), "to_dict"),
        (lambda registry, function: AvroDeserializer(registry, from_dict=function), "from_dict"),
        (lambda registry, function: JSONSerializer(JSON, registry, to_dict=function), "to_dict"),
        (lambda registry, function: JSONDeserializer(JSON, from_dict=function), "from_dict"),
    ],
)
@pytest.mark.parametrize("function", [Order.model_validate, lambda value: value, len, "dict"])
def test_functions_with_the_wrong_number_of_arguments(make: Callable[..., Any], name: str, function: Any) -> None:
    with SchemaRegistryClient(CONF) as registry:
        with pytest.raises(KafkaConfigurationError, match=f"{name} must be a function of a value and a context"):
            make(registry, function)
        for good in (lambda value, context: value, lambda *arguments: arguments, max, None):
            make(registry, good)


def test_functions_of_json_libraries_take_one_argument() -> None:
    with SchemaRegistryClient(CONF) as registry:
        with pytest.raises(KafkaConfigurationError, match="json_encode must be a function of a value, not"):
            JSONSerializer(JSON, registry, json_encode=lambda value, context: "")
        with pytest.raises(KafkaConfigurationError, match="json_decode must be a function of a text, not"):
            JSONDeserializer(JSON, json_decode=lambda: None)
        JSONSerializer(JSON, registry, json_encode=str)
