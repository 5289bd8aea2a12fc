"""The API DeleteShareGroupState (key 86, version 0):
delete the state of a share partition (broker to share coordinator).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class PartitionData(Struct):
    """An element of `DeleteStateData.partitions`."""

    partition: int = int32()


class DeleteStateData(Struct):
    """An element of `DeleteShareGroupStateRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class DeleteShareGroupStateRequest(
    Request["DeleteShareGroupStateResponse"], api_key=86, versions=(0, 0), flexible_since=0
):
    """Delete the state of a share partition (broker to share coordinator)."""

    group_id: str = string()
    topics: list[DeleteStateData] = array(DeleteStateData)


class PartitionResult(Struct):
    """An element of `DeleteStateResult.partitions`."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class DeleteStateResult(Struct):
    """An element of `DeleteShareGroupStateResponse.results`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionResult] = array(PartitionResult)


class DeleteShareGroupStateResponse(Response, request=DeleteShareGroupStateRequest):
    """The response to `DeleteShareGroupStateRequest`."""

    results: list[DeleteStateResult] = array(DeleteStateResult)
