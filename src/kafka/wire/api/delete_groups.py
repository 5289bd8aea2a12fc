"""The API DeleteGroups (key 42, versions 0 to 3): delete groups."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DeleteGroupsRequest(Request["DeleteGroupsResponse"], api_key=42, versions=(0, 3), flexible_since=2):
    """Delete groups."""

    groups_names: list[str] = array(string)


class DeletableGroupResult(Struct):
    """An element of `DeleteGroupsResponse.results`."""

    group_id: str = string()
    error_code: int = int16()
    error_message: str | None = string(since=3, nullable=True, default=None, ignorable=True)


class DeleteGroupsResponse(Response, request=DeleteGroupsRequest):
    """The response to `DeleteGroupsRequest`."""

    throttle_time_ms: int = int32()
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
