"""The API StreamsGroupDescribe (key 89, versions 0 to 1): describe streams groups (KIP-1071)."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, int64, string, struct, uint16
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class StreamsGroupDescribeRequest(
    Request["StreamsGroupDescribeResponse"], api_key=89, versions=(0, 1), flexible_since=0
):
    """Describe streams groups (KIP-1071)."""

    group_ids: list[str] = array(string)
    include_authorized_operations: bool = boolean()
    include_topology_description: bool = boolean(since=1)


class KeyValue(Struct):
    """An element of `TopicInfo.topic_configs` and of `Member.client_tags`."""

    key: str = string()
    value: str = string()


class TopicInfo(Struct):
    """The type of several fields of `Subtopology`."""

    name: str = string()
    partitions: int = int32()
    replication_factor: int = int16()
    topic_configs: list[KeyValue] = array(KeyValue)


class Subtopology(Struct):
    """An element of `Topology.subtopologies`."""

    subtopology_id: str = string()
    source_topics: list[str] = array(string)
    repartition_sink_topics: list[str] = array(string)
    state_changelog_topics: list[TopicInfo] = array(TopicInfo)
    repartition_source_topics: list[TopicInfo] = array(TopicInfo)


class Topology(Struct):
    """The type of `DescribedGroup.topology`."""

    epoch: int = int32()
    subtopologies: list[Subtopology] | None = array(Subtopology, nullable=True, default=None)


class Endpoint(Struct):
    """The type of `Member.user_endpoint`."""

    host: str = string()
    port: int = uint16()


class TaskOffset(Struct):
    """An element of `Member.task_offsets` and of `Member.task_end_offsets`."""

    subtopology_id: str = string()
    partition: int = int32()
    offset: int = int64()


class TaskIds(Struct):
    """The type of several fields of `Assignment`."""

    subtopology_id: str = string()
    partitions: list[int] = array(int32)


class Assignment(Struct):
    """The type of `Member.assignment` and `Member.target_assignment`."""

    active_tasks: list[TaskIds] = array(TaskIds)
    standby_tasks: list[TaskIds] = array(TaskIds)
    warmup_tasks: list[TaskIds] = array(TaskIds)


class Member(Struct):
    """An element of `DescribedGroup.members`."""

    member_id: str = string()
    member_epoch: int = int32()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    client_id: str = string()
    client_host: str = string()
    topology_epoch: int = int32()
    process_id: str = string()
    user_endpoint: Endpoint | None = struct(Endpoint, nullable=True, default=None)
    client_tags: list[KeyValue] = array(KeyValue)
    task_offsets: list[TaskOffset] = array(TaskOffset)
    task_end_offsets: list[TaskOffset] = array(TaskOffset)
    assignment: Assignment = struct(Assignment)
    target_assignment: Assignment = struct(Assignment)
    is_classic: bool = boolean()


class TopologyDescriptionNode(Struct):
    """An element of `TopologyDescriptionSubtopology.nodes`, or a field of `TopologyDescriptionGlobalStore`."""

    name: str = string(since=1)
    node_type: int = int8(since=1)
    source_topics: list[str] = array(string, since=1)
    sink_topic: str | None = string(since=1, nullable=True, default=None)
    stores: list[str] = array(string, since=1)
    successors: list[str] = array(string, since=1)


class TopologyDescriptionSubtopology(Struct):
    """An element of `TopologyDescription.subtopologies`."""

    subtopology_id: str = string(since=1)
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode, since=1)


class TopologyDescriptionGlobalStore(Struct):
    """An element of `TopologyDescription.global_stores`."""

    source: TopologyDescriptionNode = struct(TopologyDescriptionNode, since=1)
    processor: TopologyDescriptionNode = struct(TopologyDescriptionNode, since=1)


class TopologyDescription(Struct):
    """The type of `DescribedGroup.topology_description`."""

    subtopologies: list[TopologyDescriptionSubtopology] = array(TopologyDescriptionSubtopology, since=1)
    global_stores: list[TopologyDescriptionGlobalStore] = array(TopologyDescriptionGlobalStore, since=1)


class DescribedGroup(Struct):
    """An element of `StreamsGroupDescribeResponse.groups`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    topology: Topology | None = struct(Topology, nullable=True, default=None)
    members: list[Member] = array(Member)
    authorized_operations: int = int32(default=-2_147_483_648)
    topology_description: TopologyDescription | None = struct(TopologyDescription, since=1, nullable=True, default=None)
    topology_description_status: int = int8(since=1)
    assignor_name: str | None = string(since=1, nullable=True, default=None, ignorable=True)


class StreamsGroupDescribeResponse(Response, request=StreamsGroupDescribeRequest):
    """The response to `StreamsGroupDescribeRequest`."""

    throttle_time_ms: int = int32()
    groups: list[DescribedGroup] = array(DescribedGroup)
