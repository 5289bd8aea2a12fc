"""The API ShareGroupDescribe (key 77, versions 0 to 1): describe share groups (KIP-932)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ShareGroupDescribeRequest(Request["ShareGroupDescribeResponse"], api_key=77, versions=(0, 1), flexible_since=0):
    """Describe share groups (KIP-932)."""

    group_ids: list[str] = array(string)
    include_authorized_operations: bool = boolean()


class TopicPartitions(Struct):
    """An element of `Assignment.topic_partitions`."""

    topic_id: UUID = uuid()
    topic_name: str = string()
    partitions: list[int] = array(int32)


class Assignment(Struct):
    """The type of `Member.assignment`."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class Member(Struct):
    """An element of `DescribedGroup.members`."""

    member_id: str = string()
    rack_id: str | None = string(nullable=True, default=None)
    member_epoch: int = int32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string)
    assignment: Assignment = struct(Assignment)


class DescribedGroup(Struct):
    """An element of `ShareGroupDescribeResponse.groups`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    assignor_name: str = string()
    members: list[Member] = array(Member)
    authorized_operations: int = int32(default=-2_147_483_648)


class ShareGroupDescribeResponse(Response, request=ShareGroupDescribeRequest):
    """The response to `ShareGroupDescribeRequest`."""

    throttle_time_ms: int = int32()
    groups: list[DescribedGroup] = array(DescribedGroup)
