"""The position at which a record was written."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, overload

from kafka.structs import TopicPartition, values_by_name


class _Fields(NamedTuple):
    """The fields of `RecordMetadata`, in kafka-python's order."""

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int | None
    checksum: int | None
    serialized_key_size: int | None
    serialized_value_size: int | None
    serialized_header_size: int | None


_DOCUMENTED = ("offset", "timestamp", "checksum", "serialized_key_size", "serialized_value_size", "leader_epoch")


class RecordMetadata(_Fields):
    """The position at which a record was written, and its size; fields as in kafka-python 2.3 and 3.

    Sizes are in bytes; -1 means that there is no key, value or header. `offset` is -1 with ``acks=0``, or if a broker
    already had the record and does not report its offset. `timestamp` is in milliseconds since 1970-01-01 UTC: the
    record's own, or the broker's for topics with LogAppendTime. `checksum` is None, because only batches have
    checksums. `leader_epoch` is None, because brokers do not report it.
    """

    __slots__ = ()
    leader_epoch: int | None = None

    @overload
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
        *,
        leader_epoch: int | None = None,
    ) -> Self: ...
    @overload
    def __new__(cls, topic: str, partition: int, *in_order: Any, **named: Any) -> Self: ...
    def __new__(cls, topic: str, partition: int, *in_order: Any, **named: Any) -> Self:
        """Create the metadata of a record, for tests of code that uses it.

        Arguments:
            topic: name of the topic.
            partition: partition number.
            in_order: the other fields by position.
            named: the other fields by name.

        Positional values follow the order of the fields. If the third value is a number, it is the offset, and the
        others follow in the documented order: timestamp, checksum, key size, value size, leader epoch.
        """
        is_documented = bool(in_order) and isinstance(in_order[0], int)
        names = _DOCUMENTED if is_documented else _Fields._fields[2:]
        given = values_by_name("RecordMetadata", names, in_order, named, (*_Fields._fields[2:], "leader_epoch"))
        epoch = given.pop("leader_epoch", None)
        values = {**dict.fromkeys(_Fields._fields[2:]), **given}
        if values["topic_partition"] is None:
            values["topic_partition"] = TopicPartition(topic, partition)
        if values["offset"] is None:
            values["offset"] = -1
        kind: Any = cls if epoch is None else _WithLeaderEpoch
        made: Self = tuple.__new__(kind, (topic, partition, *values.values()))
        if epoch is not None:
            made.leader_epoch = epoch
        return made


class _WithLeaderEpoch(RecordMetadata):
    """Metadata that a program has created with a leader epoch, which is not a tuple field in any release."""
