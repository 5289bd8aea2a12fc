"""The API ListConfigResources (key 74, versions 0 to 1): list the resources that have a configuration."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ListConfigResourcesRequest(Request["ListConfigResourcesResponse"], api_key=74, versions=(0, 1), flexible_since=0):
    """List the resources that have a configuration."""

    resource_types: list[int] = array(int8, since=1)


class ConfigResource(Struct):
    """An element of `ListConfigResourcesResponse.config_resources`."""

    resource_name: str = string()
    resource_type: int = int8(since=1, default=16, ignorable=True)


class ListConfigResourcesResponse(Response, request=ListConfigResourcesRequest):
    """The response to `ListConfigResourcesRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    config_resources: list[ConfigResource] = array(ConfigResource)
