"""Describes the members of groups of any type in one form, with their assigned partitions, or counts them.

A share group assigns a partition to several members; streams groups assign tasks, whose source partitions count.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError
from kafka.structs import TopicPartition
from kafka.ui.snapshot import GroupState, Snapshot

if TYPE_CHECKING:
    from kafka.admin import AsyncKafkaAdminClient

_WITHOUT_MEMBERS = ("Empty", "Dead")


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """A member of a group.

    Arguments:
        name: the instance id of a static member; otherwise, the member id.
        client: the client id.
        host: the address from which it connects.
    """

    name: str
    client: str
    host: str
    partitions: tuple[TopicPartition, ...]


class MemberCounts:
    """Counts the members of groups, for lists. The counts are kept until the next snapshot.

    Arguments:
        patience_s: how long a page waits for the counts, in seconds. The next one has them.
    """

    def __init__(self, admin: AsyncKafkaAdminClient, patience_s: float) -> None:
        self._admin = admin
        self._patience_s = patience_s
        self._time = 0.0
        self._kept: dict[str, int] = {}
        self._reading: asyncio.Task[None] | None = None

    async def of(self, groups: Iterable[GroupState], now: Snapshot) -> dict[str, int]:
        """Return the numbers of members of those groups whose numbers could be read in a short time."""
        if now.time != self._time:
            self._time, self._kept = now.time, {}
        every = list(groups)
        unknown = [each for each in every if each.state not in _WITHOUT_MEMBERS and each.name not in self._kept]
        if unknown:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._read(unknown, now.time))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience_s):
                    await asyncio.shield(self._reading)
        empty = {each.name: 0 for each in every if each.state in _WITHOUT_MEMBERS}
        return empty | {each.name: self._kept[each.name] for each in every if each.name in self._kept}

    async def close(self) -> None:
        """Stop reading."""
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading

    async def _read(self, groups: Sequence[GroupState], time: float) -> None:
        for kind, names in _by_kind(groups).items():
            try:
                found = await _describe(self._admin, kind, names)
            except KafkaError:
                continue  # the counts are unknown; the page of a group has the error
            if time == self._time:
                self._kept |= {name: len(each["members"]) for name, each in found.items() if not each["error"]}


def _by_kind(groups: Sequence[GroupState]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in groups:
        found.setdefault(each.kind if each.kind in ("share", "streams") else "", []).append(each.name)
    return found


async def _describe(admin: AsyncKafkaAdminClient, kind: str, names: list[str]) -> dict[str, dict[str, Any]]:
    calls = {"share": admin.describe_share_groups, "streams": admin.describe_streams_groups}
    return await calls.get(kind, admin.describe_groups)(names)


async def describe_members(admin: AsyncKafkaAdminClient, group: GroupState) -> list[Member]:
    """Return the members of a group. Raises `KafkaError`."""
    found = (await _describe(admin, group.kind, [group.name]))[group.name]
    return [_member(each, found) for each in found.get("members") or ()]


def _member(described: Mapping[str, Any], group: Mapping[str, Any]) -> Member:
    instance = described.get("group_instance_id") or described.get("instance_id")
    return Member(
        name=str(instance or described["member_id"]),
        client=str(described.get("client_id") or ""),
        host=str(described.get("client_host") or "").lstrip("/"),
        partitions=tuple(_assigned(described, group)),
    )


def _assigned(member: Mapping[str, Any], group: Mapping[str, Any]) -> Iterator[TopicPartition]:
    """Yield the partitions that are assigned to a member, in a group of any protocol."""
    assignment = member.get("member_assignment") or member.get("assignment") or {}
    if not isinstance(assignment, Mapping):
        return  # the group uses an application-specific protocol
    for each in assignment.get("assigned_partitions") or assignment.get("topic_partitions") or ():
        topic = str(each.get("topic") or each.get("topic_name"))
        yield from (TopicPartition(topic, number) for number in each["partitions"])
    sources = _sources(group)
    for task in assignment.get("active_tasks") or ():
        for topic in sources.get(task["subtopology_id"], ()):
            yield from (TopicPartition(topic, number) for number in task["partitions"])


def _sources(group: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the source topics of each subtopology of a streams group."""
    topology = group.get("topology") or {}
    return {
        each["subtopology_id"]: [*each.get("source_topics", ()), *_names(each.get("repartition_source_topics"))]
        for each in topology.get("subtopologies") or ()
    }


def _names(topics: Any) -> list[str]:
    return [str(each["name"]) for each in topics or ()]
