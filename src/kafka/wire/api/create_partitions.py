"""The API CreatePartitions (key 37, versions 0 to 3): add partitions to topics."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class CreatePartitionsAssignment(Struct):
    """An element of `CreatePartitionsTopic.assignments`."""

    broker_ids: list[int] = array(int32)


class CreatePartitionsTopic(Struct):
    """An element of `CreatePartitionsRequest.topics`."""

    name: str = string()
    count: int = int32()
    assignments: list[CreatePartitionsAssignment] | None = array(CreatePartitionsAssignment, nullable=True)


class CreatePartitionsRequest(Request["CreatePartitionsResponse"], api_key=37, versions=(0, 3), flexible_since=2):
    """Add partitions to topics."""

    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic)
    timeout_ms: int = int32()
    validate_only: bool = boolean()


class CreatePartitionsTopicResult(Struct):
    """An element of `CreatePartitionsResponse.results`."""

    name: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)


class CreatePartitionsResponse(Response, request=CreatePartitionsRequest):
    """The response to `CreatePartitionsRequest`."""

    throttle_time_ms: int = int32()
    results: list[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult)
