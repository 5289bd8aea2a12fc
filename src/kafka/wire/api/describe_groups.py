"""The API DescribeGroups (key 15, versions 0 to 6): describe groups with their members."""

from __future__ import annotations

from kafka.wire.fields import array, binary, boolean, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeGroupsRequest(Request["DescribeGroupsResponse"], api_key=15, versions=(0, 6), flexible_since=5):
    """Describe groups with their members."""

    groups: list[str] = array(string)
    include_authorized_operations: bool = boolean(since=3)


class DescribedGroupMember(Struct):
    """An element of `DescribedGroup.members`."""

    member_id: str = string()
    group_instance_id: str | None = string(since=4, nullable=True, default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = binary()
    member_assignment: bytes = binary()


class DescribedGroup(Struct):
    """An element of `DescribeGroupsResponse.groups`."""

    error_code: int = int16()
    error_message: str | None = string(since=6, nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    protocol_type: str = string()
    protocol_data: str = string()
    members: list[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = int32(since=3, default=-2_147_483_648)


class DescribeGroupsResponse(Response, request=DescribeGroupsRequest):
    """The response to `DescribeGroupsRequest`."""

    throttle_time_ms: int = int32(since=1, ignorable=True)
    groups: list[DescribedGroup] = array(DescribedGroup)
