"""The API AlterPartitionReassignments (key 45, versions 0 to 1): move replicas between brokers, or cancel moves."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ReassignablePartition(Struct):
    """An element of `ReassignableTopic.partitions`."""

    partition_index: int = int32()
    replicas: list[int] | None = array(int32, nullable=True, default=None)


class ReassignableTopic(Struct):
    """An element of `AlterPartitionReassignmentsRequest.topics`."""

    name: str = string()
    partitions: list[ReassignablePartition] = array(ReassignablePartition)


class AlterPartitionReassignmentsRequest(
    Request["AlterPartitionReassignmentsResponse"], api_key=45, versions=(0, 1), flexible_since=0
):
    """Move replicas between brokers, or cancel moves."""

    timeout_ms: int = int32(default=60_000)
    allow_replication_factor_change: bool = boolean(since=1, default=True)
    topics: list[ReassignableTopic] = array(ReassignableTopic)


class ReassignablePartitionResponse(Struct):
    """An element of `ReassignableTopicResponse.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)


class ReassignableTopicResponse(Struct):
    """An element of `AlterPartitionReassignmentsResponse.responses`."""

    name: str = string()
    partitions: list[ReassignablePartitionResponse] = array(ReassignablePartitionResponse)


class AlterPartitionReassignmentsResponse(Response, request=AlterPartitionReassignmentsRequest):
    """The response to `AlterPartitionReassignmentsRequest`."""

    throttle_time_ms: int = int32()
    allow_replication_factor_change: bool = boolean(since=1, default=True, ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse)
