"""The API FetchSnapshot (key 59, versions 0 to 1): read a snapshot of the metadata log (KRaft)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import RecordBytes, array, int16, int32, int64, record_bytes, string, struct, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class SnapshotId(Struct):
    """The type of `FetchSnapshotRequestPartitionSnapshot.snapshot_id`."""

    end_offset: int = int64()
    epoch: int = int32()


class FetchSnapshotRequestPartitionSnapshot(Struct):
    """An element of `FetchSnapshotRequestTopicSnapshot.partitions`."""

    partition: int = int32()
    current_leader_epoch: int = int32()
    snapshot_id: SnapshotId = struct(SnapshotId)
    position: int = int64()
    replica_directory_id: UUID = uuid(since=1, tag=0, ignorable=True)


class FetchSnapshotRequestTopicSnapshot(Struct):
    """An element of `FetchSnapshotRequest.topics`."""

    name: str = string()
    partitions: list[FetchSnapshotRequestPartitionSnapshot] = array(FetchSnapshotRequestPartitionSnapshot)


class FetchSnapshotRequest(Request["FetchSnapshotResponse"], api_key=59, versions=(0, 1), flexible_since=0):
    """Read a snapshot of the metadata log (KRaft)."""

    cluster_id: str | None = string(tag=0, nullable=True, default=None)
    replica_id: int = int32(default=-1)
    max_bytes: int = int32(default=2**31 - 1)
    topics: list[FetchSnapshotRequestTopicSnapshot] = array(FetchSnapshotRequestTopicSnapshot)


class LeaderIdAndEpoch(Struct):
    """The type of `FetchSnapshotResponsePartitionSnapshot.current_leader`."""

    leader_id: int = int32()
    leader_epoch: int = int32()


class FetchSnapshotResponsePartitionSnapshot(Struct):
    """An element of `FetchSnapshotResponseTopicSnapshot.partitions`."""

    index: int = int32()
    error_code: int = int16()
    snapshot_id: SnapshotId = struct(SnapshotId)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, tag=0)
    size: int = int64()
    position: int = int64()
    unaligned_records: RecordBytes = record_bytes()


class FetchSnapshotResponseTopicSnapshot(Struct):
    """An element of `FetchSnapshotResponse.topics`."""

    name: str = string()
    partitions: list[FetchSnapshotResponsePartitionSnapshot] = array(FetchSnapshotResponsePartitionSnapshot)


class NodeEndpoint(Struct):
    """An element of `FetchSnapshotResponse.node_endpoints`."""

    node_id: int = int32(since=1)
    host: str = string(since=1)
    port: int = uint16(since=1)


class FetchSnapshotResponse(Response, request=FetchSnapshotRequest):
    """The response to `FetchSnapshotRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    topics: list[FetchSnapshotResponseTopicSnapshot] = array(FetchSnapshotResponseTopicSnapshot)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
