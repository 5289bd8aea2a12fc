"""The API DeleteAcls (key 31, versions 0 to 3): delete access control entries."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DeleteAclsFilter(Struct):
    """An element of `DeleteAclsRequest.filters`."""

    resource_type_filter: int = int8()
    resource_name_filter: str | None = string(nullable=True)
    pattern_type_filter: int = int8(since=1, default=3)
    principal_filter: str | None = string(nullable=True)
    host_filter: str | None = string(nullable=True)
    operation: int = int8()
    permission_type: int = int8()


class DeleteAclsRequest(Request["DeleteAclsResponse"], api_key=31, versions=(0, 3), flexible_since=2):
    """Delete access control entries."""

    filters: list[DeleteAclsFilter] = array(DeleteAclsFilter)


class DeleteAclsMatchingAcl(Struct):
    """An element of `DeleteAclsFilterResult.matching_acls`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()
    pattern_type: int = int8(since=1, default=3)
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()


class DeleteAclsFilterResult(Struct):
    """An element of `DeleteAclsResponse.filter_results`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    matching_acls: list[DeleteAclsMatchingAcl] = array(DeleteAclsMatchingAcl)


class DeleteAclsResponse(Response, request=DeleteAclsRequest):
    """The response to `DeleteAclsRequest`."""

    throttle_time_ms: int = int32()
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult)
