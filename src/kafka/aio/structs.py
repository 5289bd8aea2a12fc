"""Named tuples of aiokafka's API."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka.record import ConsumerRecord
from kafka.structs import BrokerMetadata, OffsetAndMetadata, OffsetAndTimestamp, PartitionMetadata, TopicPartition

__all__ = [
    "BrokerMetadata",
    "ConsumerRecord",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "PartitionMetadata",
    "RecordMetadata",
    "TopicPartition",
]


class RecordMetadata(NamedTuple):
    """The position of a record that was written.

    Arguments:
        topic, partition, topic_partition: the partition.
        offset: the record's offset.
        timestamp: milliseconds since 1970-01-01 UTC; None if unknown.
        timestamp_type: 0 if the producer has set the timestamp, 1 if the broker has set it.
        log_start_offset: always None.
    """

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int | None
    timestamp_type: int
    log_start_offset: int | None


def as_offsets(given: Mapping[TopicPartition, Any]) -> dict[TopicPartition, OffsetAndMetadata]:
    """Convert offsets to `OffsetAndMetadata`. Also accepts numbers, and pairs of a number and metadata."""
    return {tp: _as_offset(offset) for tp, offset in given.items()}


def _as_offset(given: Any) -> OffsetAndMetadata:
    if isinstance(given, OffsetAndMetadata):
        return given
    if isinstance(given, tuple):
        return OffsetAndMetadata(*given)
    return OffsetAndMetadata(given, "")
