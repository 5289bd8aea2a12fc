"""The API ShareFetch (key 78, versions 0 to 2): acquire records of a share group (KIP-932)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import RecordBytes, array, boolean, int8, int16, int32, int64, record_bytes, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AcknowledgementBatch(Struct):
    """An element of `FetchPartition.acknowledgement_batches`."""

    first_offset: int = int64()
    last_offset: int = int64()
    acknowledge_types: list[int] = array(int8)


class FetchPartition(Struct):
    """An element of `FetchTopic.partitions`."""

    partition_index: int = int32()
    partition_max_bytes: int = int32(until=0)
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch)


class FetchTopic(Struct):
    """An element of `ShareFetchRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[FetchPartition] = array(FetchPartition)


class ForgottenTopic(Struct):
    """An element of `ShareFetchRequest.forgotten_topics_data`."""

    topic_id: UUID = uuid()
    partitions: list[int] = array(int32)


class ShareFetchRequest(Request["ShareFetchResponse"], api_key=78, versions=(0, 2), flexible_since=0):
    """Acquire records of a share group (KIP-932)."""

    group_id: str | None = string(nullable=True, default=None)
    member_id: str | None = string(nullable=True)
    share_session_epoch: int = int32()
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(default=2**31 - 1)
    max_records: int = int32(since=1)
    batch_size: int = int32(since=1)
    share_acquire_mode: int = int8(since=2, ignorable=True)
    is_renew_ack: bool = boolean(since=2)
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic)


class LeaderIdAndEpoch(Struct):
    """The type of `PartitionData.current_leader`."""

    leader_id: int = int32()
    leader_epoch: int = int32()


class AcquiredRecords(Struct):
    """An element of `PartitionData.acquired_records`."""

    first_offset: int = int64()
    last_offset: int = int64()
    delivery_count: int = int16()


class PartitionData(Struct):
    """An element of `ShareFetchableTopicResponse.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    acknowledge_error_code: int = int16()
    acknowledge_error_message: str | None = string(nullable=True, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch)
    records: RecordBytes | None = record_bytes(nullable=True, null_until=0)
    acquired_records: list[AcquiredRecords] = array(AcquiredRecords)


class ShareFetchableTopicResponse(Struct):
    """An element of `ShareFetchResponse.responses`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class NodeEndpoint(Struct):
    """An element of `ShareFetchResponse.node_endpoints`."""

    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable=True, default=None)


class ShareFetchResponse(Response, request=ShareFetchRequest):
    """The response to `ShareFetchRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    acquisition_lock_timeout_ms: int = int32(since=1)
    responses: list[ShareFetchableTopicResponse] = array(ShareFetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint)
