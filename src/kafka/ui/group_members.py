"""Describes the members of groups of any type in one form, with the partitions that are assigned to them.

A share group assigns a partition to several members; streams groups assign tasks, whose source partitions count.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from kafka.structs import TopicPartition
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import GroupState


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


async def describe_members(ui: Ui, group: GroupState) -> list[Member]:
    """Return the members of a group. Raises `KafkaError`."""
    calls = {"share": ui.admin.describe_share_groups, "streams": ui.admin.describe_streams_groups}
    found = (await calls.get(group.kind, ui.admin.describe_groups)([group.name]))[group.name]
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
