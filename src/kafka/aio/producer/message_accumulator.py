"""A batch that a program fills by hand."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kafka.record import BatchBuilder as RecordBatchBuilder
from kafka.record.record_headers import encode_headers
from kafka.serializer import adapt_serializer


class Appended(NamedTuple):
    """The result of `BatchBuilder.append` for a record.

    Arguments:
        offset: its number in the batch.
        crc: always None: batches have a checksum, records do not.
        size: its size in bytes.
        timestamp: its timestamp in milliseconds; None: the time of sending.
    """

    offset: int
    crc: int | None
    size: int
    timestamp: int | None


class BatchRecord(NamedTuple):
    """A record of the batch, as it was given."""

    timestamp: int | None
    key: Any
    value: Any
    headers: Sequence[tuple[str, bytes | None]]


class BatchBuilder:
    """See `AIOKafkaProducer.create_batch`.

    Arguments:
        batch_size: in bytes, before compression; a first record may be larger.
        key_serializer, value_serializer: the producer's.
    """

    def __init__(self, batch_size: int, key_serializer: Any = None, value_serializer: Any = None) -> None:
        self._limit = batch_size
        self._serializers = adapt_serializer(key_serializer, "key"), adapt_serializer(value_serializer)
        self._sizes = RecordBatchBuilder(size_limit=batch_size)
        self._records: list[BatchRecord] = []
        self._closed = False

    def append(
        self, *, timestamp: int | None, key: Any, value: Any, headers: Sequence[tuple[str, bytes | None]] = ()
    ) -> Appended | None:
        """Add a record; None: it has no room, or the batch is closed, and it is not added."""
        if self._closed:
            return None
        before = self._sizes.size_in_bytes
        key_bytes, value_bytes = (
            given if serializer is None else serializer("", given)
            for serializer, given in zip(self._serializers, (key, value), strict=True)
        )
        encoded = encode_headers(headers)[0] if headers else None
        if self._sizes.append_if_room(timestamp or 0, key_bytes, value_bytes, encoded) < 0:
            return None
        self._records.append(BatchRecord(timestamp, key, value, headers))
        return Appended(len(self._records) - 1, None, self._sizes.size_in_bytes - before, timestamp)

    def records(self) -> list[BatchRecord]:
        """What was added."""
        return self._records

    def record_count(self) -> int:
        """How many records there are."""
        return len(self._records)

    def size(self) -> int:
        """In bytes, before compression."""
        return self._sizes.size_in_bytes

    def close(self) -> None:
        """Take no more records."""
        self._closed = True

    def closed(self) -> bool:
        """Whether it takes no more."""
        return self._closed
