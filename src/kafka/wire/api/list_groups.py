"""The API ListGroups (key 16, versions 0 to 5): list the groups that a broker coordinates."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ListGroupsRequest(Request["ListGroupsResponse"], api_key=16, versions=(0, 5), flexible_since=3):
    """List the groups that a broker coordinates."""

    states_filter: list[str] = array(string, since=4)
    types_filter: list[str] = array(string, since=5)


class ListedGroup(Struct):
    """An element of `ListGroupsResponse.groups`."""

    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string(since=4, ignorable=True)
    group_type: str = string(since=5, ignorable=True)


class ListGroupsResponse(Response, request=ListGroupsRequest):
    """The response to `ListGroupsRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    error_code: int = int16()
    groups: list[ListedGroup] = array(ListedGroup)
