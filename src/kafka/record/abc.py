"""kafka-python's base classes of records, batches and builders; tracing tools use `ABCRecord` in their annotations."""

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
        """Size in bytes."""

    @property
    @abc.abstractmethod
    def offset(self) -> int:
        """The record's offset in its partition."""

    @property
    @abc.abstractmethod
    def timestamp(self) -> int | None:
        """Milliseconds since 1970-01-01 UTC."""

    @property
    @abc.abstractmethod
    def timestamp_type(self) -> int | None:
        """0 for the producer's time, 1 for the broker's time, None without a timestamp."""

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
        """The checksum of a magic 0 or 1 message; None for other formats."""

    @abc.abstractmethod
    def validate_crc(self) -> bool:
        """Return whether the checksum is correct; True if there is no checksum."""

    @property
    @abc.abstractmethod
    def headers(self) -> Any:
        """The headers, as pairs of key and value."""


class ABCRecordBatchBuilder(abc.ABC):
    """The interface of batch builders."""

    __slots__ = ()

    @abc.abstractmethod
    def append(self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None) -> Any:
        """Add a record; return None if the batch has no room for it."""

    @abc.abstractmethod
    def size_in_bytes(self, offset: int, timestamp: int, key: Any, value: Any, headers: Any) -> int:
        """Return the size of a record in the batch in bytes, before compression."""

    @abc.abstractmethod
    def build(self) -> bytearray:
        """Return the encoded batch."""


class ABCRecordBatch(abc.ABC):
    """The interface of batches: a magic 2 batch, or a magic 0 or 1 message, which may contain other messages."""

    __slots__ = ()

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Iterate over the records."""

    @property
    @abc.abstractmethod
    def base_offset(self) -> int:
        """The offset in the batch's header."""

    @property
    @abc.abstractmethod
    def size_in_bytes(self) -> int:
        """Total size in bytes, including the header."""

    @property
    @abc.abstractmethod
    def magic(self) -> int:
        """The magic number of the format: 0, 1 or 2."""


class ABCRecords(abc.ABC):
    """The interface of iterators over batches."""

    __slots__ = ()

    @abc.abstractmethod
    def __init__(self, buffer: Any) -> None:
        """Create an iterator over the batches in `buffer`."""

    @abc.abstractmethod
    def size_in_bytes(self) -> int:
        """Return the number of bytes."""

    @abc.abstractmethod
    def next_batch(self) -> Any:
        """Return the next batch, or None after the last batch."""

    @abc.abstractmethod
    def has_next(self) -> bool:
        """Return whether there is another batch."""


ABCRecord.register(ConsumerRecord)
