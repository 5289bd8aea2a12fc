"""Ready-made serializers: text, and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


class DefaultSerializer:
    """Text as bytes of an encoding; bytes and None pass through. Serializer and deserializer in one.

    Arguments:
        encoding: name of the encoding of text.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    def serialize(self, topic: str, headers: Sequence[tuple[str, bytes | None]], data: Any) -> bytes | None:
        """Encode text; raises `TypeError` for what is neither text, bytes nor None."""
        if data is None or isinstance(data, bytes):
            return data
        if isinstance(data, str):
            return data.encode(self.encoding)
        raise TypeError(f"expected str, bytes or None for topic {topic!r}, not {type(data).__name__}")

    def deserialize(self, topic: str, headers: Sequence[tuple[str, bytes | None]], data: bytes | None) -> Any:
        """Decode bytes to text; None stays None."""
        return None if data is None else bytes(data).decode(self.encoding)

    def close(self) -> None:
        """Nothing to release."""
        return None


class JsonSerializer(DefaultSerializer):
    """Values as JSON text without spaces. None is JSON's null one way, and a tombstone the other.

    Arguments:
        encoding: name of the encoding of the JSON text.
    """

    def serialize(self, topic: str, headers: Sequence[tuple[str, bytes | None]], data: Any) -> bytes:
        """Encode a value; raises `TypeError` or `ValueError` for what JSON cannot say."""
        return json.dumps(data, separators=(",", ":")).encode(self.encoding)

    def deserialize(self, topic: str, headers: Sequence[tuple[str, bytes | None]], data: bytes | None) -> Any:
        """Decode JSON text; None (a tombstone) stays None. Raises `ValueError` for what is not JSON."""
        return None if data is None else json.loads(bytes(data).decode(self.encoding))
