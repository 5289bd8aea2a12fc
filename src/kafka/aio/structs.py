"""The plain values of the API."""

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
    """Where a record was written.

    Arguments:
        topic, partition, topic_partition: where.
        offset: there.
        timestamp: in milliseconds since 1970-01-01 UTC; None where it is not known.
        timestamp_type: 0: the producer's time, 1: the broker's.
        log_start_offset: None: it is not known here.
    """

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int | None
    timestamp_type: int
    log_start_offset: int | None


def as_offsets(given: Mapping[TopicPartition, Any]) -> dict[TopicPartition, OffsetAndMetadata]:
    """Convert offsets to `OffsetAndMetadata`; accepts numbers and pairs of a number and metadata, too."""
    return {tp: _as_offset(offset) for tp, offset in given.items()}


def _as_offset(given: Any) -> OffsetAndMetadata:
    if isinstance(given, OffsetAndMetadata):
        return given
    if isinstance(given, tuple):
        return OffsetAndMetadata(*given)
    return OffsetAndMetadata(given, "")
