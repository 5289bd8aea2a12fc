"""The API DescribeShareGroupOffsets (key 90, versions 0 to 1): read a share group's start offsets."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeShareGroupOffsetsRequestTopic(Struct):
    """An element of `DescribeShareGroupOffsetsRequestGroup.topics`."""

    topic_name: str = string()
    partitions: list[int] = array(int32)


class DescribeShareGroupOffsetsRequestGroup(Struct):
    """An element of `DescribeShareGroupOffsetsRequest.groups`."""

    group_id: str = string()
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = array(
        DescribeShareGroupOffsetsRequestTopic, nullable=True
    )


class DescribeShareGroupOffsetsRequest(
    Request["DescribeShareGroupOffsetsResponse"], api_key=90, versions=(0, 1), flexible_since=0
):
    """Read a share group's start offsets."""

    groups: list[DescribeShareGroupOffsetsRequestGroup] = array(DescribeShareGroupOffsetsRequestGroup)


class DescribeShareGroupOffsetsResponsePartition(Struct):
    """An element of `DescribeShareGroupOffsetsResponseTopic.partitions`."""

    partition_index: int = int32()
    start_offset: int = int64()
    leader_epoch: int = int32()
    lag: int = int64(since=1, default=-1, ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class DescribeShareGroupOffsetsResponseTopic(Struct):
    """An element of `DescribeShareGroupOffsetsResponseGroup.topics`."""

    topic_name: str = string()
    topic_id: UUID = uuid()
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = array(DescribeShareGroupOffsetsResponsePartition)


class DescribeShareGroupOffsetsResponseGroup(Struct):
    """An element of `DescribeShareGroupOffsetsResponse.groups`."""

    group_id: str = string()
    topics: list[DescribeShareGroupOffsetsResponseTopic] = array(DescribeShareGroupOffsetsResponseTopic)
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class DescribeShareGroupOffsetsResponse(Response, request=DescribeShareGroupOffsetsRequest):
    """The response to `DescribeShareGroupOffsetsRequest`."""

    throttle_time_ms: int = int32()
    groups: list[DescribeShareGroupOffsetsResponseGroup] = array(DescribeShareGroupOffsetsResponseGroup)
