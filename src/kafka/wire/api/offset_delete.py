"""The API OffsetDelete (key 47, version 0): delete a group's stored offsets."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class OffsetDeleteRequestPartition(Struct):
    """An element of `OffsetDeleteRequestTopic.partitions`."""

    partition_index: int = int32()


class OffsetDeleteRequestTopic(Struct):
    """An element of `OffsetDeleteRequest.topics`."""

    name: str = string()
    partitions: list[OffsetDeleteRequestPartition] = array(OffsetDeleteRequestPartition)


class OffsetDeleteRequest(Request["OffsetDeleteResponse"], api_key=47, versions=(0, 0)):
    """Delete a group's stored offsets."""

    group_id: str = string()
    topics: list[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic)


class OffsetDeleteResponsePartition(Struct):
    """An element of `OffsetDeleteResponseTopic.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()


class OffsetDeleteResponseTopic(Struct):
    """An element of `OffsetDeleteResponse.topics`."""

    name: str = string()
    partitions: list[OffsetDeleteResponsePartition] = array(OffsetDeleteResponsePartition)


class OffsetDeleteResponse(Response, request=OffsetDeleteRequest):
    """The response to `OffsetDeleteRequest`."""

    error_code: int = int16()
    throttle_time_ms: int = int32()
    topics: list[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic)
