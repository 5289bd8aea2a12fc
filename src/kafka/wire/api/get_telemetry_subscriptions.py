"""The API GetTelemetrySubscriptions (key 71, version 0): request the client metrics subscriptions (KIP-714)."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int8, int16, int32, string, uuid
from kafka.wire.message import Request, Response


class GetTelemetrySubscriptionsRequest(
    Request["GetTelemetrySubscriptionsResponse"], api_key=71, versions=(0, 0), flexible_since=0
):
    """Request the client metrics subscriptions (KIP-714)."""

    client_instance_id: UUID = uuid()


class GetTelemetrySubscriptionsResponse(Response, request=GetTelemetrySubscriptionsRequest):
    """The response to `GetTelemetrySubscriptionsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    client_instance_id: UUID = uuid()
    subscription_id: int = int32()
    accepted_compression_types: list[int] = array(int8)
    push_interval_ms: int = int32()
    telemetry_max_bytes: int = int32()
    delta_temporality: bool = boolean()
    requested_metrics: list[str] = array(string)
