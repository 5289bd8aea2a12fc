"""The API DescribeProducers (key 61, version 0): describe the producers that are active on partitions."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class TopicRequest(Struct):
    """An element of `DescribeProducersRequest.topics`."""

    name: str = string()
    partition_indexes: list[int] = array(int32)


class DescribeProducersRequest(Request["DescribeProducersResponse"], api_key=61, versions=(0, 0), flexible_since=0):
    """Describe the producers that are active on partitions."""

    topics: list[TopicRequest] = array(TopicRequest)


class ProducerState(Struct):
    """An element of `PartitionResponse.active_producers`."""

    producer_id: int = int64()
    producer_epoch: int = int32()
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32()
    current_txn_start_offset: int = int64(default=-1)


class PartitionResponse(Struct):
    """An element of `TopicResponse.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    active_producers: list[ProducerState] = array(ProducerState)


class TopicResponse(Struct):
    """An element of `DescribeProducersResponse.topics`."""

    name: str = string()
    partitions: list[PartitionResponse] = array(PartitionResponse)


class DescribeProducersResponse(Response, request=DescribeProducersRequest):
    """The response to `DescribeProducersRequest`."""

    throttle_time_ms: int = int32()
    topics: list[TopicResponse] = array(TopicResponse)
