"""The API StopReplica (key 5, versions 0 to 4): stop replicas on a broker (controller to broker; removed in 4.0)."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class StopReplicaPartitionV0(Struct):
    """An element of `StopReplicaRequest.ungrouped_partitions`."""

    topic_name: str = string(until=0)
    partition_index: int = int32(until=0)


class StopReplicaTopicV1(Struct):
    """An element of `StopReplicaRequest.topics`."""

    name: str = string(since=1, until=2)
    partition_indexes: list[int] = array(int32, since=1, until=2)


class StopReplicaPartitionState(Struct):
    """An element of `StopReplicaTopicState.partition_states`."""

    partition_index: int = int32(since=3)
    leader_epoch: int = int32(since=3, default=-1)
    delete_partition: bool = boolean(since=3)


class StopReplicaTopicState(Struct):
    """An element of `StopReplicaRequest.topic_states`."""

    topic_name: str = string(since=3)
    partition_states: list[StopReplicaPartitionState] = array(StopReplicaPartitionState, since=3)


class StopReplicaRequest(Request["StopReplicaResponse"], api_key=5, versions=(0, 4), flexible_since=2):
    """Stop replicas on a broker (controller to broker; removed in 4.0)."""

    controller_id: int = int32()
    is_k_raft_controller: bool = boolean(since=4)
    controller_epoch: int = int32()
    broker_epoch: int = int64(since=1, default=-1, ignorable=True)
    delete_partitions: bool = boolean(until=2)
    ungrouped_partitions: list[StopReplicaPartitionV0] = array(StopReplicaPartitionV0, until=0)
    topics: list[StopReplicaTopicV1] = array(StopReplicaTopicV1, since=1, until=2)
    topic_states: list[StopReplicaTopicState] = array(StopReplicaTopicState, since=3)


class StopReplicaPartitionError(Struct):
    """An element of `StopReplicaResponse.partition_errors`."""

    topic_name: str = string()
    partition_index: int = int32()
    error_code: int = int16()


class StopReplicaResponse(Response, request=StopReplicaRequest):
    """The response to `StopReplicaRequest`."""

    error_code: int = int16()
    partition_errors: list[StopReplicaPartitionError] = array(StopReplicaPartitionError)
