"""The API DescribeTopicPartitions (key 75, version 0): describe topics page by page (KIP-966)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class TopicRequest(Struct):
    """An element of `DescribeTopicPartitionsRequest.topics`."""

    name: str = string()


class Cursor(Struct):
    """The type of `DescribeTopicPartitionsRequest.cursor` and `DescribeTopicPartitionsResponse.next_cursor`."""

    topic_name: str = string()
    partition_index: int = int32()


class DescribeTopicPartitionsRequest(
    Request["DescribeTopicPartitionsResponse"], api_key=75, versions=(0, 0), flexible_since=0
):
    """Describe topics page by page (KIP-966)."""

    topics: list[TopicRequest] = array(TopicRequest)
    response_partition_limit: int = int32(default=2000)
    cursor: Cursor | None = struct(Cursor, nullable=True, default=None)


class DescribeTopicPartitionsResponsePartition(Struct):
    """An element of `DescribeTopicPartitionsResponseTopic.partitions`."""

    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(default=-1)
    replica_nodes: list[int] = array(int32)
    isr_nodes: list[int] = array(int32)
    eligible_leader_replicas: list[int] | None = array(int32, nullable=True, default=None)
    last_known_elr: list[int] | None = array(int32, nullable=True, default=None)
    offline_replicas: list[int] = array(int32)


class DescribeTopicPartitionsResponseTopic(Struct):
    """An element of `DescribeTopicPartitionsResponse.topics`."""

    error_code: int = int16()
    name: str | None = string(nullable=True)
    topic_id: UUID = uuid()
    is_internal: bool = boolean()
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(DescribeTopicPartitionsResponsePartition)
    topic_authorized_operations: int = int32(default=-2_147_483_648)


class DescribeTopicPartitionsResponse(Response, request=DescribeTopicPartitionsRequest):
    """The response to `DescribeTopicPartitionsRequest`."""

    throttle_time_ms: int = int32()
    topics: list[DescribeTopicPartitionsResponseTopic] = array(DescribeTopicPartitionsResponseTopic)
    next_cursor: Cursor | None = struct(Cursor, nullable=True, default=None)
