"""Base classes for serializer and deserializer objects."""

from __future__ import annotations

import abc
from typing import Any


class Serializer(abc.ABC):
    """Converts keys or values to bytes. A subclass may also define ``serialize(topic, headers, data)``."""

    def __init__(self, **config: Any) -> None:
        """Accept any configuration; subclasses read what they need.

        Arguments:
            config: configuration values by name.
        """
        del config

    @abc.abstractmethod
    def serialize(self, topic: str, value: Any) -> bytes | None:
        """Serialize a value for `topic`. A result of None means a null key or a tombstone."""

    def close(self) -> None:
        """Release the serializer's resources. The producer calls this when it closes."""
        return None


class Deserializer(abc.ABC):
    """Converts bytes to keys or values. A subclass may also define ``deserialize(topic, headers, data)``."""

    def __init__(self, **config: Any) -> None:
        """Accept any configuration; subclasses read what they need.

        Arguments:
            config: configuration values by name.
        """
        del config

    @abc.abstractmethod
    def deserialize(self, topic: str, bytes_: bytes | None) -> Any:
        """Deserialize bytes from `topic`; None means a null key or a tombstone.

        Arguments:
            topic: the record's topic.
            bytes_: the bytes of the key or value.
        """

    def close(self) -> None:
        """Release the deserializer's resources. The consumer calls this when it closes."""
        return None
