"""The API AlterUserScramCredentials (key 51, version 0): change users' SCRAM credentials."""

from __future__ import annotations

from kafka.wire.fields import array, binary, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ScramCredentialDeletion(Struct):
    """An element of `AlterUserScramCredentialsRequest.deletions`."""

    name: str = string()
    mechanism: int = int8()


class ScramCredentialUpsertion(Struct):
    """An element of `AlterUserScramCredentialsRequest.upsertions`."""

    name: str = string()
    mechanism: int = int8()
    iterations: int = int32()
    salt: bytes = binary()
    salted_password: bytes = binary()


class AlterUserScramCredentialsRequest(
    Request["AlterUserScramCredentialsResponse"], api_key=51, versions=(0, 0), flexible_since=0
):
    """Change users' SCRAM credentials."""

    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion)
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion)


class AlterUserScramCredentialsResult(Struct):
    """An element of `AlterUserScramCredentialsResponse.results`."""

    user: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)


class AlterUserScramCredentialsResponse(Response, request=AlterUserScramCredentialsRequest):
    """The response to `AlterUserScramCredentialsRequest`."""

    throttle_time_ms: int = int32()
    results: list[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult)
