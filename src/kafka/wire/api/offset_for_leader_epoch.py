"""The API OffsetForLeaderEpoch (key 23, versions 0 to 4): find the end offset of a leader epoch."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class OffsetForLeaderPartition(Struct):
    """An element of `OffsetForLeaderTopic.partitions`."""

    partition: int = int32()
    current_leader_epoch: int = int32(since=2, default=-1, ignorable=True)
    leader_epoch: int = int32()


class OffsetForLeaderTopic(Struct):
    """An element of `OffsetForLeaderEpochRequest.topics`."""

    topic: str = string()
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition)


class OffsetForLeaderEpochRequest(
    Request["OffsetForLeaderEpochResponse"], api_key=23, versions=(0, 4), flexible_since=4
):
    """Find the end offset of a leader epoch."""

    replica_id: int = int32(since=3, default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic)


class EpochEndOffset(Struct):
    """An element of `OffsetForLeaderTopicResult.partitions`."""

    error_code: int = int16()
    partition: int = int32()
    leader_epoch: int = int32(since=1, default=-1, ignorable=True)
    end_offset: int = int64(default=-1)


class OffsetForLeaderTopicResult(Struct):
    """An element of `OffsetForLeaderEpochResponse.topics`."""

    topic: str = string()
    partitions: list[EpochEndOffset] = array(EpochEndOffset)


class OffsetForLeaderEpochResponse(Response, request=OffsetForLeaderEpochRequest):
    """The response to `OffsetForLeaderEpochRequest`."""

    throttle_time_ms: int = int32(since=2, ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult)
