"""The API UnregisterController (key 94, version 0): remove a controller from the cluster."""

from __future__ import annotations

from kafka.wire.fields import int16, int32, string
from kafka.wire.message import Request, Response


class UnregisterControllerRequest(
    Request["UnregisterControllerResponse"], api_key=94, versions=(0, 0), flexible_since=0
):
    """Remove a controller from the cluster."""

    controller_id: int = int32()


class UnregisterControllerResponse(Response, request=UnregisterControllerRequest):
    """The response to `UnregisterControllerRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
