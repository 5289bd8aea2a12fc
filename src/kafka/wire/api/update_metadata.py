"""The API UpdateMetadata (key 6, versions 0 to 8):
update a broker's metadata (controller to broker; removed in 4.0).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int8, int16, int32, int64, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class UpdateMetadataPartitionState(Struct):
    """The type of several fields of `UpdateMetadataRequest`."""

    topic_name: str = string(until=4, ignorable=True)
    partition_index: int = int32()
    controller_epoch: int = int32()
    leader: int = int32()
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    zk_version: int = int32()
    replicas: list[int] = array(int32)
    offline_replicas: list[int] = array(int32, since=4, ignorable=True)


class UpdateMetadataTopicState(Struct):
    """An element of `UpdateMetadataRequest.topic_states`."""

    topic_name: str = string(since=5)
    topic_id: UUID = uuid(since=7, ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = array(UpdateMetadataPartitionState, since=5)


class UpdateMetadataEndpoint(Struct):
    """An element of `UpdateMetadataBroker.endpoints`."""

    port: int = int32(since=1)
    host: str = string(since=1)
    listener: str = string(since=3, ignorable=True)
    security_protocol: int = int16(since=1)


class UpdateMetadataBroker(Struct):
    """An element of `UpdateMetadataRequest.live_brokers`."""

    id: int = int32()
    v0_host: str = string(until=0, ignorable=True)
    v0_port: int = int32(until=0, ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = array(UpdateMetadataEndpoint, since=1, ignorable=True)
    rack: str | None = string(since=2, nullable=True, ignorable=True)


class UpdateMetadataRequest(Request["UpdateMetadataResponse"], api_key=6, versions=(0, 8), flexible_since=6):
    """Update a broker's metadata (controller to broker; removed in 4.0)."""

    controller_id: int = int32()
    is_k_raft_controller: bool = boolean(since=8)
    type: int = int8(since=8, tag=0)
    controller_epoch: int = int32()
    broker_epoch: int = int64(since=5, default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = array(UpdateMetadataPartitionState, until=4)
    topic_states: list[UpdateMetadataTopicState] = array(UpdateMetadataTopicState, since=5)
    live_brokers: list[UpdateMetadataBroker] = array(UpdateMetadataBroker)


class UpdateMetadataResponse(Response, request=UpdateMetadataRequest):
    """The response to `UpdateMetadataRequest`."""

    error_code: int = int16()
