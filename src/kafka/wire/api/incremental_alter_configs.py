"""The API IncrementalAlterConfigs (key 44, versions 0 to 1):
change single entries of the configuration of resources.
"""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AlterableConfig(Struct):
    """An element of `AlterConfigsResource.configs`."""

    name: str = string()
    config_operation: int = int8()
    value: str | None = string(nullable=True)


class AlterConfigsResource(Struct):
    """An element of `IncrementalAlterConfigsRequest.resources`."""

    resource_type: int = int8()
    resource_name: str = string()
    configs: list[AlterableConfig] = array(AlterableConfig)


class IncrementalAlterConfigsRequest(
    Request["IncrementalAlterConfigsResponse"], api_key=44, versions=(0, 1), flexible_since=1
):
    """Change single entries of the configuration of resources."""

    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean()


class AlterConfigsResourceResponse(Struct):
    """An element of `IncrementalAlterConfigsResponse.responses`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()


class IncrementalAlterConfigsResponse(Response, request=IncrementalAlterConfigsRequest):
    """The response to `IncrementalAlterConfigsRequest`."""

    throttle_time_ms: int = int32()
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
