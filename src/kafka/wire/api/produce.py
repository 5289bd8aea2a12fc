"""The API Produce (key 0, versions 0 to 13): append record batches to partitions."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import RecordBytes, array, int16, int32, int64, record_bytes, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class PartitionProduceData(Struct):
    """An element of `TopicProduceData.partition_data`."""

    index: int = int32()
    records: RecordBytes | None = record_bytes(nullable=True)


class TopicProduceData(Struct):
    """An element of `ProduceRequest.topic_data`."""

    name: str = string(until=12, ignorable=True)
    topic_id: UUID = uuid(since=13, ignorable=True)
    partition_data: list[PartitionProduceData] = array(PartitionProduceData)


class ProduceRequest(Request["ProduceResponse"], api_key=0, versions=(0, 13), flexible_since=9):
    """Append record batches to partitions."""

    transactional_id: str | None = string(since=3, nullable=True, default=None)
    acks: int = int16()
    timeout_ms: int = int32()
    topic_data: list[TopicProduceData] = array(TopicProduceData)


class BatchIndexAndErrorMessage(Struct):
    """An element of `PartitionProduceResponse.record_errors`."""

    batch_index: int = int32(since=8)
    batch_index_error_message: str | None = string(since=8, nullable=True, default=None)


class LeaderIdAndEpoch(Struct):
    """The type of `PartitionProduceResponse.current_leader`."""

    leader_id: int = int32(since=10, default=-1)
    leader_epoch: int = int32(since=10, default=-1)


class PartitionProduceResponse(Struct):
    """An element of `TopicProduceResponse.partition_responses`."""

    index: int = int32()
    error_code: int = int16()
    base_offset: int = int64()
    log_append_time_ms: int = int64(since=2, default=-1, ignorable=True)
    log_start_offset: int = int64(since=5, default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = array(BatchIndexAndErrorMessage, since=8, ignorable=True)
    error_message: str | None = string(since=8, nullable=True, default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, since=10, tag=0)


class TopicProduceResponse(Struct):
    """An element of `ProduceResponse.responses`."""

    name: str = string(until=12, ignorable=True)
    topic_id: UUID = uuid(since=13, ignorable=True)
    partition_responses: list[PartitionProduceResponse] = array(PartitionProduceResponse)


class NodeEndpoint(Struct):
    """An element of `ProduceResponse.node_endpoints`."""

    node_id: int = int32(since=10)
    host: str = string(since=10)
    port: int = int32(since=10)
    rack: str | None = string(since=10, nullable=True, default=None)


class ProduceResponse(Response, request=ProduceRequest):
    """The response to `ProduceRequest`."""

    responses: list[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = int32(since=1, ignorable=True)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=10, tag=0)
