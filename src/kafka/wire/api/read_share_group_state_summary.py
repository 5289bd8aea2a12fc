"""The API ReadShareGroupStateSummary (key 87, versions 0 to 1):
read the summary of the state of a share partition (broker to share coordinator).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class PartitionData(Struct):
    """An element of `ReadStateSummaryData.partitions`."""

    partition: int = int32()
    leader_epoch: int = int32()


class ReadStateSummaryData(Struct):
    """An element of `ReadShareGroupStateSummaryRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class ReadShareGroupStateSummaryRequest(
    Request["ReadShareGroupStateSummaryResponse"], api_key=87, versions=(0, 1), flexible_since=0
):
    """Read the summary of the state of a share partition (broker to share coordinator)."""

    group_id: str = string()
    topics: list[ReadStateSummaryData] = array(ReadStateSummaryData)


class PartitionResult(Struct):
    """An element of `ReadStateSummaryResult.partitions`."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    state_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()
    delivery_complete_count: int = int32(since=1, default=-1, ignorable=True)


class ReadStateSummaryResult(Struct):
    """An element of `ReadShareGroupStateSummaryResponse.results`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionResult] = array(PartitionResult)


class ReadShareGroupStateSummaryResponse(Response, request=ReadShareGroupStateSummaryRequest):
    """The response to `ReadShareGroupStateSummaryRequest`."""

    results: list[ReadStateSummaryResult] = array(ReadStateSummaryResult)
