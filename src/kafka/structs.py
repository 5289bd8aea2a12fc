"""Value types of the public API, as named tuples."""

import dataclasses
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafka import _old_names

if TYPE_CHECKING:
    from uuid import UUID

    from kafka.errors import KafkaError

_HOMES = dict.fromkeys(
    (
        "ConsumerMetadataRequest",
        "ConsumerMetadataResponse",
        "FetchRequestPayload",
        "FetchResponsePayload",
        "KafkaMessage",
        "ListOffsetRequestPayload",
        "ListOffsetResponsePayload",
        "Message",
        "MetadataRequest",
        "MetadataResponse",
        "OffsetAndMessage",
        "OffsetCommitRequestPayload",
        "OffsetCommitResponsePayload",
        "OffsetFetchRequestPayload",
        "OffsetFetchResponsePayload",
        "OffsetRequestPayload",
        "OffsetResponsePayload",
        "ProduceRequestPayload",
        "ProduceResponsePayload",
    ),
    "kafka.legacy.payloads",
) | {"ConsumerRecords": "kafka.consumer.records.build_records"}


def __getattr__(name: str) -> Any:
    """Load a named tuple that kafka-python 1.x defined in this module."""
    return _old_names.of_a_package(__name__, name, _HOMES)


def values_by_name(
    what: str, order: Sequence[str], in_order: Sequence[Any], named: Mapping[str, Any], known: Container[str]
) -> dict[str, Any]:
    """Match a constructor's arguments to names. Raises the same `TypeError` as a Python function call.

    Arguments:
        what: the class, for error messages.
        order: the names of positional arguments.
        in_order: the positional arguments.
        named: the keyword arguments.
        known: all valid names.
    """
    if len(in_order) > len(order):
        raise TypeError(f"{what}() takes {len(order)} values after topic and partition, not {len(in_order)}")
    values = dict(zip(order, in_order, strict=False))
    for name, value in named.items():
        if name not in known:
            raise TypeError(f"{what}() got an unexpected keyword argument {name!r}")
        if name in values:
            raise TypeError(f"{what}() got multiple values for argument {name!r}")
        values[name] = value
    return values


class TopicPartition(NamedTuple):
    """A partition of a topic.

    Arguments:
        topic: name of the topic.
        partition: number of the partition, from 0.
    """

    topic: str
    partition: int


class TopicPartitionReplica(NamedTuple):
    """The replica of a partition on one broker.

    Arguments:
        topic: name of the topic.
        partition: number of the partition.
        broker_id: id of the broker.
    """

    topic: str
    partition: int
    broker_id: int


class MemberState:
    """The state of a consumer's membership in its group, as constants that kafka-python's programs compare with."""

    UNJOINED = "<unjoined>"
    REBALANCING = "<rebalancing>"
    STABLE = "<stable>"


@dataclasses.dataclass(frozen=True, slots=True)
class SubscriptionPattern:
    """A regular expression for topic names, matched by the coordinator; for ``group_protocol='consumer'`` (KIP-848).

    Arguments:
        pattern: the expression in RE2/J syntax; it must match the whole topic name. Java: ``SubscriptionPattern``.
    """

    pattern: str

    def __post_init__(self) -> None:
        given: object = self.pattern
        if not isinstance(given, str) or not given:
            raise ValueError(f"a pattern must be a regular expression as text, not {given!r}")


class ConsumerGroupMetadata(NamedTuple):
    """A consumer's membership in its group. Brokers use it to reject members that have left (KIP-447).

    Arguments:
        group_id: the group's id; None without a group.
        generation_id: the group's generation; -1 while the consumer is not a member.
        member_id: the consumer's member id.
        group_instance_id: the id of a static member; otherwise None.
        state: one of `MemberState`.
    """

    group_id: str | None = None
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    state: str = MemberState.UNJOINED


class OffsetAndMetadata(NamedTuple):
    """A committed offset.

    Arguments:
        offset: the offset of the next record to read.
        metadata: a short text stored with the offset (by default, brokers allow 4,096 bytes).
        leader_epoch: the leader epoch of the last record consumed (KIP-320); None or -1 if unknown.
    """

    offset: int
    metadata: str | None = None
    leader_epoch: int | None = None


