"""The API AlterConfigs (key 33, versions 0 to 2): replace the configuration of resources."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AlterableConfig(Struct):
    """An element of `AlterConfigsResource.configs`."""

    name: str = string()
    value: str | None = string(nullable=True)


class AlterConfigsResource(Struct):
    """An element of `AlterConfigsRequest.resources`."""

    resource_type: int = int8()
    resource_name: str = string()
    configs: list[AlterableConfig] = array(AlterableConfig)


class AlterConfigsRequest(Request["AlterConfigsResponse"], api_key=33, versions=(0, 2), flexible_since=2):
    """Replace the configuration of resources."""

    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean()


class AlterConfigsResourceResponse(Struct):
    """An element of `AlterConfigsResponse.responses`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()


class AlterConfigsResponse(Response, request=AlterConfigsRequest):
    """The response to `AlterConfigsRequest`."""

    throttle_time_ms: int = int32()
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
