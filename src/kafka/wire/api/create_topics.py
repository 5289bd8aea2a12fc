"""The API CreateTopics (key 19, versions 0 to 7): create topics."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int8, int16, int32, string, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class CreatableReplicaAssignment(Struct):
    """An element of `CreatableTopic.assignments`."""

    partition_index: int = int32()
    broker_ids: list[int] = array(int32)


class CreatableTopicConfig(Struct):
    """An element of `CreatableTopic.configs`."""

    name: str = string()
    value: str | None = string(nullable=True)


class CreatableTopic(Struct):
    """An element of `CreateTopicsRequest.topics`."""

    name: str = string()
    num_partitions: int = int32()
    replication_factor: int = int16()
    assignments: list[CreatableReplicaAssignment] = array(CreatableReplicaAssignment)
    configs: list[CreatableTopicConfig] = array(CreatableTopicConfig)


class CreateTopicsRequest(Request["CreateTopicsResponse"], api_key=19, versions=(0, 7), flexible_since=5):
    """Create topics."""

    topics: list[CreatableTopic] = array(CreatableTopic)
    timeout_ms: int = int32(default=60_000)
    validate_only: bool = boolean(since=1)


class CreatableTopicConfigs(Struct):
    """An element of `CreatableTopicResult.configs`."""

    name: str = string(since=5)
    value: str | None = string(since=5, nullable=True)
    read_only: bool = boolean(since=5)
    config_source: int = int8(since=5, default=-1, ignorable=True)
    is_sensitive: bool = boolean(since=5)


class CreatableTopicResult(Struct):
    """An element of `CreateTopicsResponse.topics`."""

    name: str = string()
    topic_id: UUID = uuid(since=7, ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(since=1, nullable=True, ignorable=True)
    topic_config_error_code: int = int16(since=5, tag=0, ignorable=True)
    num_partitions: int = int32(since=5, default=-1, ignorable=True)
    replication_factor: int = int16(since=5, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = array(CreatableTopicConfigs, since=5, nullable=True, ignorable=True)


class CreateTopicsResponse(Response, request=CreateTopicsRequest):
    """The response to `CreateTopicsRequest`."""

    throttle_time_ms: int = int32(since=2, ignorable=True)
    topics: list[CreatableTopicResult] = array(CreatableTopicResult)
