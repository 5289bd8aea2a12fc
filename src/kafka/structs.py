"""The plain values of the public API, as named tuples."""

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
    """Load a tuple that clients of kafka-python 1.x had here."""
    return _old_names.of_a_package(__name__, name, _HOMES)


def values_by_name(
    what: str, order: Sequence[str], in_order: Sequence[Any], named: Mapping[str, Any], known: Container[str]
) -> dict[str, Any]:
    """Give values that a constructor was called with their names. Raises `TypeError` as Python does for a function.

    Arguments:
        what: the class, for errors.
        order: the names of values by place.
        in_order, named: the values by place, and those by name.
        known: all names.
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
    """The replica of a partition on a broker.

    Arguments:
        topic: name of the topic.
        partition: number of the partition.
        broker_id: the broker.
    """

    topic: str
    partition: int
    broker_id: int


class MemberState:
    """How far a consumer is with its group."""

    UNJOINED = "<unjoined>"
    REBALANCING = "<rebalancing>"
    STABLE = "<stable>"


@dataclasses.dataclass(frozen=True, slots=True)
class SubscriptionPattern:
    """A regular expression for topics that the coordinator matches, for ``group_protocol='consumer'`` (KIP-848).

    Arguments:
        pattern: in the syntax of RE2/J; it has to match the whole name of a topic. Java: ``SubscriptionPattern``.
    """

    pattern: str

    def __post_init__(self) -> None:
        given: object = self.pattern
        if not isinstance(given, str) or not given:
            raise ValueError(f"a pattern is a regular expression as text, not {given!r}")


class ConsumerGroupMetadata(NamedTuple):
    """A consumer's membership in its group, by which a broker tells it from those that have left (KIP-447).

    Arguments:
        group_id: the group; None without one.
        generation_id: of the group; -1 while the consumer is no member.
        member_id: the consumer's.
        group_instance_id: of a static member.
        state: one of `MemberState`.
    """

    group_id: str | None = None
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    state: str = MemberState.UNJOINED


class OffsetAndMetadata(NamedTuple):
    """What is committed for a partition.

    Arguments:
        offset: the offset of the next record to read.
        metadata: any short text kept with it (brokers allow 4,096 bytes unless set otherwise).
        leader_epoch: epoch of the leader that the last record came from (KIP-320); None or -1: not known.
    """

    offset: int
    metadata: str | None = None
    leader_epoch: int | None = None


class OffsetAndTimestamp(NamedTuple):
    """An offset found by its time.

    Arguments:
        offset: the first offset at or after the time asked for.
        timestamp: that record's timestamp in milliseconds since 1970-01-01 UTC.
        leader_epoch: epoch of the leader when the record was written; None or -1: not known.
    """

    offset: int
    timestamp: int
    leader_epoch: int | None = None


class BrokerMetadata(NamedTuple):
    """A broker as the cluster announces it.

    Arguments:
        nodeId: the broker's ``node.id``.
        host: where it listens.
        port: where it listens.
        rack: its ``broker.rack``; None where it has none.
    """

    nodeId: int  # noqa: N815  # kafka-python's name
    host: str
    port: int
    rack: str | None = None


class PartitionMetadata(NamedTuple):
    """A partition as the cluster announces it; ``leader`` is -1 where there is none, brokers are given by id.

    Arguments:
        topic: the topic.
        partition: its number.
        leader: the broker that takes and gives its records.
        leader_epoch: counts its leaders (KIP-320); -1 where the broker does not tell.
        replicas: all that keep it, the preferred leader first.
        isr: those of them that are in sync.
        offline_replicas: those of them that are not running.
        error: why it cannot be used at present, if so.

    Partitions share their lists: do not change them.
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
    """A member of a group, as the coordinator describes it.

    Arguments:
        member_id: as the coordinator calls it.
        client_id: as the client calls itself.
        client_host: from where it connects.
        member_metadata: what it subscribes to; bytes where the group is not one of consumers.
        member_assignment: what it was given; bytes where the group is not one of consumers.
    """

    member_id: str
    client_id: str
    client_host: str
    member_metadata: object
    member_assignment: object

    @property
    def host(self) -> str:
        """The same as ``client_host``."""
        return self.client_host

    @property
    def assignment(self) -> object:
        """The same as ``member_assignment``."""
        return self.member_assignment


class GroupInformation(NamedTuple):
    """A group, as its coordinator describes it.

    Arguments:
        error_code: why it could not be described; 0: it was.
        group: its id.
        state: as brokers write it, such as "Stable".
        protocol_type: "consumer" for consumers.
        protocol: what its members agreed on, such as the name of an assignor.
        members: those that are in it.
        authorized_operations: what this client may do with it; None where that was not asked for.
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
        """The same as ``protocol``."""
        return self.protocol

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the group, and its members."""
        from kafka.display.html_tables import groups

        return groups([self])


class RetryOptions(NamedTuple):
    """How often and how long apart something is tried again.

    Arguments:
        limit: number of attempts after the first; 0 or None for no limit.
        backoff_ms: pause between two attempts, in milliseconds.
        retry_on_timeouts: whether a timeout is tried again as well.
    """

    limit: int | None = 3
    backoff_ms: int = 1000
    retry_on_timeouts: bool = True


class Node(NamedTuple):
    """A broker's id and address.

    Arguments:
        id: its ``node.id``.
        host: where it listens.
        port: where it listens.
        rack: its ``broker.rack``; None where it has none.
    """

    id: int
    host: str
    port: int
    rack: str | None = None


_TopicId = TypeVar("_TopicId", "UUID", str)


def is_another_topic(before: _TopicId | None, now: _TopicId | None) -> bool:
    """Return whether a topic was deleted and recreated, which its id shows (KIP-516).

    Arguments:
        before: its earlier id. None: it is unknown, or the brokers have no ids (before 2.8); the result is False then.
        now: its current id, likewise.
    """
    return before is not None and now is not None and before != now
