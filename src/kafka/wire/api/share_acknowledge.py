"""The API ShareAcknowledge (key 79, versions 0 to 2): acknowledge records of a share group (KIP-932)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int8, int16, int32, int64, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AcknowledgementBatch(Struct):
    """An element of `AcknowledgePartition.acknowledgement_batches`."""

    first_offset: int = int64()
    last_offset: int = int64()
    acknowledge_types: list[int] = array(int8)


class AcknowledgePartition(Struct):
    """An element of `AcknowledgeTopic.partitions`."""

    partition_index: int = int32()
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch)


class AcknowledgeTopic(Struct):
    """An element of `ShareAcknowledgeRequest.topics`."""

    topic_id: UUID = uuid()
    partitions: list[AcknowledgePartition] = array(AcknowledgePartition)


class ShareAcknowledgeRequest(Request["ShareAcknowledgeResponse"], api_key=79, versions=(0, 2), flexible_since=0):
    """Acknowledge records of a share group (KIP-932)."""

    group_id: str | None = string(nullable=True, default=None)
    member_id: str | None = string(nullable=True)
    share_session_epoch: int = int32()
    is_renew_ack: bool = boolean(since=2)
    topics: list[AcknowledgeTopic] = array(AcknowledgeTopic)


class LeaderIdAndEpoch(Struct):
    """The type of `PartitionData.current_leader`."""

    leader_id: int = int32()
    leader_epoch: int = int32()


class PartitionData(Struct):
    """An element of `ShareAcknowledgeTopicResponse.partitions`."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch)


class ShareAcknowledgeTopicResponse(Struct):
    """An element of `ShareAcknowledgeResponse.responses`."""

    topic_id: UUID = uuid()
    partitions: list[PartitionData] = array(PartitionData)


class NodeEndpoint(Struct):
    """An element of `ShareAcknowledgeResponse.node_endpoints`."""

    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable=True, default=None)


class ShareAcknowledgeResponse(Response, request=ShareAcknowledgeRequest):
    """The response to `ShareAcknowledgeRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    acquisition_lock_timeout_ms: int = int32(since=2, ignorable=True)
    responses: list[ShareAcknowledgeTopicResponse] = array(ShareAcknowledgeTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint)
