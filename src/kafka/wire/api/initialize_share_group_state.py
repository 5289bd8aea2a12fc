"""The API InitializeShareGroupState (key 83, version 0):
initialize the state of a share partition (broker to share coordinator).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class PartitionData(Struct):
    """An element of `InitializeStateData.partitions`."""

    partition: int = int32()
    state_epoch: int = int32()
    start_offset: int = int64()


class InitializeStateData(Struct):
    """An element of `InitializeShareGroupStateRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class InitializeShareGroupStateRequest(
    Request["InitializeShareGroupStateResponse"], api_key=83, versions=(0, 0), flexible_since=0
):
    """Initialize the state of a share partition (broker to share coordinator)."""

    group_id: str = string()
    topics: list[InitializeStateData] = array(InitializeStateData)


class PartitionResult(Struct):
    """An element of `InitializeStateResult.partitions`."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class InitializeStateResult(Struct):
    """An element of `InitializeShareGroupStateResponse.results`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionResult] = array(PartitionResult)


class InitializeShareGroupStateResponse(Response, request=InitializeShareGroupStateRequest):
    """The response to `InitializeShareGroupStateRequest`."""

    results: list[InitializeStateResult] = array(InitializeStateResult)
