"""The API StreamsGroupHeartbeat (key 88, versions 0 and 1): keep a member in its streams group (KIP-1071)."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, int64, string, struct, uint16
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class KeyValue(Struct):
    """An element of `TopicInfo.topic_configs` and of `StreamsGroupHeartbeatRequest.client_tags`."""

    key: str = string()
    value: str = string()


class TopicInfo(Struct):
    """The type of several fields of `Subtopology`."""

    name: str = string()
    partitions: int = int32()
    replication_factor: int = int16()
    topic_configs: list[KeyValue] = array(KeyValue)


class CopartitionGroup(Struct):
    """An element of `Subtopology.copartition_groups`."""

    source_topics: list[int] = array(int16)
    source_topic_regex: list[int] = array(int16)
    repartition_source_topics: list[int] = array(int16)


class Subtopology(Struct):
    """An element of `Topology.subtopologies`."""

    subtopology_id: str = string()
    source_topics: list[str] = array(string)
    source_topic_regex: list[str] = array(string)
    state_changelog_topics: list[TopicInfo] = array(TopicInfo)
    repartition_sink_topics: list[str] = array(string)
    repartition_source_topics: list[TopicInfo] = array(TopicInfo)
    copartition_groups: list[CopartitionGroup] = array(CopartitionGroup)


class Topology(Struct):
    """The type of `StreamsGroupHeartbeatRequest.topology`."""

    epoch: int = int32()
    subtopologies: list[Subtopology] = array(Subtopology)


class TaskIds(Struct):
    """The type of several fields of `StreamsGroupHeartbeatRequest`."""

    subtopology_id: str = string()
    partitions: list[int] = array(int32)


class Endpoint(Struct):
    """The type of `StreamsGroupHeartbeatRequest.user_endpoint` and `EndpointToPartitions.user_endpoint`."""

    host: str = string()
    port: int = uint16()


class TaskOffset(Struct):
    """The type of several fields of `StreamsGroupHeartbeatRequest`."""

    subtopology_id: str = string()
    partition: int = int32()
    offset: int = int64()


class StreamsGroupHeartbeatRequest(
    Request["StreamsGroupHeartbeatResponse"], api_key=88, versions=(0, 1), flexible_since=0
):
    """Keep a member in its streams group (KIP-1071)."""

    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()
    endpoint_information_epoch: int = int32()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    topology: Topology | None = struct(Topology, nullable=True, default=None)
    active_tasks: list[TaskIds] | None = array(TaskIds, nullable=True, default=None)
    standby_tasks: list[TaskIds] | None = array(TaskIds, nullable=True, default=None)
    warmup_tasks: list[TaskIds] | None = array(TaskIds, nullable=True, default=None)
    process_id: str | None = string(nullable=True, default=None)
    user_endpoint: Endpoint | None = struct(Endpoint, nullable=True, default=None)
    client_tags: list[KeyValue] | None = array(KeyValue, nullable=True, default=None)
    task_offsets: list[TaskOffset] | None = array(TaskOffset, nullable=True, default=None)
    task_end_offsets: list[TaskOffset] | None = array(TaskOffset, nullable=True, default=None)
    shutdown_application: bool = boolean()


class Status(Struct):
    """An element of `StreamsGroupHeartbeatResponse.status`."""

    status_code: int = int8()
    status_detail: str = string()


class TopicPartition(Struct):
    """The type of several fields of `EndpointToPartitions`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class EndpointToPartitions(Struct):
    """An element of `StreamsGroupHeartbeatResponse.partitions_by_user_endpoint`."""

    user_endpoint: Endpoint = struct(Endpoint)
    active_partitions: list[TopicPartition] = array(TopicPartition)
    standby_partitions: list[TopicPartition] = array(TopicPartition)


class StreamsGroupHeartbeatResponse(Response, request=StreamsGroupHeartbeatRequest):
    """The response to `StreamsGroupHeartbeatRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    member_id: str = string()
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    acceptable_recovery_lag_legacy: int = int32(until=0)
    task_offset_interval_ms: int = int32()
    acceptable_recovery_lag: int = int64(since=1, default=-1, ignorable=True)
    status: list[Status] | None = array(Status, nullable=True)
    active_tasks: list[TaskIds] | None = array(TaskIds, nullable=True, default=None)
    standby_tasks: list[TaskIds] | None = array(TaskIds, nullable=True, default=None)
    warmup_tasks: list[TaskIds] | None = array(TaskIds, nullable=True, default=None)
    topology_description_required: bool = boolean(since=1)
    endpoint_information_epoch: int = int32()
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = array(
        EndpointToPartitions, nullable=True, default=None
    )
