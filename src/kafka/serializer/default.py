"""Serializers for text and JSON, and wrappers for functions of one argument, as in kafka-python 3."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from kafka.serializer.abstract import Deserializer, Serializer

Headers = Sequence[tuple[str, bytes | None]]


class DefaultSerializer(Serializer, Deserializer):
    """Serializes and deserializes text; bytes and None pass through.

    Arguments:
        encoding: the text encoding.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self.encoding = encoding

    def serialize(self, topic: str, headers: Headers, data: Any) -> bytes | None:  # type: ignore[override]
        """Encode text, or a number as text; bytes and None pass through. Raises `TypeError` for other types.

        Arguments:
            topic: ignored.
            headers: ignored.
            data: the value to encode.
        """
        if data is None or isinstance(data, bytes):
            return data
        if isinstance(data, bytearray | memoryview):
            return bytes(data)
        if isinstance(data, str | int | float):
            return str(data).encode(self.encoding)
        raise TypeError(f"expected str, bytes, a number or None for topic {topic!r}, not {type(data).__name__}")

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Decode bytes to text; None stays None.

        Arguments:
            topic: ignored.
            headers: ignored.
            data: the bytes to decode.
        """
        return None if data is None else bytes(data).decode(self.encoding)


class JsonSerializer(DefaultSerializer):
    """Serializes values to JSON with `json.dumps`, and deserializes them. None is a tombstone in both directions.

    Arguments:
        encoding: the encoding of the JSON text.
    """

    def serialize(self, topic: str, headers: Headers, data: Any) -> bytes | None:  # type: ignore[override]
        """Encode a value; raises `TypeError` or `ValueError` if JSON cannot represent it.

        Arguments:
            topic: ignored.
            headers: ignored.
            data: the value to encode.
        """
        return None if data is None else json.dumps(data).encode(self.encoding)

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Decode JSON text; None stays None. Raises `ValueError` for invalid JSON.

        Arguments:
            topic: ignored.
            headers: ignored.
            data: the bytes to decode.
        """
        return None if data is None else json.loads(bytes(data).decode(self.encoding))


class SerializeWrapper(Serializer):
    """Serializes each value with a function. Without a function, values must already be bytes.

    Arguments:
        fn: called with the value; returns bytes, or None for a null key or a tombstone.
    """

    def __init__(self, fn: Callable[[Any], bytes | None] | None) -> None:
        super().__init__()
        self.fn = fn

    def serialize(self, topic: str, headers: Headers, data: Any) -> Any:  # type: ignore[override]
        """Call the function with a value and return its result.

        Arguments:
            topic: ignored.
            headers: ignored.
            data: the function's argument.
        """
        return data if self.fn is None else self.fn(data)


class DeserializeWrapper(Deserializer):
    """Deserializes each value with a function. Without a function, returns the bytes unchanged.

    Arguments:
        fn: called with the bytes, or with None for a null key or a tombstone.
    """

    def __init__(self, fn: Callable[[bytes | None], Any] | None) -> None:
        super().__init__()
        self.fn = fn

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Call the function with the bytes and return its result.

        Arguments:
            topic: ignored.
            headers: ignored.
            data: the function's argument.
        """
        return data if self.fn is None else self.fn(data)
