"""Checks for offsets that a consumer, or a producer in a transaction, is to commit.

Numbers may be of any integer type, such as NumPy's. Partitions may be plain tuples.
"""

import operator
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from kafka.errors import IllegalArgumentError
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

LONGEST_TOPIC_NAME = 249
LEGAL_TOPIC_NAME = re.compile(rf"\A[a-zA-Z0-9._-]{{1,{LONGEST_TOPIC_NAME}}}\Z")
_MAX_INT32 = 2**31 - 1
_MAX_INT64 = 2**63 - 1
_MAX_METADATA = 2**15 - 1
"""The maximum length of metadata in bytes, in older versions of OffsetCommit."""


def whole_number(given: Any, low: int, high: int) -> int | None:
    """Convert a value to an int. Returns None unless it is a whole number from ``low`` to ``high``."""
    try:
        number = operator.index(given)
    except TypeError:
        return None
    return number if low <= number <= high else None


def timestamp_ms(given: datetime) -> int | None:
    """Convert a datetime to milliseconds since 1970; None for earlier times, as negative timestamps are special.

    A datetime without a time zone is local time, as for `datetime.timestamp`.
    """
    try:
        found = round(given.timestamp() * 1_000)
    except (OSError, OverflowError, ValueError):  # raised for years that local time cannot represent
        return None
    return found if found >= 0 else None


def check_topic_name(topic: object) -> str:
    """Return a topic name if brokers would accept it. Raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(topic, str):
        raise TypeError(f"a topic name must be a str, not {type(topic).__name__}: {topic!r}")
    if not LEGAL_TOPIC_NAME.match(topic) or topic in (".", ".."):
        raise IllegalArgumentError(
            f"{topic!r} is not a topic name: 1 to 249 characters of a-z A-Z 0-9 . _ - are allowed, except '.' and '..'"
        )
    return topic


def check_partition(given: Any) -> TopicPartition:
    """Return a partition. Raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], str):
        raise TypeError(f"expected a TopicPartition(topic, partition), got {type(given).__name__}: {given!r}")
    topic, number = given
    if type(number) is int and type(given) is TopicPartition and 0 <= number <= _MAX_INT32:
        check_topic_name(topic)
        return given
    if not hasattr(number, "__index__"):
        raise TypeError(f"the partition number must be an int, not {type(number).__name__}: {given!r}")
    index = whole_number(number, 0, _MAX_INT32)
    if index is None:
        raise IllegalArgumentError(f"a partition number must be from 0 to 2**31 - 1, not {given!r}")
    return TopicPartition(check_topic_name(topic), index)


def check_offsets(offsets: object) -> dict[TopicPartition, OffsetAndMetadata]:
    """Return the offsets to commit. Raises `TypeError` or `IllegalArgumentError`."""
    if not isinstance(offsets, Mapping):
        raise IllegalArgumentError(
            f"offsets to commit must be a dict of TopicPartition to OffsetAndMetadata, not {type(offsets)}"
        )
    return dict(_checked_offset(tp, committed) for tp, committed in offsets.items())


def _checked_offset(tp: object, committed: object) -> tuple[TopicPartition, OffsetAndMetadata]:
    if not isinstance(tp, tuple) or not isinstance(committed, OffsetAndMetadata):
        raise IllegalArgumentError(
            f"offsets to commit must be a dict of TopicPartition to OffsetAndMetadata, not {tp!r}: {committed!r}"
        )
    partition = check_partition(tp)
    offset = whole_number(committed.offset, 0, _MAX_INT64)
    if offset is None:
        raise IllegalArgumentError(
            f"the offset to commit for {partition!r} must be a whole number from 0 to 2**63 - 1, not "
            f"{committed.offset!r}"
        )
    epoch = None if committed.leader_epoch is None else whole_number(committed.leader_epoch, -1, _MAX_INT32)
    if epoch is None and committed.leader_epoch is not None:
        raise IllegalArgumentError(
            f"the leader epoch to commit for {partition!r} must be None or a whole number from -1 to 2**31 - 1, not "
            f"{committed.leader_epoch!r}"
        )
    return partition, OffsetAndMetadata(offset, _checked_metadata(partition, committed.metadata), epoch)


def _checked_metadata(tp: TopicPartition, metadata: object) -> str | None:
    if metadata is not None and not isinstance(metadata, str):
        raise TypeError(f"the metadata to commit for {tp!r} must be a str or None, not {type(metadata).__name__}")
    try:
        size = len((metadata or "").encode())
    except UnicodeEncodeError as error:
        raise IllegalArgumentError(f"the metadata to commit for {tp!r} are not valid text: {error}") from error
    if size > _MAX_METADATA:
        raise IllegalArgumentError(
            f"the metadata to commit for {tp!r} has {size} bytes; at most {_MAX_METADATA} are allowed"
        )
    return metadata


def check_group(group: Any, by_old_name: Any = None) -> ConsumerGroupMetadata:
    """Return the group to commit offsets for, which is given by name or by the consumer's `group_metadata`.

    Arguments:
        by_old_name: the group, if it is passed under the argument's old name.

    Raises `IllegalArgumentError`.
    """
    if group is not None and by_old_name is not None:
        raise IllegalArgumentError("use either group_metadata or consumer_group_id, not both")
    given = by_old_name if group is None else group
    found = ConsumerGroupMetadata(given) if isinstance(given, str) else given
    if not isinstance(found, ConsumerGroupMetadata):
        raise IllegalArgumentError(
            f"a group must be a name or the ConsumerGroupMetadata of its consumer, not {given!r}"
        )
    if not found.group_id:
        raise IllegalArgumentError("offsets are committed for a group, but its name is empty: set group_id")
    return found


class ReadOffsets(dict[TopicPartition, OffsetAndMetadata]):
    """Offsets to commit, with the ids of the topics that they were read from.

    A position in a deleted topic is meaningless in a new topic of the same name.

    Attributes:
        topic_ids: the known ids of the topics that the positions refer to (KIP-516).
    """

    def __init__(self) -> None:
        super().__init__()
        self.topic_ids: dict[TopicPartition, UUID] = {}
