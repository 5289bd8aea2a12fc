"""The API LeaveGroup (key 13, versions 0 to 5): remove members from a group."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class MemberIdentity(Struct):
    """An element of `LeaveGroupRequest.members`."""

    member_id: str = string(since=3)
    group_instance_id: str | None = string(since=3, nullable=True, default=None)
    reason: str | None = string(since=5, nullable=True, default=None, ignorable=True)


class LeaveGroupRequest(Request["LeaveGroupResponse"], api_key=13, versions=(0, 5), flexible_since=4):
    """Remove members from a group."""

    group_id: str = string()
    member_id: str = string(until=2)
    members: list[MemberIdentity] = array(MemberIdentity, since=3)


class MemberResponse(Struct):
    """An element of `LeaveGroupResponse.members`."""

    member_id: str = string(since=3)
    group_instance_id: str | None = string(since=3, nullable=True)
    error_code: int = int16(since=3)


class LeaveGroupResponse(Response, request=LeaveGroupRequest):
    """The response to `LeaveGroupRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    error_code: int = int16()
    members: list[MemberResponse] = array(MemberResponse, since=3)
