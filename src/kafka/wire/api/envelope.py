"""The API Envelope (key 58, version 0): forward a request of another principal (broker to controller)."""

from __future__ import annotations

from kafka.wire.fields import binary, int16
from kafka.wire.message import Request, Response


class EnvelopeRequest(Request["EnvelopeResponse"], api_key=58, versions=(0, 0), flexible_since=0):
    """Forward a request of another principal (broker to controller)."""

    request_data: bytes = binary()
    request_principal: bytes | None = binary(nullable=True)
    client_host_address: bytes = binary()


class EnvelopeResponse(Response, request=EnvelopeRequest):
    """The response to `EnvelopeRequest`."""

    response_data: bytes | None = binary(nullable=True, default=None)
    error_code: int = int16()
