"""The API ListPartitionReassignments (key 46, version 0): list ongoing moves of replicas."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ListPartitionReassignmentsTopics(Struct):
    """An element of `ListPartitionReassignmentsRequest.topics`."""

    name: str = string()
    partition_indexes: list[int] = array(int32)


class ListPartitionReassignmentsRequest(
    Request["ListPartitionReassignmentsResponse"], api_key=46, versions=(0, 0), flexible_since=0
):
    """List ongoing moves of replicas."""

    timeout_ms: int = int32(default=60_000)
    topics: list[ListPartitionReassignmentsTopics] | None = array(
        ListPartitionReassignmentsTopics, nullable=True, default=None
    )


class OngoingPartitionReassignment(Struct):
    """An element of `OngoingTopicReassignment.partitions`."""

    partition_index: int = int32()
    replicas: list[int] = array(int32)
    adding_replicas: list[int] = array(int32)
    removing_replicas: list[int] = array(int32)


class OngoingTopicReassignment(Struct):
    """An element of `ListPartitionReassignmentsResponse.topics`."""

    name: str = string()
    partitions: list[OngoingPartitionReassignment] = array(OngoingPartitionReassignment)


class ListPartitionReassignmentsResponse(Response, request=ListPartitionReassignmentsRequest):
    """The response to `ListPartitionReassignmentsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    topics: list[OngoingTopicReassignment] = array(OngoingTopicReassignment)
