"""The API ElectLeaders (key 43, versions 0 to 2): elect leaders of partitions."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class TopicPartitions(Struct):
    """An element of `ElectLeadersRequest.topic_partitions`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class ElectLeadersRequest(Request["ElectLeadersResponse"], api_key=43, versions=(0, 2), flexible_since=2):
    """Elect leaders of partitions."""

    election_type: int = int8(since=1)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable=True)
    timeout_ms: int = int32(default=60_000)


class PartitionResult(Struct):
    """An element of `ReplicaElectionResult.partition_result`."""

    partition_id: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)


class ReplicaElectionResult(Struct):
    """An element of `ElectLeadersResponse.replica_election_results`."""

    topic: str = string()
    partition_result: list[PartitionResult] = array(PartitionResult)


class ElectLeadersResponse(Response, request=ElectLeadersRequest):
    """The response to `ElectLeadersRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16(since=1)
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult)
