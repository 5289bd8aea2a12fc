"""The API ReadShareGroupState (key 84, version 0):
read the state of a share partition (broker to share coordinator).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int8, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class PartitionData(Struct):
    """An element of `ReadStateData.partitions`."""

    partition: int = int32()
    leader_epoch: int = int32()


class ReadStateData(Struct):
    """An element of `ReadShareGroupStateRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class ReadShareGroupStateRequest(Request["ReadShareGroupStateResponse"], api_key=84, versions=(0, 0), flexible_since=0):
    """Read the state of a share partition (broker to share coordinator)."""

    group_id: str = string()
    topics: list[ReadStateData] = array(ReadStateData)


class StateBatch(Struct):
    """An element of `PartitionResult.state_batches`."""

    first_offset: int = int64()
    last_offset: int = int64()
    delivery_state: int = int8()
    delivery_count: int = int16()


class PartitionResult(Struct):
    """An element of `ReadStateResult.partitions`."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    state_epoch: int = int32()
    start_offset: int = int64()
    state_batches: list[StateBatch] = array(StateBatch)


class ReadStateResult(Struct):
    """An element of `ReadShareGroupStateResponse.results`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionResult] = array(PartitionResult)


class ReadShareGroupStateResponse(Response, request=ReadShareGroupStateRequest):
    """The response to `ReadShareGroupStateRequest`."""

    results: list[ReadStateResult] = array(ReadStateResult)
