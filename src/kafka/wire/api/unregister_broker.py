"""The API UnregisterBroker (key 64, version 0): remove a broker from the cluster."""

from __future__ import annotations

from kafka.wire.fields import int16, int32, string
from kafka.wire.message import Request, Response


class UnregisterBrokerRequest(Request["UnregisterBrokerResponse"], api_key=64, versions=(0, 0), flexible_since=0):
    """Remove a broker from the cluster."""

    broker_id: int = int32()


class UnregisterBrokerResponse(Response, request=UnregisterBrokerRequest):
    """The response to `UnregisterBrokerRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
