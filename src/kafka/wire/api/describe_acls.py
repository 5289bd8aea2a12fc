"""The API DescribeAcls (key 29, versions 0 to 3): list access control entries."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeAclsRequest(Request["DescribeAclsResponse"], api_key=29, versions=(0, 3), flexible_since=2):
    """List access control entries."""

    resource_type_filter: int = int8()
    resource_name_filter: str | None = string(nullable=True)
    pattern_type_filter: int = int8(since=1, default=3)
    principal_filter: str | None = string(nullable=True)
    host_filter: str | None = string(nullable=True)
    operation: int = int8()
    permission_type: int = int8()


class AclDescription(Struct):
    """An element of `DescribeAclsResource.acls`."""

    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()


class DescribeAclsResource(Struct):
    """An element of `DescribeAclsResponse.resources`."""

    resource_type: int = int8()
    resource_name: str = string()
    pattern_type: int = int8(since=1, default=3)
    acls: list[AclDescription] = array(AclDescription)


class DescribeAclsResponse(Response, request=DescribeAclsRequest):
    """The response to `DescribeAclsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resources: list[DescribeAclsResource] = array(DescribeAclsResource)
