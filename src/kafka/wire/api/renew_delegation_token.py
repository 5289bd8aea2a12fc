"""The API RenewDelegationToken (key 39, versions 0 to 2): renew a delegation token."""

from __future__ import annotations

from kafka.wire.fields import binary, int16, int32, int64
from kafka.wire.message import Request, Response


class RenewDelegationTokenRequest(
    Request["RenewDelegationTokenResponse"], api_key=39, versions=(0, 2), flexible_since=2
):
    """Renew a delegation token."""

    hmac: bytes = binary()
    renew_period_ms: int = int64()


class RenewDelegationTokenResponse(Response, request=RenewDelegationTokenRequest):
    """The response to `RenewDelegationTokenRequest`."""

    error_code: int = int16()
    expiry_timestamp_ms: int = int64()
    throttle_time_ms: int = int32()
