"""The API BeginQuorumEpoch (key 53, versions 0 to 1): announce a new leader of the metadata quorum (KRaft)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class BeginQuorumEpochRequestPartitionData(Struct):
    """An element of `BeginQuorumEpochRequestTopicData.partitions`."""

    partition_index: int = int32()
    voter_directory_id: UUID = uuid(since=1, ignorable=True)
    leader_id: int = int32()
    leader_epoch: int = int32()


class BeginQuorumEpochRequestTopicData(Struct):
    """An element of `BeginQuorumEpochRequest.topics`."""

    topic_name: str = string()
    partitions: list[BeginQuorumEpochRequestPartitionData] = array(BeginQuorumEpochRequestPartitionData)


class LeaderEndpoint(Struct):
    """An element of `BeginQuorumEpochRequest.leader_endpoints`."""

    name: str = string(since=1)
    host: str = string(since=1)
    port: int = uint16(since=1)


class BeginQuorumEpochRequest(Request["BeginQuorumEpochResponse"], api_key=53, versions=(0, 1), flexible_since=1):
    """Announce a new leader of the metadata quorum (KRaft)."""

    cluster_id: str | None = string(nullable=True, default=None)
    voter_id: int = int32(since=1, default=-1, ignorable=True)
    topics: list[BeginQuorumEpochRequestTopicData] = array(BeginQuorumEpochRequestTopicData)
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, since=1, ignorable=True)


class BeginQuorumEpochResponsePartitionData(Struct):
    """An element of `BeginQuorumEpochResponseTopicData.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    leader_id: int = int32()
    leader_epoch: int = int32()


class BeginQuorumEpochResponseTopicData(Struct):
    """An element of `BeginQuorumEpochResponse.topics`."""

    topic_name: str = string()
    partitions: list[BeginQuorumEpochResponsePartitionData] = array(BeginQuorumEpochResponsePartitionData)


class NodeEndpoint(Struct):
    """An element of `BeginQuorumEpochResponse.node_endpoints`."""

    node_id: int = int32(since=1)
    host: str = string(since=1)
    port: int = uint16(since=1)


class BeginQuorumEpochResponse(Response, request=BeginQuorumEpochRequest):
    """The response to `BeginQuorumEpochRequest`."""

    error_code: int = int16()
    topics: list[BeginQuorumEpochResponseTopicData] = array(BeginQuorumEpochResponseTopicData)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
