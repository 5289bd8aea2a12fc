"""The API WriteShareGroupState (key 85, versions 0 to 1):
write the state of a share partition (broker to share coordinator).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int8, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class StateBatch(Struct):
    """An element of `PartitionData.state_batches`."""

    first_offset: int = int64()
    last_offset: int = int64()
    delivery_state: int = int8()
    delivery_count: int = int16()


class PartitionData(Struct):
    """An element of `WriteStateData.partitions`."""

    partition: int = int32()
    state_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()
    delivery_complete_count: int = int32(since=1, default=-1, ignorable=True)
    state_batches: list[StateBatch] = array(StateBatch)


class WriteStateData(Struct):
    """An element of `WriteShareGroupStateRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class WriteShareGroupStateRequest(
    Request["WriteShareGroupStateResponse"], api_key=85, versions=(0, 1), flexible_since=0
):
    """Write the state of a share partition (broker to share coordinator)."""

    group_id: str = string()
    topics: list[WriteStateData] = array(WriteStateData)


class PartitionResult(Struct):
    """An element of `WriteStateResult.partitions`."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class WriteStateResult(Struct):
    """An element of `WriteShareGroupStateResponse.results`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionResult] = array(PartitionResult)


class WriteShareGroupStateResponse(Response, request=WriteShareGroupStateRequest):
    """The response to `WriteShareGroupStateRequest`."""

    results: list[WriteStateResult] = array(WriteStateResult)
