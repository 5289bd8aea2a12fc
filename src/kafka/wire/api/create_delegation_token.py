"""The API CreateDelegationToken (key 38, versions 0 to 3): create a delegation token."""

from __future__ import annotations

from kafka.wire.fields import array, binary, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class CreatableRenewers(Struct):
    """An element of `CreateDelegationTokenRequest.renewers`."""

    principal_type: str = string()
    principal_name: str = string()


class CreateDelegationTokenRequest(
    Request["CreateDelegationTokenResponse"], api_key=38, versions=(0, 3), flexible_since=2
):
    """Create a delegation token."""

    owner_principal_type: str | None = string(since=3, nullable=True)
    owner_principal_name: str | None = string(since=3, nullable=True)
    renewers: list[CreatableRenewers] = array(CreatableRenewers)
    max_lifetime_ms: int = int64()


class CreateDelegationTokenResponse(Response, request=CreateDelegationTokenRequest):
    """The response to `CreateDelegationTokenRequest`."""

    error_code: int = int16()
    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string(since=3)
    token_requester_principal_name: str = string(since=3)
    issue_timestamp_ms: int = int64()
    expiry_timestamp_ms: int = int64()
    max_timestamp_ms: int = int64()
    token_id: str = string()
    hmac: bytes = binary()
    throttle_time_ms: int = int32()
