"""The API CreateAcls (key 30, versions 0 to 3): add access control entries."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AclCreation(Struct):
    """An element of `CreateAclsRequest.creations`."""

    resource_type: int = int8()
    resource_name: str = string()
    resource_pattern_type: int = int8(since=1, default=3)
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()


class CreateAclsRequest(Request["CreateAclsResponse"], api_key=30, versions=(0, 3), flexible_since=2):
    """Add access control entries."""

    creations: list[AclCreation] = array(AclCreation)


class AclCreationResult(Struct):
    """An element of `CreateAclsResponse.results`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)


class CreateAclsResponse(Response, request=CreateAclsRequest):
    """The response to `CreateAclsRequest`."""

    throttle_time_ms: int = int32()
    results: list[AclCreationResult] = array(AclCreationResult)
