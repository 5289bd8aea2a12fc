"""The API ListOffsets (key 2, versions 0 to 11): find offsets by time, or the first and last ones."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ListOffsetsPartition(Struct):
    """An element of `ListOffsetsTopic.partitions`."""

    partition_index: int = int32()
    current_leader_epoch: int = int32(since=4, default=-1, ignorable=True)
    timestamp: int = int64()
    max_num_offsets: int = int32(until=0, default=1)


class ListOffsetsTopic(Struct):
    """An element of `ListOffsetsRequest.topics`."""

    name: str = string()
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition)


class ListOffsetsRequest(Request["ListOffsetsResponse"], api_key=2, versions=(0, 11), flexible_since=6):
    """Find offsets by time, or the first and last ones."""

    replica_id: int = int32()
    isolation_level: int = int8(since=2)
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic)
    timeout_ms: int = int32(since=10, ignorable=True)


class ListOffsetsPartitionResponse(Struct):
    """An element of `ListOffsetsTopicResponse.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    old_style_offsets: list[int] = array(int64, until=0)
    timestamp: int = int64(since=1, default=-1)
    offset: int = int64(since=1, default=-1)
    leader_epoch: int = int32(since=4, default=-1)


class ListOffsetsTopicResponse(Struct):
    """An element of `ListOffsetsResponse.topics`."""

    name: str = string()
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse)


class ListOffsetsResponse(Response, request=ListOffsetsRequest):
    """The response to `ListOffsetsRequest`."""

    throttle_time_ms: int = int32(since=2, ignorable=True)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse)
