"""Offsets as aiokafka's programs give them."""

from collections.abc import Mapping
from typing import Any

from kafka.structs import OffsetAndMetadata, TopicPartition


def as_offsets(given: Mapping[TopicPartition, Any]) -> dict[TopicPartition, OffsetAndMetadata]:
    """Numbers, pairs of a number and metadata, and `OffsetAndMetadata`, as the last of these."""
    return {tp: _as_offset(offset) for tp, offset in given.items()}


def _as_offset(given: Any) -> OffsetAndMetadata:
    if isinstance(given, OffsetAndMetadata):
        return given
    if isinstance(given, tuple):
        return OffsetAndMetadata(*given)
    return OffsetAndMetadata(given, "")
