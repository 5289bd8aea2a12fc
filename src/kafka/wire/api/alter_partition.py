"""The API AlterPartition (key 56, versions 0 to 3):
change the in-sync replicas of partitions (leader to controller).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int8, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class BrokerState(Struct):
    """An element of `AlterPartitionRequestPartitionData.new_isr_with_epochs`."""

    broker_id: int = int32(since=3)
    broker_epoch: int = int64(since=3, default=-1)


class AlterPartitionRequestPartitionData(Struct):
    """An element of `AlterPartitionRequestTopicData.partitions`."""

    partition_index: int = int32()
    leader_epoch: int = int32()
    new_isr: list[int] = array(int32, until=2)
    new_isr_with_epochs: list[BrokerState] = array(BrokerState, since=3)
    leader_recovery_state: int = int8(since=1)
    partition_epoch: int = int32()


class AlterPartitionRequestTopicData(Struct):
    """An element of `AlterPartitionRequest.topics`."""

    topic_name: str = string(until=1, ignorable=True)
    topic_id: UUID = uuid(since=2, ignorable=True)
    partitions: list[AlterPartitionRequestPartitionData] = array(AlterPartitionRequestPartitionData)


class AlterPartitionRequest(Request["AlterPartitionResponse"], api_key=56, versions=(0, 3), flexible_since=0):
    """Change the in-sync replicas of partitions (leader to controller)."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)
    topics: list[AlterPartitionRequestTopicData] = array(AlterPartitionRequestTopicData)


class AlterPartitionResponsePartitionData(Struct):
    """An element of `AlterPartitionResponseTopicData.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    leader_id: int = int32()
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    leader_recovery_state: int = int8(since=1, ignorable=True)
    partition_epoch: int = int32()


class AlterPartitionResponseTopicData(Struct):
    """An element of `AlterPartitionResponse.topics`."""

    topic_name: str = string(until=1, ignorable=True)
    topic_id: UUID = uuid(since=2, ignorable=True)
    partitions: list[AlterPartitionResponsePartitionData] = array(AlterPartitionResponsePartitionData)


class AlterPartitionResponse(Response, request=AlterPartitionRequest):
    """The response to `AlterPartitionRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    topics: list[AlterPartitionResponseTopicData] = array(AlterPartitionResponseTopicData)
