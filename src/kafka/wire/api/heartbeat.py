"""The API Heartbeat (key 12, versions 0 to 4): keep a member in its group."""

from __future__ import annotations

from kafka.wire.fields import int16, int32, string
from kafka.wire.message import Request, Response


class HeartbeatRequest(Request["HeartbeatResponse"], api_key=12, versions=(0, 4), flexible_since=4):
    """Keep a member in its group."""

    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=True, default=None)


class HeartbeatResponse(Response, request=HeartbeatRequest):
    """The response to `HeartbeatRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    error_code: int = int16()
