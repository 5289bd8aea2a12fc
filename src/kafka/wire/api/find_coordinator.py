"""The API FindCoordinator (key 10, versions 0 to 6):
find the broker that coordinates a group or a transactional producer.
"""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class FindCoordinatorRequest(Request["FindCoordinatorResponse"], api_key=10, versions=(0, 6), flexible_since=3):
    """Find the broker that coordinates a group or a transactional producer."""

    key: str = string(until=3)
    key_type: int = int8(since=1)
    coordinator_keys: list[str] = array(string, since=4)


class Coordinator(Struct):
    """An element of `FindCoordinatorResponse.coordinators`."""

    key: str = string(since=4)
    node_id: int = int32(since=4)
    host: str = string(since=4)
    port: int = int32(since=4)
    error_code: int = int16(since=4)
    error_message: str | None = string(since=4, nullable=True, ignorable=True)


class FindCoordinatorResponse(Response, request=FindCoordinatorRequest):
    """The response to `FindCoordinatorRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    error_code: int = int16(until=3)
    error_message: str | None = string(since=1, until=3, nullable=True, ignorable=True)
    node_id: int = int32(until=3)
    host: str = string(until=3)
    port: int = int32(until=3)
    coordinators: list[Coordinator] = array(Coordinator, since=4)
