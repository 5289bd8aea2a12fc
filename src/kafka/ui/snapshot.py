"""The state of the cluster at one time, and rates between two of these states. Pure.

A snapshot lists all topics and groups. Offsets and sizes are details, which are present for those topics and groups
that a page needs; see `Need`.
"""

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from kafka.structs import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class PartitionState:
    """The state of a partition; None means unknown.

    Arguments:
        first: the log start offset.
        end: the offset of the next record.
        size: the size of the leader's log in bytes.
    """

    number: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    first: int | None = None
    end: int | None = None
    size: int | None = None

    @property
    def is_offline(self) -> bool:
        """Whether the partition has no leader."""
        return self.leader < 0

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is not in sync."""
        return len(self.isr) < len(self.replicas)

    @property
    def offsets(self) -> int | None:
        """The number of offsets in the log. Without compaction and transactions, it is the number of records."""
        return None if self.first is None or self.end is None else self.end - self.first


@dataclasses.dataclass(frozen=True, slots=True)
class TopicState:
    """The state of a topic.

    Arguments:
        is_detailed: whether offsets and sizes were read; otherwise they are unknown.
    """

    name: str
    internal: bool
    partitions: tuple[PartitionState, ...]
    is_detailed: bool = True

    @property
    def replicas(self) -> int:
        """The replication factor; during a reassignment, that of the partition with the most replicas."""
        return max((len(each.replicas) for each in self.partitions), default=0)

    @property
    def offsets(self) -> int | None:
        """The number of offsets in all partitions; None if the number is unknown for one of them."""
        return _sum([each.offsets for each in self.partitions])

    @property
    def end(self) -> int | None:
        """The sum of the end offsets, which increases with each record."""
        return _sum([each.end for each in self.partitions])

    @property
    def size(self) -> int | None:
        """The size of the leaders' logs in bytes."""
        return _sum([each.size for each in self.partitions])

    @property
    def short_of_replicas(self) -> int:
        """The number of partitions that are under-replicated or have no leader."""
        return sum(each.is_offline or each.is_under_replicated for each in self.partitions)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupState:
    """The state of a group.

    Arguments:
        kind: "classic", "consumer", "share" or "streams".
        committed: the group's committed offsets or, for a share group, its start offsets.
        lags: the group's lag by partition; None if the lag is unknown, or if the committed number is not an offset.
        ends: the end offsets of the partitions, where they are known.
        is_detailed: whether offsets were read.
    """

    name: str
    kind: str
    state: str
    committed: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    lags: Mapping[TopicPartition, int | None] = dataclasses.field(default_factory=dict)
    ends: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    is_detailed: bool = True

    @property
    def lag(self) -> int | None:
        """The total lag of all partitions whose lag is known; None if it is known for none of them."""
        known = [each for each in self.lags.values() if each is not None]
        return sum(known) if known else None

    def lag_by_topic(self) -> dict[str, int]:
        """Return the group's lag by topic."""
        found: dict[str, int] = {}
        for tp, lag in self.lags.items():
            if lag is not None:
                found[tp.topic] = found.get(tp.topic, 0) + lag
        return found


class BrokerState(NamedTuple):
    """A broker that is part of the cluster.

    Arguments:
        address: "host:port".
        rack: the rack; "" if it has none.
    """

    node: int
    address: str
    rack: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the cluster at a point in time.

    Arguments:
        time: seconds since 1970.
        brokers: the live brokers by id.
        notes: explanations of why parts are missing, for display.
    """

    time: float
    cluster: str
    controller: int
    brokers: Mapping[int, BrokerState]
    topics: dict[str, TopicState]
    groups: dict[str, GroupState]
    notes: tuple[str, ...] = ()

    def completed_from(self, other: "Snapshot") -> "Snapshot":
        """Return this snapshot with the details that only another one has."""
        topics = {name: each for name, each in other.topics.items()
                  if each.is_detailed and name in self.topics and not self.topics[name].is_detailed}  # fmt: skip
        groups = {name: each for name, each in other.groups.items()
                  if each.is_detailed and name in self.groups and not self.groups[name].is_detailed}  # fmt: skip
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return dataclasses.replace(self, topics=self.topics | topics, groups=self.groups | groups, notes=notes)


@dataclasses.dataclass(frozen=True, slots=True)
class Need:
    """The names of the topics and groups whose details a page needs."""

    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    def __or__(self, other: "Need") -> "Need":
        return Need(self.topics | other.topics, self.groups | other.groups)

    def union(self, *others: "Need") -> "Need":
        """Return what this and other needs name together."""
        return Need(
            self.topics.union(*(each.topics for each in others)), self.groups.union(*(each.groups for each in others))
        )

    def missing_in(self, now: Snapshot) -> tuple[list[str], list[str]]:
        """Return the topics and groups of a snapshot that are needed and have no details yet."""
        topics = [name for name in self.topics if name in now.topics and not now.topics[name].is_detailed]
        groups = [name for name in self.groups if name in now.groups and not now.groups[name].is_detailed]
        return topics, groups


def rate(before: Snapshot | None, now: Snapshot, topic: str) -> float | None:
    """Return the number of records per second written to a topic between two snapshots; None if unknown."""
    if before is None or topic not in before.topics or topic not in now.topics:
        return None
    earlier, later = before.topics[topic].end, now.topics[topic].end
    if earlier is None or later is None or later < earlier or now.time <= before.time:
        return None  # a recreated topic starts again at 0
    return (later - earlier) / (now.time - before.time)


def _sum(values: list[int | None]) -> int | None:
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None
