"""kafka-python's base classes of records, batches and builders; tracing tools name `ABCRecord` in their annotations."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any

from kafka.record.records import ConsumerRecord


class ABCRecord(abc.ABC):
    """The interface of records; `ConsumerRecord` is registered as a subclass."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def size_in_bytes(self) -> int:
        """How many bytes it has."""

    @property
    @abc.abstractmethod
    def offset(self) -> int:
        """The offset in its partition."""

    @property
    @abc.abstractmethod
    def timestamp(self) -> int | None:
        """Milliseconds since 1970-01-01 UTC."""

    @property
    @abc.abstractmethod
    def timestamp_type(self) -> int | None:
        """0 for the time of the producer, 1 for the broker's, None if there is none."""

    @property
    @abc.abstractmethod
    def key(self) -> Any:
        """The key."""

    @property
    @abc.abstractmethod
    def value(self) -> Any:
        """The value."""

    @property
    @abc.abstractmethod
    def checksum(self) -> int | None:
        """The checksum of a message of magic 0 or 1; None for other formats."""

    @abc.abstractmethod
    def validate_crc(self) -> bool:
        """Return whether the checksum, if there is one, is correct."""

    @property
    @abc.abstractmethod
    def headers(self) -> Any:
        """Pairs of key and value."""


class ABCRecordBatchBuilder(abc.ABC):
    """A batch that is being filled."""

    __slots__ = ()

    @abc.abstractmethod
    def append(self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None) -> Any:
        """Add a record; None if there is no room for it."""

    @abc.abstractmethod
    def size_in_bytes(self, offset: int, timestamp: int, key: Any, value: Any, headers: Any) -> int:
        """How many bytes a record takes in the batch, before compression."""

    @abc.abstractmethod
    def build(self) -> bytearray:
        """Return the batch."""


class ABCRecordBatch(abc.ABC):
    """A batch of magic 2, or a message of magic 0 or 1, which may hold others."""

    __slots__ = ()

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Iterate over the records."""

    @property
    @abc.abstractmethod
    def base_offset(self) -> int:
        """The offset that stands before it."""

    @property
    @abc.abstractmethod
    def size_in_bytes(self) -> int:
        """How many bytes it has, all included."""

    @property
    @abc.abstractmethod
    def magic(self) -> int:
        """0, 1 or 2."""


class ABCRecords(abc.ABC):
    """Iterates over batches."""

    __slots__ = ()

    @abc.abstractmethod
    def __init__(self, buffer: Any) -> None:
        """Take the bytes."""

    @abc.abstractmethod
    def size_in_bytes(self) -> int:
        """Return the number of bytes."""

    @abc.abstractmethod
    def next_batch(self) -> Any:
        """Return the next batch, None after the last."""

    @abc.abstractmethod
    def has_next(self) -> bool:
        """Whether there is another batch."""


ABCRecord.register(ConsumerRecord)
