"""The API DescribeUserScramCredentials (key 50, version 0): describe users' SCRAM credentials."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class UserName(Struct):
    """An element of `DescribeUserScramCredentialsRequest.users`."""

    name: str = string()


class DescribeUserScramCredentialsRequest(
    Request["DescribeUserScramCredentialsResponse"], api_key=50, versions=(0, 0), flexible_since=0
):
    """Describe users' SCRAM credentials."""

    users: list[UserName] | None = array(UserName, nullable=True)


class CredentialInfo(Struct):
    """An element of `DescribeUserScramCredentialsResult.credential_infos`."""

    mechanism: int = int8()
    iterations: int = int32()


class DescribeUserScramCredentialsResult(Struct):
    """An element of `DescribeUserScramCredentialsResponse.results`."""

    user: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    credential_infos: list[CredentialInfo] = array(CredentialInfo)


class DescribeUserScramCredentialsResponse(Response, request=DescribeUserScramCredentialsRequest):
    """The response to `DescribeUserScramCredentialsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    results: list[DescribeUserScramCredentialsResult] = array(DescribeUserScramCredentialsResult)
