"""The API DescribeDelegationToken (key 41, versions 0 to 3): list delegation tokens."""

from __future__ import annotations

from kafka.wire.fields import array, binary, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeDelegationTokenOwner(Struct):
    """An element of `DescribeDelegationTokenRequest.owners`."""

    principal_type: str = string()
    principal_name: str = string()


class DescribeDelegationTokenRequest(
    Request["DescribeDelegationTokenResponse"], api_key=41, versions=(0, 3), flexible_since=2
):
    """List delegation tokens."""

    owners: list[DescribeDelegationTokenOwner] | None = array(DescribeDelegationTokenOwner, nullable=True)


class DescribedDelegationTokenRenewer(Struct):
    """An element of `DescribedDelegationToken.renewers`."""

    principal_type: str = string()
    principal_name: str = string()


class DescribedDelegationToken(Struct):
    """An element of `DescribeDelegationTokenResponse.tokens`."""

    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string(since=3)
    token_requester_principal_name: str = string(since=3)
    issue_timestamp: int = int64()
    expiry_timestamp: int = int64()
    max_timestamp: int = int64()
    token_id: str = string()
    hmac: bytes = binary()
    renewers: list[DescribedDelegationTokenRenewer] = array(DescribedDelegationTokenRenewer)


class DescribeDelegationTokenResponse(Response, request=DescribeDelegationTokenRequest):
    """The response to `DescribeDelegationTokenRequest`."""

    error_code: int = int16()
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken)
    throttle_time_ms: int = int32()
