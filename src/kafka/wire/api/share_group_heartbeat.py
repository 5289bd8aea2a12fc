"""The API ShareGroupHeartbeat (key 76, versions 0 to 1): keep a member in its share group (KIP-932)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, int16, int32, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ShareGroupHeartbeatRequest(Request["ShareGroupHeartbeatResponse"], api_key=76, versions=(0, 1), flexible_since=0):
    """Keep a member in its share group (KIP-932)."""

    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()
    rack_id: str | None = string(nullable=True, default=None)
    subscribed_topic_names: list[str] | None = array(string, nullable=True, default=None)


class TopicPartitions(Struct):
    """An element of `Assignment.topic_partitions`."""

    topic_id: UUID = uuid()
    partitions: list[int] = array(int32)


class Assignment(Struct):
    """The type of `ShareGroupHeartbeatResponse.assignment`."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class ShareGroupHeartbeatResponse(Response, request=ShareGroupHeartbeatRequest):
    """The response to `ShareGroupHeartbeatRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    member_id: str | None = string(nullable=True, default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    assignment: Assignment | None = struct(Assignment, nullable=True, default=None)
