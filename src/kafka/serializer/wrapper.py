"""Functions of one argument in the form of serializers, as kafka-python 3 has them; clients take such functions too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.serializer.abstract import Deserializer, Serializer
from kafka.serializer.default import Headers


class SerializeWrapper(Serializer):
    """Calls a function with each value; None: values are bytes already.

    Arguments:
        fn: called with the value; gives its bytes, or None for a null key or a tombstone.
    """

    def __init__(self, fn: Callable[[Any], bytes | None] | None) -> None:
        super().__init__()
        self.fn = fn

    def serialize(self, topic: str, headers: Headers, data: Any) -> Any:  # type: ignore[override]
        """Return what the function makes of a value.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what the function is called with.
        """
        return data if self.fn is None else self.fn(data)


class DeserializeWrapper(Deserializer):
    """Calls a function with the bytes of each value; None: they are left as they are.

    Arguments:
        fn: called with the bytes, or with None for a null key or a tombstone.
    """

    def __init__(self, fn: Callable[[bytes | None], Any] | None) -> None:
        super().__init__()
        self.fn = fn

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> Any:  # type: ignore[override]
        """Return what the function makes of bytes.

        Arguments:
            topic: no effect.
            headers: no effect.
            data: what the function is called with.
        """
        return data if self.fn is None else self.fn(data)
