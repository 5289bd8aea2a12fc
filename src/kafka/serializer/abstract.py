"""The base classes for serializers and deserializers that are objects."""

from __future__ import annotations

import abc
from typing import Any


class Serializer(abc.ABC):
    """Converts keys or values to bytes. A subclass may also define ``serialize(topic, headers, data)``."""

    def __init__(self, **config: Any) -> None:
        """Accept any settings; a subclass keeps what it wants.

        Arguments:
            config: by name.
        """
        del config

    @abc.abstractmethod
    def serialize(self, topic: str, value: Any) -> bytes | None:
        """Return the bytes of a value that goes to `topic`; None stands for a null key or a tombstone."""

    def close(self) -> None:
        """Release what the serializer holds; the producer calls it when it is closed."""
        return None


class Deserializer(abc.ABC):
    """Converts bytes to keys or values. A subclass may also define ``deserialize(topic, headers, data)``."""

    def __init__(self, **config: Any) -> None:
        """Accept any settings; a subclass keeps what it wants.

        Arguments:
            config: by name.
        """
        del config

    @abc.abstractmethod
    def deserialize(self, topic: str, bytes_: bytes | None) -> Any:
        """Return the value of bytes that came from `topic`; None is a null key or a tombstone.

        Arguments:
            topic: where the record is.
            bytes_: the key, or the value.
        """

    def close(self) -> None:
        """Release what the deserializer holds; the consumer calls it when it is closed."""
        return None
