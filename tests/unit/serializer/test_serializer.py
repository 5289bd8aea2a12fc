"""Callables and objects of both generations are adapted to one signature."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import kafka
from kafka.errors import KafkaConfigurationError
from kafka.serializer import (
    DefaultSerializer,
    Deserializer,
    DeserializeWrapper,
    JsonSerializer,
    Serializer,
    SerializeWrapper,
    adapt_deserializer,
    adapt_serializer,
)


class OldStyle(Serializer, Deserializer):
    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.closed = False

    def serialize(self, topic: str, value: Any) -> bytes:
        return f"{topic}/{value}".encode()

    def deserialize(self, topic: str, bytes_: bytes | None) -> Any:
        return topic, bytes_

    def close(self) -> None:
        self.closed = True


class NewStyle:
    def serialize(self, topic: str, headers: Any, data: Any) -> bytes:
        return f"{topic}/{headers}/{data}".encode()

    def deserialize(self, topic: str, headers: Any, data: Any) -> Any:
        return topic, headers, data


def test_none_stays_none() -> None:
    assert adapt_serializer(None) is None
    assert adapt_deserializer(None) is None


def test_a_callable_takes_only_the_value() -> None:
    serialize = adapt_serializer(str.encode)
    assert serialize is not None
    assert serialize("t", "ä", [("h", b"")]) == "ä".encode()
    assert serialize.direct == str.encode


def test_old_objects_take_topic_and_value() -> None:
    given = OldStyle(setting=1)
    serialize, deserialize = adapt_serializer(given), adapt_deserializer(given)
    assert serialize is not None
    assert deserialize is not None
    assert serialize("t", 1) == b"t/1"
    assert deserialize("t", b"x") == ("t", b"x")
    assert not given.closed
    serialize.close()
    assert given.closed


def test_new_objects_also_take_the_headers() -> None:
    serialize, deserialize = adapt_serializer(NewStyle()), adapt_deserializer(NewStyle())
    assert serialize is not None
    assert deserialize is not None
    assert serialize("t", 1, [("h", b"x")]) == b"t/[('h', b'x')]/1"
    assert deserialize("t", b"x", [("h", b"y")]) == ("t", [("h", b"y")], b"x")
    serialize.close()


@pytest.mark.parametrize("given", [5, "name", object()])
def test_invalid_serializers_are_rejected(given: Any) -> None:
    with pytest.raises(KafkaConfigurationError, match="callable of one argument"):
        adapt_serializer(given)
    with pytest.raises(KafkaConfigurationError, match="deserialize"):
        adapt_deserializer(given)


def test_a_method_with_other_arguments_is_rejected() -> None:
    class Wrong:
        def serialize(self, value: Any) -> bytes:
            return b""

    with pytest.raises(KafkaConfigurationError, match=r"\(topic, value\) or \(topic, headers, data\)"):
        adapt_serializer(Wrong())


def test_default_serializers_round_trip() -> None:
    text, values = DefaultSerializer(), JsonSerializer()
    assert text.serialize("t", (), "ä") == "ä".encode()
    assert text.serialize("t", (), b"x") == b"x"
    assert text.serialize("t", (), None) is None
    assert text.deserialize("t", (), memoryview("ä".encode())) == "ä"  # type: ignore[arg-type]
    assert text.deserialize("t", (), None) is None
    assert values.serialize("t", (), {"a": [1, None]}) == b'{"a": [1, null]}'
    assert values.serialize("t", (), None) is None
    assert values.deserialize("t", (), b'{"a":[1,null]}') == {"a": [1, None]}
    assert values.deserialize("t", (), None) is None
    for given in (bytearray(b"x"), memoryview(b"x")):
        assert text.serialize("t", (), given) == b"x"
    assert (text.serialize("t", (), 5), text.serialize("t", (), 0.5)) == (b"5", b"0.5")
    with pytest.raises(TypeError, match="topic 't', not list"):
        text.serialize("t", (), [])


def test_wrapped_functions_are_serializers() -> None:
    assert SerializeWrapper(str.encode).serialize("t", (), "x") == b"x"
    assert SerializeWrapper(None).serialize("t", (), b"x") == b"x"
    assert DeserializeWrapper(bytes.decode).deserialize("t", (), b"x") == "x"
    assert DeserializeWrapper(None).deserialize("t", (), b"x") == b"x"


def test_import_paths_of_kafka_python_3() -> None:
    assert kafka.JsonSerializer is JsonSerializer
    assert kafka.DefaultSerializer is DefaultSerializer
    assert isinstance(JsonSerializer(), Serializer)
    assert isinstance(JsonSerializer(), Deserializer)
    for module in ("json", "default", "wrapper", "abstract"):
        importlib.import_module(f"kafka.serializer.{module}")


class OfField:
    """A serializer that depends on the part of the record."""

    def __init__(self, field: str = "?") -> None:
        self._field = field

    def for_message_field(self, field: str) -> OfField:
        return OfField(field)

    def serialize(self, topic: str, headers: object, data: object) -> bytes:
        return f"{topic} {self._field} {data}".encode()

    def deserialize(self, topic: str, headers: object, data: object) -> str:
        return f"{topic} {self._field} {data!r}"


def test_a_serializer_may_learn_whether_it_is_for_keys_or_values() -> None:
    for field in ("key", "value"):
        writing, reading = adapt_serializer(OfField(), field), adapt_deserializer(OfField(), field)
        assert writing is not None
        assert reading is not None
        assert writing("t", 7) == f"t {field} 7".encode()
        assert reading("t", b"7") == f"t {field} b'7'"


def test_a_mock_is_called_itself() -> None:
    from unittest.mock import Mock

    mock = Mock()
    adapted = adapt_deserializer(mock)
    assert adapted is not None
    adapted("t", b"7")
    mock.deserialize.assert_called_once_with("t", b"7")
