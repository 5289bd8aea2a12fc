"""The record that a consumer hands out."""

from __future__ import annotations

from typing import Any, NamedTuple


class _Fields(NamedTuple):
    """The fields of a record, in kafka-python's order."""

    topic: str
    partition: int
    leader_epoch: int | None
    offset: int
    timestamp: int | None
    timestamp_type: int | None
    key: Any
    value: Any
    headers: list[tuple[str, bytes | None]]
    checksum: int | None
    serialized_key_size: int | None
    serialized_value_size: int | None
    serialized_header_size: int | None


class ConsumerRecord(_Fields):
    """One record of a partition, as a tuple with names (Java: `ConsumerRecord`).

    Attributes:
        topic: the topic's name.
        partition: the partition's number.
        leader_epoch: of the leader that wrote the batch; -1 if the batch does not say.
        offset: the position in the partition.
        timestamp: milliseconds since the epoch; -1 or None if there is none.
        timestamp_type: 0 the producer's time, 1 the broker's time of appending, -1 none.
        key: what the key deserializer made of the key; bytes without one; None for a null key.
        value: likewise of the value; None is a tombstone.
        headers: `(key, value)` in the producer's order, keys as str, values as bytes or None.
        checksum: the CRC of a message of magic 0 or 1, else None.
        serialized_key_size: in bytes, -1 for a null key.
        serialized_value_size: in bytes, -1 for a null value.
        serialized_header_size: of all header keys and values in bytes, -1 without headers.
    """

    __slots__ = ()

    def __new__(
        cls,
        topic: str,
        partition: int,
        leader_epoch: int | None = None,
        offset: int = -1,
        timestamp: int | None = None,
        timestamp_type: int | None = None,
        key: Any = None,
        value: Any = None,
        headers: list[tuple[str, bytes | None]] | None = None,
        checksum: int | None = None,
        serialized_key_size: int | None = None,
        serialized_value_size: int | None = None,
        serialized_header_size: int | None = None,
    ) -> ConsumerRecord:
        """Make a record; all but topic, partition and offset may be left out (for tests of code that takes records)."""
        return tuple.__new__(
            cls,
            (
                topic,
                partition,
                leader_epoch,
                offset,
                timestamp,
                timestamp_type,
                key,
                value,
                [] if headers is None else headers,
                checksum,
                serialized_key_size,
                serialized_value_size,
                serialized_header_size,
            ),
        )
