"""Where a record was written."""

from __future__ import annotations

from typing import NamedTuple, Self

from kafka.structs import TopicPartition


class _Fields(NamedTuple):
    """The fields, in kafka-python's order."""

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int | None
    checksum: int | None
    serialized_key_size: int | None
    serialized_value_size: int | None
    serialized_header_size: int | None


class RecordMetadata(_Fields):
    """Where a record was written, and how large it was; fields as in kafka-python 2.3 and 3.

    Sizes are in bytes, -1 where there is no key, value or header. `offset` is -1 with ``acks=0``, and where a broker
    had the record already and does not tell where. `timestamp` is in milliseconds since 1970-01-01 UTC: the record's
    own, or the broker's where the topic has LogAppendTime. `checksum` is None: batches have one, records do not.
    `leader_epoch` is None, as brokers do not tell it.
    """

    __slots__ = ()

    def __new__(
        cls,
        topic: str,
        partition: int,
        topic_partition: TopicPartition | int | None = None,
        offset: int | None = None,
        timestamp: int | None = None,
        checksum: int | None = None,
        serialized_key_size: int | None = None,
        serialized_value_size: int | None = None,
        serialized_header_size: int | None = None,
    ) -> Self:
        """Make one (for tests of code that takes them); a number in the third place is the offset."""
        if isinstance(topic_partition, int):
            topic_partition, offset = None, topic_partition if offset is None else offset
        return super().__new__(
            cls,
            topic,
            partition,
            TopicPartition(topic, partition) if topic_partition is None else topic_partition,
            -1 if offset is None else offset,
            timestamp,
            checksum,
            serialized_key_size,
            serialized_value_size,
            serialized_header_size,
        )

    @property
    def leader_epoch(self) -> None:
        """None: brokers do not tell it."""
        return None
