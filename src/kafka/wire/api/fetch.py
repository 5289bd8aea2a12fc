"""The API Fetch (key 1, versions 0 to 18): read record batches from partitions."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import RecordBytes, array, int8, int16, int32, int64, record_bytes, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ReplicaState(Struct):
    """The type of `FetchRequest.replica_state`."""

    replica_id: int = int32(since=15, default=-1)
    replica_epoch: int = int64(since=15, default=-1)


class FetchPartition(Struct):
    """An element of `FetchTopic.partitions`."""

    partition: int = int32()
    current_leader_epoch: int = int32(since=9, default=-1, ignorable=True)
    fetch_offset: int = int64()
    last_fetched_epoch: int = int32(since=12, default=-1)
    log_start_offset: int = int64(since=5, default=-1, ignorable=True)
    partition_max_bytes: int = int32()
    replica_directory_id: UUID = uuid(since=17, tag=0, ignorable=True)
    high_watermark: int = int64(since=18, tag=1, default=2**63 - 1, ignorable=True)


class FetchTopic(Struct):
    """An element of `FetchRequest.topics`."""

    topic: str = string(until=12, ignorable=True)
    topic_id: UUID = uuid(since=13, ignorable=True)
    partitions: list[FetchPartition] = array(FetchPartition)


class ForgottenTopic(Struct):
    """An element of `FetchRequest.forgotten_topics_data`."""

    topic: str = string(since=7, until=12, ignorable=True)
    topic_id: UUID = uuid(since=13, ignorable=True)
    partitions: list[int] = array(int32, since=7)


class FetchRequest(Request["FetchResponse"], api_key=1, versions=(0, 18), flexible_since=12):
    """Read record batches from partitions."""

    cluster_id: str | None = string(since=12, tag=0, nullable=True, default=None, ignorable=True)
    replica_id: int = int32(until=14, default=-1)
    replica_state: ReplicaState = struct(ReplicaState, since=15, tag=1)
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(since=3, default=2**31 - 1, ignorable=True)
    isolation_level: int = int8(since=4, ignorable=True)
    session_id: int = int32(since=7, ignorable=True)
    session_epoch: int = int32(since=7, default=-1, ignorable=True)
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, since=7)
    rack_id: str = string(since=11, ignorable=True)


class EpochEndOffset(Struct):
    """The type of `PartitionData.diverging_epoch`."""

    epoch: int = int32(since=12, default=-1)
    end_offset: int = int64(since=12, default=-1)


class LeaderIdAndEpoch(Struct):
    """The type of `PartitionData.current_leader`."""

    leader_id: int = int32(since=12, default=-1)
    leader_epoch: int = int32(since=12, default=-1)


class SnapshotId(Struct):
    """The type of `PartitionData.snapshot_id`."""

    end_offset: int = int64(default=-1)
    epoch: int = int32(default=-1)


class AbortedTransaction(Struct):
    """An element of `PartitionData.aborted_transactions`."""

    producer_id: int = int64(since=4)
    first_offset: int = int64(since=4)


class PartitionData(Struct):
    """An element of `FetchableTopicResponse.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    high_watermark: int = int64()
    last_stable_offset: int = int64(since=4, default=-1, ignorable=True)
    log_start_offset: int = int64(since=5, default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = struct(EpochEndOffset, since=12, tag=0)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, since=12, tag=1)
    snapshot_id: SnapshotId = struct(SnapshotId, since=12, tag=2)
    aborted_transactions: list[AbortedTransaction] | None = array(
        AbortedTransaction, since=4, nullable=True, ignorable=True
    )
    preferred_read_replica: int = int32(since=11, default=-1)
    records: RecordBytes | None = record_bytes(nullable=True)


class FetchableTopicResponse(Struct):
    """An element of `FetchResponse.responses`."""

    topic: str = string(until=12, ignorable=True)
    topic_id: UUID = uuid(since=13, ignorable=True)
    partitions: list[PartitionData] = array(PartitionData)


class NodeEndpoint(Struct):
    """An element of `FetchResponse.node_endpoints`."""

    node_id: int = int32(since=16)
    host: str = string(since=16)
    port: int = int32(since=16)
    rack: str | None = string(since=16, nullable=True, default=None)


class FetchResponse(Response, request=FetchRequest):
    """The response to `FetchRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    error_code: int = int16(since=7, ignorable=True)
    session_id: int = int32(since=7)
    responses: list[FetchableTopicResponse] = array(FetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=16, tag=0)
