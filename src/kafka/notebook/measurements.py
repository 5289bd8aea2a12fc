"""What the widgets show: the lag of a group by partition, and the rates of topics.

Each class asks the cluster once per call of `measure`. To add a widget, add a class with the same method here.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kafka.admin import AsyncKafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError
from kafka.structs import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True)
class Measurement:
    """Values at one time.

    Arguments:
        rows: by name, the value; None if it is unknown.
        note: a remark for the user.
    """

    rows: dict[str, float | None]
    note: str = ""

    @property
    def total(self) -> float | None:
        """Sum of the known values; None if none is known."""
        known = [each for each in self.rows.values() if each is not None]
        return sum(known) if known else None


class Measures(Protocol):
    """Asks a cluster for a `Measurement`."""

    async def measure(self, admin: AsyncKafkaAdminClient) -> Measurement:
        """Return the current values. Raises the errors of the admin client."""


class GroupLag:
    """The number of records, by partition, that a group has not committed yet.

    Arguments:
        group: the group's id.
    """

    def __init__(self, group: str) -> None:
        self._group = group

    async def measure(self, admin: AsyncKafkaAdminClient) -> Measurement:
        """Return the lag by partition. Partitions without a committed offset have no lag."""
        committed = (await admin.list_group_offsets([self._group]))[self._group]
        offsets = {tp: each.offset for tp, each in committed.items() if each.offset >= 0}
        if not offsets:
            return Measurement({}, f"the group {self._group} has committed nothing yet")
        ends = await _ends(admin, list(offsets))
        rows: dict[str, float | None] = {}
        for tp in sorted(offsets):
            end = ends[tp]
            rows[f"{tp.topic}-{tp.partition}"] = None if end is None else max(0, end - offsets[tp])
        return Measurement(rows)


class TopicRates:
    """The number of offsets per second that topics grow by. In compacted topics and topics with transactions, this is
    not exactly the number of records.

    Arguments:
        topics: the names of the topics.
        now: the clock, in seconds.
    """

    def __init__(self, topics: Sequence[str], now: Callable[[], float] = time.monotonic) -> None:
        self._topics = tuple(topics)
        self._now = now
        self._before: tuple[float, dict[TopicPartition, int]] | None = None

    async def measure(self, admin: AsyncKafkaAdminClient) -> Measurement:
        """Return the rates since the last call; the first call returns None for each topic."""
        described = await admin.describe_topics(list(self._topics))
        partitions = [
            TopicPartition(topic["name"], each["partition"]) for topic in described for each in topic["partitions"]
        ]
        found, now = await _ends(admin, partitions), self._now()
        ends = {tp: end for tp, end in found.items() if end is not None}
        before, self._before = self._before, (now, ends)
        missing = sorted(set(self._topics) - {tp.topic for tp in partitions})
        note = f"not found: {', '.join(missing)}" if missing else ""
        if before is None or now <= before[0]:
            return Measurement(dict.fromkeys(self._topics), note or "the rates need a second measurement")
        rates: dict[str, float] = {}
        for tp, end in ends.items():
            if tp in before[1]:
                grown = max(0, end - before[1][tp]) / (now - before[0])
                rates[tp.topic] = rates.get(tp.topic, 0.0) + grown
        return Measurement({topic: rates.get(topic) for topic in self._topics}, note)


async def _ends(admin: AsyncKafkaAdminClient, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int | None]:
    """Return the end offsets; None for a partition whose leader does not answer."""
    if not partitions:
        return {}
    found: dict[TopicPartition, Any] = {}  # a partition's offset, or its error
    found |= await admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST), raise_errors=False)
    return {tp: None if isinstance(each, KafkaError) else each.offset for tp, each in found.items()}