class OffsetAndTimestamp(NamedTuple):
    """The result of an offset lookup by time.

    Arguments:
        offset: the first offset whose timestamp is at or after the requested time.
        timestamp: that record's timestamp in milliseconds since 1970-01-01 UTC.
        leader_epoch: the leader epoch in which the record was written; None or -1 if unknown.
    """

    offset: int
    timestamp: int
    leader_epoch: int | None = None


class BrokerMetadata(NamedTuple):
    """A broker in the cluster metadata.

    Arguments:
        nodeId: the broker's ``node.id``.
        host: the host that the broker listens on.
        port: the port that the broker listens on.
        rack: the broker's ``broker.rack``; None if it has no rack.
    """

    nodeId: int  # noqa: N815  # kafka-python's name
    host: str
    port: int
    rack: str | None = None


class PartitionMetadata(NamedTuple):
    """A partition in the cluster metadata. Brokers are given by id.

    Arguments:
        topic: name of the topic.
        partition: number of the partition.
        leader: the leader; -1 if there is none.
        leader_epoch: the leader epoch (KIP-320); -1 if the broker does not report it.
        replicas: all replicas, the preferred leader first.
        isr: the in-sync replicas.
        offline_replicas: the replicas that are not running.
        error: the reason why the partition is currently unavailable, if it is.

    Several partitions may share the same list; do not modify these lists.
    """

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline_replicas: list[int] | None = None
    error: "type[KafkaError] | KafkaError | None" = None


class MemberInformation(NamedTuple):
    """A group member as described by the coordinator.

    Arguments:
        member_id: the id that the coordinator assigned.
        client_id: the client's own id.
        client_host: the host that the client connects from.
        member_metadata: the member's subscription; bytes if the group is not a consumer group.
        member_assignment: the member's assignment; bytes if the group is not a consumer group.
    """

    member_id: str
    client_id: str
    client_host: str
    member_metadata: object
    member_assignment: object

    @property
    def host(self) -> str:
        """Alias for ``client_host``."""
        return self.client_host

    @property
    def assignment(self) -> object:
        """Alias for ``member_assignment``."""
        return self.member_assignment


class GroupInformation(NamedTuple):
    """A group as described by its coordinator.

    Arguments:
        error_code: the error code if the group could not be described; 0 for success.
        group: the group's id.
        state: the state's name as brokers write it, such as "Stable".
        protocol_type: "consumer" for consumer groups.
        protocol: the protocol that the members agreed on, such as the name of an assignor.
        members: the group's members.
        authorized_operations: the operations that this client may perform on the group; None if not requested.
    """

    error_code: int
    group: str
    state: str
    protocol_type: str
    protocol: str
    members: list[MemberInformation]
    authorized_operations: list[str] | None = None

    @property
    def partition_assignor(self) -> str:
        """Alias for ``protocol``."""
        return self.protocol

    def _repr_html_(self) -> str:
        """Return the group and its members as HTML for a notebook."""
        from kafka.display.html_tables import groups

        return groups([self])


class RetryOptions(NamedTuple):
    """How many times, and at what interval, a failed operation is retried.

    Arguments:
        limit: number of retries after the first attempt; 0 or None for no limit.
        backoff_ms: time between attempts, in milliseconds.
        retry_on_timeouts: whether timeouts are retried as well.
    """

    limit: int | None = 3
    backoff_ms: int = 1000
    retry_on_timeouts: bool = True


class Node(NamedTuple):
    """A broker's id and address.

    Arguments:
        id: the broker's ``node.id``.
        host: the host that the broker listens on.
        port: the port that the broker listens on.
        rack: the broker's ``broker.rack``; None if it has no rack.
    """

    id: int
    host: str
    port: int
    rack: str | None = None


_TopicId = TypeVar("_TopicId", "UUID", str)


def is_another_topic(before: _TopicId | None, now: _TopicId | None) -> bool:
    """Return whether a topic's ids (KIP-516) show that the topic was deleted and recreated.

    Arguments:
        before: the topic's earlier id; None if it is unknown or the brokers (before 2.8) do not support topic ids.
        now: the topic's current id, or None for the same reasons.

    If either id is None, the result is False.
    """
    return before is not None and now is not None and before != now
