"""The API EndQuorumEpoch (key 54, versions 0 to 1): resign as the leader of the metadata quorum (KRaft)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ReplicaInfo(Struct):
    """An element of `EndQuorumEpochRequestPartitionData.preferred_candidates`."""

    candidate_id: int = int32(since=1)
    candidate_directory_id: UUID = uuid(since=1)


class EndQuorumEpochRequestPartitionData(Struct):
    """An element of `EndQuorumEpochRequestTopicData.partitions`."""

    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32()
    preferred_successors: list[int] = array(int32, until=0, ignorable=True)
    preferred_candidates: list[ReplicaInfo] = array(ReplicaInfo, since=1, ignorable=True)


class EndQuorumEpochRequestTopicData(Struct):
    """An element of `EndQuorumEpochRequest.topics`."""

    topic_name: str = string()
    partitions: list[EndQuorumEpochRequestPartitionData] = array(EndQuorumEpochRequestPartitionData)


class LeaderEndpoint(Struct):
    """An element of `EndQuorumEpochRequest.leader_endpoints`."""

    name: str = string(since=1)
    host: str = string(since=1)
    port: int = uint16(since=1)


class EndQuorumEpochRequest(Request["EndQuorumEpochResponse"], api_key=54, versions=(0, 1), flexible_since=1):
    """Resign as the leader of the metadata quorum (KRaft)."""

    cluster_id: str | None = string(nullable=True, default=None)
    topics: list[EndQuorumEpochRequestTopicData] = array(EndQuorumEpochRequestTopicData)
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, since=1, ignorable=True)


class EndQuorumEpochResponsePartitionData(Struct):
    """An element of `EndQuorumEpochResponseTopicData.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    leader_id: int = int32()
    leader_epoch: int = int32()


class EndQuorumEpochResponseTopicData(Struct):
    """An element of `EndQuorumEpochResponse.topics`."""

    topic_name: str = string()
    partitions: list[EndQuorumEpochResponsePartitionData] = array(EndQuorumEpochResponsePartitionData)


class NodeEndpoint(Struct):
    """An element of `EndQuorumEpochResponse.node_endpoints`."""

    node_id: int = int32(since=1)
    host: str = string(since=1)
    port: int = uint16(since=1)


class EndQuorumEpochResponse(Response, request=EndQuorumEpochRequest):
    """The response to `EndQuorumEpochRequest`."""

    error_code: int = int16()
    topics: list[EndQuorumEpochResponseTopicData] = array(EndQuorumEpochResponseTopicData)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
