"""What the cluster looked like at a moment, and how it came there. Pure."""

import dataclasses
from collections.abc import Mapping

from kafka.structs import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition; None: not known.

    Arguments:
        first: the log start offset.
        end: the offset of the next record.
        size: the bytes of its leader's log.
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
        """How many offsets the log has: as many as records, where nothing is compacted or transactional."""
        return None if self.first is None or self.end is None else self.end - self.first


@dataclasses.dataclass(frozen=True, slots=True)
class TopicState:
    """A topic."""

    name: str
    internal: bool
    partitions: tuple[PartitionState, ...]

    @property
    def offsets(self) -> int | None:
        """Over all partitions; None where one does not tell."""
        return _sum([each.offsets for each in self.partitions])

    @property
    def end(self) -> int | None:
        """The sum of the ends, which grows as records come."""
        return _sum([each.end for each in self.partitions])

    @property
    def size(self) -> int | None:
        """The bytes of the leaders' logs."""
        return _sum([each.size for each in self.partitions])

    @property
    def short_of_replicas(self) -> int:
        """How many partitions have fewer replicas in sync than they should, or no leader."""
        return sum(each.leader < 0 or len(each.isr) < len(each.replicas) for each in self.partitions)


@dataclasses.dataclass(frozen=True, slots=True)
class GroupState:
    """A group.

    Arguments:
        kind: "classic", "consumer", "share" or "streams".
        committed: its offsets; for a share group where it begins.
        lags: how far behind; None: not known, or what is committed is no place in the topic.
    """

    name: str
    kind: str
    state: str
    committed: Mapping[TopicPartition, int]
    lags: Mapping[TopicPartition, int | None]

    @property
    def lag(self) -> int | None:
        """Over the partitions that tell; None where none does."""
        known = [each for each in self.lags.values() if each is not None]
        return sum(known) if known else None

    def lag_by_topic(self) -> dict[str, int]:
        """Its lag in each topic."""
        found: dict[str, int] = {}
        for tp, lag in self.lags.items():
            if lag is not None:
                found[tp.topic] = found.get(tp.topic, 0) + lag
        return found


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """The cluster at a moment.

    Arguments:
        time: seconds since 1970.
        brokers: id to "host:port".
        notes: what could not be found out, in words.
    """

    time: float
    cluster: str
    controller: int
    brokers: Mapping[int, str]
    topics: Mapping[str, TopicState]
    groups: Mapping[str, GroupState]
    notes: tuple[str, ...] = ()


def rate(before: Snapshot | None, now: Snapshot, topic: str) -> float | None:
    """How many records a second came to a topic between two moments; None where that is not known."""
    if before is None or topic not in before.topics or topic not in now.topics:
        return None
    earlier, later = before.topics[topic].end, now.topics[topic].end
    if earlier is None or later is None or later < earlier or now.time <= before.time:
        return None  # a topic that was made anew begins at 0 again
    return (later - earlier) / (now.time - before.time)


def _sum(values: list[int | None]) -> int | None:
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None
