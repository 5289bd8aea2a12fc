"""The API ExpireDelegationToken (key 40, versions 0 to 2): expire a delegation token."""

from __future__ import annotations

from kafka.wire.fields import binary, int16, int32, int64
from kafka.wire.message import Request, Response


class ExpireDelegationTokenRequest(
    Request["ExpireDelegationTokenResponse"], api_key=40, versions=(0, 2), flexible_since=2
):
    """Expire a delegation token."""

    hmac: bytes = binary()
    expiry_time_period_ms: int = int64()


class ExpireDelegationTokenResponse(Response, request=ExpireDelegationTokenRequest):
    """The response to `ExpireDelegationTokenRequest`."""

    error_code: int = int16()
    expiry_timestamp_ms: int = int64()
    throttle_time_ms: int = int32()
