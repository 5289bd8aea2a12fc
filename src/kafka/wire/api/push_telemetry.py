"""The API PushTelemetry (key 72, version 0): send client metrics (KIP-714)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import binary, boolean, int8, int16, int32, uuid
from kafka.wire.message import Request, Response


class PushTelemetryRequest(Request["PushTelemetryResponse"], api_key=72, versions=(0, 0), flexible_since=0):
    """Send client metrics (KIP-714)."""

    client_instance_id: UUID = uuid()
    subscription_id: int = int32()
    terminating: bool = boolean()
    compression_type: int = int8()
    metrics: bytes = binary()


class PushTelemetryResponse(Response, request=PushTelemetryRequest):
    """The response to `PushTelemetryRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
