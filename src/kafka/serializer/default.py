"""A ready-made serializer for text."""

from __future__ import annotations

from collections.abc import Sequence
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
        """Encode text, and numbers as text; raises `TypeError` for what is neither, nor bytes of any kind, nor None.

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
