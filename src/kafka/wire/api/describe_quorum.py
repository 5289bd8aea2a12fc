"""The API DescribeQuorum (key 55, versions 0 to 2): describe the metadata quorum (KRaft)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeQuorumRequestPartitionData(Struct):
    """An element of `DescribeQuorumRequestTopicData.partitions`."""

    partition_index: int = int32()


class DescribeQuorumRequestTopicData(Struct):
    """An element of `DescribeQuorumRequest.topics`."""

    topic_name: str = string()
    partitions: list[DescribeQuorumRequestPartitionData] = array(DescribeQuorumRequestPartitionData)


class DescribeQuorumRequest(Request["DescribeQuorumResponse"], api_key=55, versions=(0, 2), flexible_since=0):
    """Describe the metadata quorum (KRaft)."""

    topics: list[DescribeQuorumRequestTopicData] = array(DescribeQuorumRequestTopicData)


class ReplicaState(Struct):
    """The type of several fields of `PartitionData`."""

    replica_id: int = int32()
    replica_directory_id: UUID = uuid(since=2)
    log_end_offset: int = int64()
    last_fetch_timestamp: int = int64(since=1, default=-1, ignorable=True)
    last_caught_up_timestamp: int = int64(since=1, default=-1, ignorable=True)


class DescribeQuorumResponsePartitionData(Struct):
    """An element of `DescribeQuorumResponseTopicData.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(since=2, nullable=True, ignorable=True)
    leader_id: int = int32()
    leader_epoch: int = int32()
    high_watermark: int = int64()
    current_voters: list[ReplicaState] = array(ReplicaState)
    observers: list[ReplicaState] = array(ReplicaState)


class DescribeQuorumResponseTopicData(Struct):
    """An element of `DescribeQuorumResponse.topics`."""

    topic_name: str = string()
    partitions: list[DescribeQuorumResponsePartitionData] = array(DescribeQuorumResponsePartitionData)


class Listener(Struct):
    """An element of `Node.listeners`."""

    name: str = string(since=2)
    host: str = string(since=2)
    port: int = uint16(since=2)


class Node(Struct):
    """An element of `DescribeQuorumResponse.nodes`."""

    node_id: int = int32(since=2)
    listeners: list[Listener] = array(Listener, since=2)


class DescribeQuorumResponse(Response, request=DescribeQuorumRequest):
    """The response to `DescribeQuorumRequest`."""

    error_code: int = int16()
    error_message: str | None = string(since=2, nullable=True, ignorable=True)
    topics: list[DescribeQuorumResponseTopicData] = array(DescribeQuorumResponseTopicData)
    nodes: list[Node] = array(Node, since=2)
