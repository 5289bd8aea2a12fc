"""The API ConsumerGroupHeartbeat (key 68, versions 0 to 1):
keep a member in its group and exchange assignments (KIP-848).
"""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class TopicPartitions(Struct):
    """The type of several fields of `ConsumerGroupHeartbeatRequest`."""

    topic_id: UUID = uuid()
    partitions: list[int] = array(int32)


class ConsumerGroupHeartbeatRequest(
    Request["ConsumerGroupHeartbeatResponse"], api_key=68, versions=(0, 1), flexible_since=0
):
    """Keep a member in its group and exchange assignments (KIP-848)."""

    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    rebalance_timeout_ms: int = int32(default=-1)
    subscribed_topic_names: list[str] | None = array(string, nullable=True, default=None)
    subscribed_topic_regex: str | None = string(since=1, nullable=True, default=None)
    server_assignor: str | None = string(nullable=True, default=None)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable=True, default=None)


class Assignment(Struct):
    """The type of `ConsumerGroupHeartbeatResponse.assignment`."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class ConsumerGroupHeartbeatResponse(Response, request=ConsumerGroupHeartbeatRequest):
    """The response to `ConsumerGroupHeartbeatRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    member_id: str | None = string(nullable=True, default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    assignment: Assignment | None = struct(Assignment, nullable=True, default=None)
