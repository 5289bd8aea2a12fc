"""The state of the cluster at one time, and rates between two of these states. Pure."""

import dataclasses
from collections.abc import Mapping

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
    first: int | None
    end: int | None
    size: int | None

    @property
    def offsets(self) -> int | None:
        """The number of offsets in the log. Without compaction and transactions, it is the number of records."""
        return None if self.first is None or self.end is None else self.end - self.first


@dataclasses.dataclass(frozen=True, slots=True)
class TopicState:
    """The state of a topic."""

    name: str
    internal: bool
    partitions: tuple[PartitionState, ...]

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
        return sum(each.leader < 0 or len(each.isr) < len(each.replicas) for each in self.partitions)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupState:
    """The state of a group.

    Arguments:
        kind: "classic", "consumer", "share" or "streams".
        committed: the group's committed offsets or, for a share group, its start offsets.
        lags: the group's lag by partition; None if the lag is unknown, or if the committed number is not an offset.
    """

    name: str
    kind: str
    state: str
    committed: Mapping[TopicPartition, int]
    lags: Mapping[TopicPartition, int | None]

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


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the cluster at a point in time.

    Arguments:
        time: seconds since 1970.
        brokers: ids to "host:port".
        notes: explanations of why parts are missing, for display.
    """

    time: float
    cluster: str
    controller: int
    brokers: Mapping[int, str]
    topics: Mapping[str, TopicState]
    groups: Mapping[str, GroupState]
    notes: tuple[str, ...] = ()


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
