"""The state of the cluster at one time, and rates between two of these states. Pure.

A snapshot lists all topics and groups. Offsets and sizes are details, which are present for those topics and groups
that a page needs; see `Need`.
"""

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafka.structs import TopicPartition
from kafka.ui.quorum import Quorum


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


@dataclasses.dataclass(frozen=True)
class TopicState:
    """The state of a topic. The sums of its partitions are kept, because tables sort by them.

    Arguments:
        is_detailed: whether offsets and sizes were read; otherwise they are unknown.
        as_of: when they were read, in seconds since 1970; None: at the time of the snapshot.
        topic_id: identifies the topic among all that ever had its name; the same for all if brokers have no ids.
    """

    name: str
    internal: bool
    partitions: tuple[PartitionState, ...]
    is_detailed: bool = True
    as_of: float | None = None
    topic_id: str = ""

    @property
    def replicas(self) -> int:
        """The replication factor; during a reassignment, that of the partition with the most replicas."""
        return max((len(each.replicas) for each in self.partitions), default=0)

    @functools.cached_property
    def offsets(self) -> int | None:
        """The number of offsets in all partitions; None if the number is unknown for one of them."""
        return _sum([each.offsets for each in self.partitions])

    @functools.cached_property
    def end(self) -> int | None:
        """The sum of the end offsets, which increases with each record."""
        return _sum([each.end for each in self.partitions])

    @functools.cached_property
    def size(self) -> int | None:
        """The size of the leaders' logs in bytes."""
        return _sum([each.size for each in self.partitions])

    @functools.cached_property
    def short_of_replicas(self) -> int:
        """The number of partitions that are under-replicated or have no leader."""
        return sum(each.is_offline or each.is_under_replicated for each in self.partitions)

    def with_details(self, other: "TopicState", as_of: float | None) -> "TopicState":
        """Return this topic, with its leaders and replicas, and the offsets and sizes of another of its states."""
        known = {each.number: each for each in other.partitions}
        partitions = tuple(
            dataclasses.replace(
                each, first=known[each.number].first, end=known[each.number].end, size=known[each.number].size
            )
            if each.number in known
            else each
            for each in self.partitions
        )
        return dataclasses.replace(self, partitions=partitions, is_detailed=True, as_of=as_of)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupState:
    """The state of a group.

    Arguments:
        kind: "classic", "consumer", "share" or "streams".
        committed: the group's committed offsets or, for a share group, its start offsets.
        lags: the group's lag by partition; None if the lag is unknown, or if the committed number is not an offset.
        ends: the end offsets of the partitions, where they are known.
        is_detailed: whether offsets were read.
        as_of: when they were read, in seconds since 1970; None: at the time of the snapshot.
    """

    name: str
    kind: str
    state: str
    committed: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    lags: Mapping[TopicPartition, int | None] = dataclasses.field(default_factory=dict)
    ends: Mapping[TopicPartition, int] = dataclasses.field(default_factory=dict)
    is_detailed: bool = True
    as_of: float | None = None

    def with_details(self, other: "GroupState", as_of: float | None) -> "GroupState":
        """Return this group, with its state, and the offsets of another of its states."""
        return dataclasses.replace(
            self, committed=other.committed, lags=other.lags, ends=other.ends, is_detailed=True, as_of=as_of
        )

    @property
    def lag(self) -> int | None:
        """The total lag of all partitions whose lag is known; None if it is known for none of them."""
        known = [each for each in self.lags.values() if each is not None]
        return sum(known) if known else None

    @property
    def beyond_end(self) -> list[TopicPartition]:
        """The partitions that end before the group's committed offset, although nothing there is left to read."""
        return [tp for tp, end in self.ends.items() if self.committed.get(tp, 0) > end]

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
        controller: the node id of the controller, which is not a broker if it has the role "controller" only; -1 if
            there is none.
        brokers: the live brokers by id.
        notes: explanations of why parts are missing, for display.
        is_partial: whether parts are missing because brokers did not answer in time, such as after one has died.
        quorum: the metadata quorum, or why it is not known.
    """

    time: float
    cluster: str
    controller: int
    brokers: Mapping[int, BrokerState]
    topics: dict[str, TopicState]
    groups: dict[str, GroupState]
    notes: tuple[str, ...] = ()
    is_partial: bool = False
    quorum: Quorum | str = ""

    def completed_from(self, other: "Snapshot", read: "Need | None" = None) -> "Snapshot":
        """Return this snapshot with the details of another one, if they are newer or this one has none.

        Arguments:
            read: the topics and groups whose details are taken; None: all.
        """
        names = other.topics.keys() if read is None else read.topics & other.topics.keys()
        ids = other.groups.keys() if read is None else read.groups & other.groups.keys()
        topics = {
            name: self.topics[name].with_details(other.topics[name], self._as_of(other.topics[name], other))
            for name in names
            if self._lacks(self.topics.get(name), other.topics[name], other)
        }
        groups = {
            name: self.groups[name].with_details(other.groups[name], self._as_of(other.groups[name], other))
            for name in ids
            if self._lacks(self.groups.get(name), other.groups[name], other)
        }
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return dataclasses.replace(self, topics=self.topics | topics, groups=self.groups | groups, notes=notes)

    def read_at(self, state: TopicState | GroupState) -> float:
        """Return when the details of a topic or group of this snapshot were read, in seconds since 1970."""
        return self.time if state.as_of is None else state.as_of

    def _lacks(self, ours: TopicState | GroupState | None, theirs: TopicState | GroupState, other: "Snapshot") -> bool:
        if ours is None or not theirs.is_detailed:
            return False
        return not ours.is_detailed or other.read_at(theirs) > self.read_at(ours)

    def _as_of(self, theirs: TopicState | GroupState, other: "Snapshot") -> float | None:
        found = other.read_at(theirs)
        return None if found == self.time else found


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

    def missing_in(self, now: Snapshot, since: float) -> "Need":
        """Return which topics and groups of a snapshot are needed, and have no details that are new enough.

        Arguments:
            since: the time since which details are new enough, in seconds since 1970.
        """

        def is_missing(state: TopicState | GroupState | None) -> bool:
            return state is not None and (not state.is_detailed or now.read_at(state) < since)

        return Need(
            frozenset(name for name in self.topics if is_missing(now.topics.get(name))),
            frozenset(name for name in self.groups if is_missing(now.groups.get(name))),
        )

    def parts(self, topics: int, groups: int) -> Iterator["Need"]:
        """Yield this need in parts of at most the given numbers of topics and groups."""
        names, ids = sorted(self.topics), sorted(self.groups)
        for start in range(0, len(names), topics):
            yield Need(topics=frozenset(names[start : start + topics]))
        for start in range(0, len(ids), groups):
            yield Need(groups=frozenset(ids[start : start + groups]))


def rate(before: Snapshot | None, now: Snapshot, topic: str) -> float | None:
    """Return the number of records per second written to a topic between two snapshots; None if unknown."""
    if before is None or topic not in before.topics or topic not in now.topics:
        return None
    earlier, later = before.topics[topic].end, now.topics[topic].end
    seconds = now.read_at(now.topics[topic]) - before.read_at(before.topics[topic])
    if earlier is None or later is None or later < earlier or seconds <= 0:
        return None  # a recreated topic starts again at 0
    return (later - earlier) / seconds


def _sum(values: list[int | None]) -> int | None:
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None
