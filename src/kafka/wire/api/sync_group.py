"""The API SyncGroup (key 14, versions 0 to 5): distribute the leader's assignment and get the member's own."""

from __future__ import annotations

from kafka.wire.fields import array, binary, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class SyncGroupRequestAssignment(Struct):
    """An element of `SyncGroupRequest.assignments`."""

    member_id: str = string()
    assignment: bytes = binary()


class SyncGroupRequest(Request["SyncGroupResponse"], api_key=14, versions=(0, 5), flexible_since=4):
    """Distribute the leader's assignment and get the member's own."""

    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=True, default=None)
    protocol_type: str | None = string(since=5, nullable=True, default=None, ignorable=True)
    protocol_name: str | None = string(since=5, nullable=True, default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment)


class SyncGroupResponse(Response, request=SyncGroupRequest):
    """The response to `SyncGroupRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    error_code: int = int16()
    protocol_type: str | None = string(since=5, nullable=True, default=None, ignorable=True)
    protocol_name: str | None = string(since=5, nullable=True, default=None, ignorable=True)
    assignment: bytes = binary()
