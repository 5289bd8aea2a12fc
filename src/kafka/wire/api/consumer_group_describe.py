"""The API ConsumerGroupDescribe (key 69, versions 0 to 1): describe consumer groups of the new protocol (KIP-848)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int8, int16, int32, string, struct, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ConsumerGroupDescribeRequest(
    Request["ConsumerGroupDescribeResponse"], api_key=69, versions=(0, 1), flexible_since=0
):
    """Describe consumer groups of the new protocol (KIP-848)."""

    group_ids: list[str] = array(string)
    include_authorized_operations: bool = boolean()


class TopicPartitions(Struct):
    """An element of `Assignment.topic_partitions`."""

    topic_id: UUID = uuid()
    topic_name: str = string()
    partitions: list[int] = array(int32)


class Assignment(Struct):
    """The type of `Member.assignment` and `Member.target_assignment`."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class Member(Struct):
    """An element of `DescribedGroup.members`."""

    member_id: str = string()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    member_epoch: int = int32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string)
    subscribed_topic_regex: str | None = string(nullable=True, default=None)
    assignment: Assignment = struct(Assignment)
    target_assignment: Assignment = struct(Assignment)
    member_type: int = int8(since=1, default=-1, ignorable=True)


class DescribedGroup(Struct):
    """An element of `ConsumerGroupDescribeResponse.groups`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    assignor_name: str = string()
    members: list[Member] = array(Member)
    authorized_operations: int = int32(default=-2_147_483_648)


class ConsumerGroupDescribeResponse(Response, request=ConsumerGroupDescribeRequest):
    """The response to `ConsumerGroupDescribeRequest`."""

    throttle_time_ms: int = int32()
    groups: list[DescribedGroup] = array(DescribedGroup)
