"""The API OffsetCommit (key 8, versions 0 to 10): store a group's offsets."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class OffsetCommitRequestPartition(Struct):
    """An element of `OffsetCommitRequestTopic.partitions`."""

    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(since=6, default=-1, ignorable=True)
    commit_timestamp: int = int64(since=1, until=1, default=-1)
    committed_metadata: str | None = string(nullable=True)


class OffsetCommitRequestTopic(Struct):
    """An element of `OffsetCommitRequest.topics`."""

    name: str = string(until=9, ignorable=True)
    topic_id: UUID = uuid(since=10, ignorable=True)
    partitions: list[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition)


class OffsetCommitRequest(Request["OffsetCommitResponse"], api_key=8, versions=(0, 10), flexible_since=8):
    """Store a group's offsets."""

    group_id: str = string()
    generation_id_or_member_epoch: int = int32(since=1, default=-1, ignorable=True)
    member_id: str = string(since=1, ignorable=True)
    group_instance_id: str | None = string(since=7, nullable=True, default=None)
    retention_time_ms: int = int64(since=2, until=4, default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic)


class OffsetCommitResponsePartition(Struct):
    """An element of `OffsetCommitResponseTopic.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()


class OffsetCommitResponseTopic(Struct):
    """An element of `OffsetCommitResponse.topics`."""

    name: str = string(until=9, ignorable=True)
    topic_id: UUID = uuid(since=10, ignorable=True)
    partitions: list[OffsetCommitResponsePartition] = array(OffsetCommitResponsePartition)


class OffsetCommitResponse(Response, request=OffsetCommitRequest):
    """The response to `OffsetCommitRequest`."""

    throttle_time_ms: int = int32(since=3, ignorable=True)
    topics: list[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic)
