"""The API DeleteRecords (key 21, versions 0 to 2): delete records up to an offset."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DeleteRecordsPartition(Struct):
    """An element of `DeleteRecordsTopic.partitions`."""

    partition_index: int = int32()
    offset: int = int64()


class DeleteRecordsTopic(Struct):
    """An element of `DeleteRecordsRequest.topics`."""

    name: str = string()
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition)


class DeleteRecordsRequest(Request["DeleteRecordsResponse"], api_key=21, versions=(0, 2), flexible_since=2):
    """Delete records up to an offset."""

    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic)
    timeout_ms: int = int32()


class DeleteRecordsPartitionResult(Struct):
    """An element of `DeleteRecordsTopicResult.partitions`."""

    partition_index: int = int32()
    low_watermark: int = int64()
    error_code: int = int16()


class DeleteRecordsTopicResult(Struct):
    """An element of `DeleteRecordsResponse.topics`."""

    name: str = string()
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult)


class DeleteRecordsResponse(Response, request=DeleteRecordsRequest):
    """The response to `DeleteRecordsRequest`."""

    throttle_time_ms: int = int32()
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult)
