"""The API JoinGroup (key 11, versions 0 to 9): join a group, or its next generation."""

from __future__ import annotations

from kafka.wire.fields import array, binary, boolean, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class JoinGroupRequestProtocol(Struct):
    """An element of `JoinGroupRequest.protocols`."""

    name: str = string()
    metadata: bytes = binary()


class JoinGroupRequest(Request["JoinGroupResponse"], api_key=11, versions=(0, 9), flexible_since=6):
    """Join a group, or its next generation."""

    group_id: str = string()
    session_timeout_ms: int = int32()
    rebalance_timeout_ms: int = int32(since=1, default=-1, ignorable=True)
    member_id: str = string()
    group_instance_id: str | None = string(since=5, nullable=True, default=None)
    protocol_type: str = string()
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol)
    reason: str | None = string(since=8, nullable=True, default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    """An element of `JoinGroupResponse.members`."""

    member_id: str = string()
    group_instance_id: str | None = string(since=5, nullable=True, default=None, ignorable=True)
    metadata: bytes = binary()


class JoinGroupResponse(Response, request=JoinGroupRequest):
    """The response to `JoinGroupRequest`."""

    throttle_time_ms: int = int32(since=2, ignorable=True)
    error_code: int = int16()
    generation_id: int = int32(default=-1)
    protocol_type: str | None = string(since=7, nullable=True, default=None, ignorable=True)
    protocol_name: str | None = string(nullable=True, null_since=7)
    leader: str = string()
    skip_assignment: bool = boolean(since=9)
    member_id: str = string()
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember)
