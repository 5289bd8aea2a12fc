"""The API AlterShareGroupOffsets (key 91, version 0): change a share group's start offsets."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AlterShareGroupOffsetsRequestPartition(Struct):
    """An element of `AlterShareGroupOffsetsRequestTopic.partitions`."""

    partition_index: int = int32()
    start_offset: int = int64()


class AlterShareGroupOffsetsRequestTopic(Struct):
    """An element of `AlterShareGroupOffsetsRequest.topics`."""

    topic_name: str = string()
    partitions: list[AlterShareGroupOffsetsRequestPartition] = array(AlterShareGroupOffsetsRequestPartition)


class AlterShareGroupOffsetsRequest(
    Request["AlterShareGroupOffsetsResponse"], api_key=91, versions=(0, 0), flexible_since=0
):
    """Change a share group's start offsets."""

    group_id: str = string()
    topics: list[AlterShareGroupOffsetsRequestTopic] = array(AlterShareGroupOffsetsRequestTopic)


class AlterShareGroupOffsetsResponsePartition(Struct):
    """An element of `AlterShareGroupOffsetsResponseTopic.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class AlterShareGroupOffsetsResponseTopic(Struct):
    """An element of `AlterShareGroupOffsetsResponse.responses`."""

    topic_name: str = string()
    topic_id: UUID = uuid()
    partitions: list[AlterShareGroupOffsetsResponsePartition] = array(AlterShareGroupOffsetsResponsePartition)


class AlterShareGroupOffsetsResponse(Response, request=AlterShareGroupOffsetsRequest):
    """The response to `AlterShareGroupOffsetsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = array(AlterShareGroupOffsetsResponseTopic)
