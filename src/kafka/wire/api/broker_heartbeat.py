"""The API BrokerHeartbeat (key 63, versions 0 to 2): keep a broker registered with the controller."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, int64, uuid
from kafka.wire.message import Request, Response


class BrokerHeartbeatRequest(Request["BrokerHeartbeatResponse"], api_key=63, versions=(0, 2), flexible_since=0):
    """Keep a broker registered with the controller."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)
    current_metadata_offset: int = int64()
    want_fence: bool = boolean()
    want_shut_down: bool = boolean()
    offline_log_dirs: list[UUID] = array(uuid, since=1, tag=0)
    cordoned_log_dirs: list[UUID] | None = array(uuid, since=2, tag=1, nullable=True, default=None)


class BrokerHeartbeatResponse(Response, request=BrokerHeartbeatRequest):
    """The response to `BrokerHeartbeatRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    is_caught_up: bool = boolean()
    is_fenced: bool = boolean(default=True)
    should_shut_down: bool = boolean()
