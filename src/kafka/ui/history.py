"""The values of earlier snapshots, for the charts of the last hour and for the lag in time.

`ClusterPoller` adds each snapshot, and the details that are read in between. To keep another value, add it to
`History`.
"""

import collections
import dataclasses
from collections.abc import Hashable, Iterable
from typing import TypeVar

from kafka.structs import TopicPartition
from kafka.ui.snapshot import Need, Snapshot, rate

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
KEPT = 720
"""Number of values in the history: one hour at one snapshot every five seconds."""


@dataclasses.dataclass(slots=True)
class History:
    """Values of earlier snapshots, as pairs of a time and a value."""

    rates: dict[str, collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)
    lags: dict[tuple[str, str], collections.deque[tuple[float, float]]] = dataclasses.field(default_factory=dict)
    ends: dict[TopicPartition, collections.deque[tuple[float, int]]] = dataclasses.field(default_factory=dict)
    """The end offsets of the partitions that groups read."""

    def add(self, before: Snapshot | None, now: Snapshot) -> None:
        """Add a snapshot; drop topics and groups that no longer exist."""
        self._add(before, now, now.topics, now.groups)
        seen = {(group.name, topic) for group in now.groups.values() for topic in group.lag_by_topic()}
        ends = {tp for group in now.groups.values() for tp in group.ends}
        unknown = {each.name for each in now.groups.values() if not each.is_detailed}
        self.rates = {topic: kept for topic, kept in self.rates.items() if topic in now.topics}
        self.lags = {key: kept for key, kept in self.lags.items() if key in seen or key[0] in unknown}
        self.ends = {tp: kept for tp, kept in self.ends.items() if tp in ends or (unknown and tp.topic in now.topics)}

    def add_details(self, before: Snapshot, now: Snapshot, read: Need) -> None:
        """Add the details of topics and groups that were read after their snapshot was taken."""
        self._add(before, now, read.topics & now.topics.keys(), read.groups & now.groups.keys())

    def _add(self, before: Snapshot | None, now: Snapshot, topics: Iterable[str], groups: Iterable[str]) -> None:
        for topic in topics:
            if (found := rate(before, now, topic)) is not None:
                _append(self.rates, topic, now.read_at(now.topics[topic]), found)
        for name in groups:
            group = now.groups[name]
            time = now.read_at(group)
            for topic, lag in group.lag_by_topic().items():
                _append(self.lags, (name, topic), time, lag)
            for tp, end in group.ends.items():
                _append(self.ends, tp, time, end)

    def seconds_behind(self, tp: TopicPartition, committed: int) -> float | None:
        """Return how long ago the partition ended at a committed offset; None if that was before the history.

        The result is the lag in time: the group has not processed what was written since.
        """
        kept = list(self.ends.get(tp, ()))
        reached = [when for when, end in kept if end <= committed]
        return kept[-1][0] - reached[-1] if reached else None


def _append(series: dict[K, collections.deque[tuple[float, V]]], key: K, time: float, value: V) -> None:
    """Add a value, unless the series has one of this time or a later one."""
    kept = series.setdefault(key, collections.deque(maxlen=KEPT))
    if not kept or kept[-1][0] < time:
        kept.append((time, value))
