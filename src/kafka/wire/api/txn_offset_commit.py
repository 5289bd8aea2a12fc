"""The API TxnOffsetCommit (key 28, versions 0 to 6): store a group's offsets within a transaction."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class TxnOffsetCommitRequestPartition(Struct):
    """An element of `TxnOffsetCommitRequestTopic.partitions`."""

    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(since=2, default=-1, ignorable=True)
    committed_metadata: str | None = string(nullable=True)


class TxnOffsetCommitRequestTopic(Struct):
    """An element of `TxnOffsetCommitRequest.topics`."""

    name: str = string(until=5, ignorable=True)
    topic_id: UUID = uuid(since=6, ignorable=True)
    partitions: list[TxnOffsetCommitRequestPartition] = array(TxnOffsetCommitRequestPartition)


class TxnOffsetCommitRequest(Request["TxnOffsetCommitResponse"], api_key=28, versions=(0, 6), flexible_since=3):
    """Store a group's offsets within a transaction."""

    transactional_id: str = string()
    group_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    generation_id_or_member_epoch: int = int32(since=3, default=-1)
    member_id: str = string(since=3)
    group_instance_id: str | None = string(since=3, nullable=True, default=None)
    topics: list[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic)


class TxnOffsetCommitResponsePartition(Struct):
    """An element of `TxnOffsetCommitResponseTopic.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()


class TxnOffsetCommitResponseTopic(Struct):
    """An element of `TxnOffsetCommitResponse.topics`."""

    name: str = string(until=5, ignorable=True)
    topic_id: UUID = uuid(since=6, ignorable=True)
    partitions: list[TxnOffsetCommitResponsePartition] = array(TxnOffsetCommitResponsePartition)


class TxnOffsetCommitResponse(Response, request=TxnOffsetCommitRequest):
    """The response to `TxnOffsetCommitRequest`."""

    throttle_time_ms: int = int32()
    topics: list[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic)
