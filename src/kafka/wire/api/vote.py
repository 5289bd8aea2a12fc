"""The API Vote (key 52, versions 0 to 2): request votes in an election of the metadata quorum (KRaft)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, int64, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class VoteRequestPartitionData(Struct):
    """An element of `VoteRequestTopicData.partitions`."""

    partition_index: int = int32()
    replica_epoch: int = int32()
    replica_id: int = int32()
    replica_directory_id: UUID = uuid(since=1, ignorable=True)
    voter_directory_id: UUID = uuid(since=1, ignorable=True)
    last_offset_epoch: int = int32()
    last_offset: int = int64()
    pre_vote: bool = boolean(since=2)


class VoteRequestTopicData(Struct):
    """An element of `VoteRequest.topics`."""

    topic_name: str = string()
    partitions: list[VoteRequestPartitionData] = array(VoteRequestPartitionData)


class VoteRequest(Request["VoteResponse"], api_key=52, versions=(0, 2), flexible_since=0):
    """Request votes in an election of the metadata quorum (KRaft)."""

    cluster_id: str | None = string(nullable=True, default=None)
    voter_id: int = int32(since=1, default=-1, ignorable=True)
    topics: list[VoteRequestTopicData] = array(VoteRequestTopicData)


class VoteResponsePartitionData(Struct):
    """An element of `VoteResponseTopicData.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    leader_id: int = int32()
    leader_epoch: int = int32()
    vote_granted: bool = boolean()


class VoteResponseTopicData(Struct):
    """An element of `VoteResponse.topics`."""

    topic_name: str = string()
    partitions: list[VoteResponsePartitionData] = array(VoteResponsePartitionData)


class NodeEndpoint(Struct):
    """An element of `VoteResponse.node_endpoints`."""

    node_id: int = int32(since=1)
    host: str = string(since=1)
    port: int = uint16(since=1)


class VoteResponse(Response, request=VoteRequest):
    """The response to `VoteRequest`."""

    error_code: int = int16()
    topics: list[VoteResponseTopicData] = array(VoteResponseTopicData)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
