"""The API OffsetFetch (key 9, versions 0 to 10): read a group's stored offsets."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class OffsetFetchRequestTopic(Struct):
    """An element of `OffsetFetchRequest.topics`."""

    name: str = string(until=7)
    partition_indexes: list[int] = array(int32, until=7)


class OffsetFetchRequestTopics(Struct):
    """An element of `OffsetFetchRequestGroup.topics`."""

    name: str = string(since=8, until=9, ignorable=True)
    topic_id: UUID = uuid(since=10, ignorable=True)
    partition_indexes: list[int] = array(int32, since=8)


class OffsetFetchRequestGroup(Struct):
    """An element of `OffsetFetchRequest.groups`."""

    group_id: str = string(since=8)
    member_id: str | None = string(since=9, nullable=True, default=None, ignorable=True)
    member_epoch: int = int32(since=9, default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None = array(OffsetFetchRequestTopics, since=8, nullable=True)


class OffsetFetchRequest(Request["OffsetFetchResponse"], api_key=9, versions=(0, 10), flexible_since=6):
    """Read a group's stored offsets."""

    group_id: str = string(until=7)
    topics: list[OffsetFetchRequestTopic] | None = array(OffsetFetchRequestTopic, until=7, nullable=True, null_since=2)
    groups: list[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, since=8)
    require_stable: bool = boolean(since=7)


class OffsetFetchResponsePartition(Struct):
    """An element of `OffsetFetchResponseTopic.partitions`."""

    partition_index: int = int32(until=7)
    committed_offset: int = int64(until=7)
    committed_leader_epoch: int = int32(since=5, until=7, default=-1, ignorable=True)
    metadata: str | None = string(until=7, nullable=True)
    error_code: int = int16(until=7)


class OffsetFetchResponseTopic(Struct):
    """An element of `OffsetFetchResponse.topics`."""

    name: str = string(until=7)
    partitions: list[OffsetFetchResponsePartition] = array(OffsetFetchResponsePartition, until=7)


class OffsetFetchResponsePartitions(Struct):
    """An element of `OffsetFetchResponseTopics.partitions`."""

    partition_index: int = int32(since=8)
    committed_offset: int = int64(since=8)
    committed_leader_epoch: int = int32(since=8, default=-1, ignorable=True)
    metadata: str | None = string(since=8, nullable=True)
    error_code: int = int16(since=8)


class OffsetFetchResponseTopics(Struct):
    """An element of `OffsetFetchResponseGroup.topics`."""

    name: str = string(since=8, until=9, ignorable=True)
    topic_id: UUID = uuid(since=10, ignorable=True)
    partitions: list[OffsetFetchResponsePartitions] = array(OffsetFetchResponsePartitions, since=8)


class OffsetFetchResponseGroup(Struct):
    """An element of `OffsetFetchResponse.groups`."""

    group_id: str = string(since=8)
    topics: list[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics, since=8)
    error_code: int = int16(since=8)


class OffsetFetchResponse(Response, request=OffsetFetchRequest):
    """The response to `OffsetFetchRequest`."""

    throttle_time_ms: int = int32(since=3, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, until=7)
    error_code: int = int16(since=2, until=7, ignorable=True)
    groups: list[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, since=8)
