"""The API Metadata (key 3, versions 0 to 13): describe topics, their partitions and leaders, and the brokers."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class MetadataRequestTopic(Struct):
    """An element of `MetadataRequest.topics`."""

    topic_id: UUID = uuid(since=10, ignorable=True)
    name: str | None = string(nullable=True, null_since=10)


class MetadataRequest(Request["MetadataResponse"], api_key=3, versions=(0, 13), flexible_since=9):
    """Describe topics, their partitions and leaders, and the brokers."""

    topics: list[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable=True, null_since=1)
    allow_auto_topic_creation: bool = boolean(since=4, default=True)
    include_cluster_authorized_operations: bool = boolean(since=8, until=10)
    include_topic_authorized_operations: bool = boolean(since=8)


class MetadataResponseBroker(Struct):
    """An element of `MetadataResponse.brokers`."""

    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(since=1, nullable=True, default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    """An element of `MetadataResponseTopic.partitions`."""

    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(since=7, default=-1, ignorable=True)
    replica_nodes: list[int] = array(int32)
    isr_nodes: list[int] = array(int32)
    offline_replicas: list[int] = array(int32, since=5, ignorable=True)


class MetadataResponseTopic(Struct):
    """An element of `MetadataResponse.topics`."""

    error_code: int = int16()
    name: str | None = string(nullable=True, null_since=12)
    topic_id: UUID = uuid(since=10, ignorable=True)
    is_internal: bool = boolean(since=1, ignorable=True)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition)
    topic_authorized_operations: int = int32(since=8, default=-2_147_483_648)


class MetadataResponse(Response, request=MetadataRequest):
    """The response to `MetadataRequest`."""

    throttle_time_ms: int = int32(since=3, ignorable=True)
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker)
    cluster_id: str | None = string(since=2, nullable=True, default=None, ignorable=True)
    controller_id: int = int32(since=1, default=-1, ignorable=True)
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic)
    cluster_authorized_operations: int = int32(since=8, until=10, default=-2_147_483_648)
    error_code: int = int16(since=13, ignorable=True)
