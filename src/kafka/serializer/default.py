"""Ready-made serializers for text and JSON, and wrappers for functions of one argument, as in kafka-python 3."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from kafka.serializer.abstract import Deserializer, Serializer

Headers = Sequence[tuple[str, bytes | None]]


class DefaultSerializer(Serializer, Deserializer):
    """Text as bytes of an encoding; bytes and None pass through. Serializer and deserializer in one.

    Arguments:
        encoding: name of the encoding of text.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self.encoding = encoding

    def serialize(self, topic: str, headers: Headers, data: Any) -> bytes | None:  # type: ignore[override]
        """Encode text, and numbers as text; bytes and None pass through. Raises `TypeError` for other types.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what is encoded.
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
            topic: no effect.
            headers: no effect.
            data: what is decoded.
        """
        return None if data is None else bytes(data).decode(self.encoding)


class JsonSerializer(DefaultSerializer):
    """Values as JSON text, written as `json.dumps` does. None is a tombstone, both ways.

    Arguments:
        encoding: name of the encoding of the JSON text.
    """

    def serialize(self, topic: str, headers: Headers, data: Any) -> bytes | None:  # type: ignore[override]
        """Encode a value; raises `TypeError` or `ValueError` if JSON cannot represent it.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what is encoded.
        """
        return None if data is None else json.dumps(data).encode(self.encoding)

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Decode JSON text; None stays None. Raises `ValueError` if it is not JSON.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what is decoded.
        """
        return None if data is None else json.loads(bytes(data).decode(self.encoding))


class SerializeWrapper(Serializer):
    """Calls a function with each value; with None, values must be bytes already.

    Arguments:
        fn: called with the value; gives its bytes, or None for a null key or a tombstone.
    """

    def __init__(self, fn: Callable[[Any], bytes | None] | None) -> None:
        super().__init__()
        self.fn = fn

    def serialize(self, topic: str, headers: Headers, data: Any) -> Any:  # type: ignore[override]
        """Return the function's result for a value.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what the function is called with.
        """
        return data if self.fn is None else self.fn(data)


class DeserializeWrapper(Deserializer):
    """Calls a function with the bytes of each value; with None, returns the bytes unchanged.

    Arguments:
        fn: called with the bytes, or with None for a null key or a tombstone.
    """

    def __init__(self, fn: Callable[[bytes | None], Any] | None) -> None:
        super().__init__()
        self.fn = fn

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Return the function's result for the bytes.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what the function is called with.
        """
        return data if self.fn is None else self.fn(data)
