"""The API LeaderAndIsr (key 4, versions 0 to 7):
make a broker leader or follower of partitions (controller to broker; removed in 4.0).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int8, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class LeaderAndIsrPartitionState(Struct):
    """The type of several fields of `LeaderAndIsrRequest`."""

    topic_name: str = string(until=1, ignorable=True)
    partition_index: int = int32()
    controller_epoch: int = int32()
    leader: int = int32()
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    partition_epoch: int = int32()
    replicas: list[int] = array(int32)
    adding_replicas: list[int] = array(int32, since=3, ignorable=True)
    removing_replicas: list[int] = array(int32, since=3, ignorable=True)
    is_new: bool = boolean(since=1, ignorable=True)
    leader_recovery_state: int = int8(since=6)


class LeaderAndIsrTopicState(Struct):
    """An element of `LeaderAndIsrRequest.topic_states`."""

    topic_name: str = string(since=2)
    topic_id: UUID = uuid(since=5, ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState] = array(LeaderAndIsrPartitionState, since=2)


class LeaderAndIsrLiveLeader(Struct):
    """An element of `LeaderAndIsrRequest.live_leaders`."""

    broker_id: int = int32()
    host_name: str = string()
    port: int = int32()


class LeaderAndIsrRequest(Request["LeaderAndIsrResponse"], api_key=4, versions=(0, 7), flexible_since=4):
    """Make a broker leader or follower of partitions (controller to broker; removed in 4.0)."""

    controller_id: int = int32()
    is_k_raft_controller: bool = boolean(since=7)
    controller_epoch: int = int32()
    broker_epoch: int = int64(since=2, default=-1, ignorable=True)
    type: int = int8(since=5)
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = array(LeaderAndIsrPartitionState, until=1)
    topic_states: list[LeaderAndIsrTopicState] = array(LeaderAndIsrTopicState, since=2)
    live_leaders: list[LeaderAndIsrLiveLeader] = array(LeaderAndIsrLiveLeader)


class LeaderAndIsrPartitionError(Struct):
    """The type of several fields of `LeaderAndIsrResponse`."""

    topic_name: str = string(until=4, ignorable=True)
    partition_index: int = int32()
    error_code: int = int16()


class LeaderAndIsrTopicError(Struct):
    """An element of `LeaderAndIsrResponse.topics`."""

    topic_id: UUID = uuid(since=5)
    partition_errors: list[LeaderAndIsrPartitionError] = array(LeaderAndIsrPartitionError, since=5)


class LeaderAndIsrResponse(Response, request=LeaderAndIsrRequest):
    """The response to `LeaderAndIsrRequest`."""

    error_code: int = int16()
    partition_errors: list[LeaderAndIsrPartitionError] = array(LeaderAndIsrPartitionError, until=4)
    topics: list[LeaderAndIsrTopicError] = array(LeaderAndIsrTopicError, since=5)
