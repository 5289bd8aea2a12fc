"""The API DescribeConfigs (key 32, versions 0 to 4):
read the configuration of topics, brokers and other resources.
"""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeConfigsResource(Struct):
    """An element of `DescribeConfigsRequest.resources`."""

    resource_type: int = int8()
    resource_name: str = string()
    configuration_keys: list[str] | None = array(string, nullable=True)


class DescribeConfigsRequest(Request["DescribeConfigsResponse"], api_key=32, versions=(0, 4), flexible_since=4):
    """Read the configuration of topics, brokers and other resources."""

    resources: list[DescribeConfigsResource] = array(DescribeConfigsResource)
    include_synonyms: bool = boolean(since=1)
    include_documentation: bool = boolean(since=3)


class DescribeConfigsSynonym(Struct):
    """An element of `DescribeConfigsResourceResult.synonyms`."""

    name: str = string(since=1)
    value: str | None = string(since=1, nullable=True)
    source: int = int8(since=1)


class DescribeConfigsResourceResult(Struct):
    """An element of `DescribeConfigsResult.configs`."""

    name: str = string()
    value: str | None = string(nullable=True)
    read_only: bool = boolean()
    is_default: bool = boolean(until=0)
    config_source: int = int8(since=1, default=-1, ignorable=True)
    is_sensitive: bool = boolean()
    synonyms: list[DescribeConfigsSynonym] = array(DescribeConfigsSynonym, since=1, ignorable=True)
    config_type: int = int8(since=3, ignorable=True)
    documentation: str | None = string(since=3, nullable=True, ignorable=True)


class DescribeConfigsResult(Struct):
    """An element of `DescribeConfigsResponse.results`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    resource_type: int = int8()
    resource_name: str = string()
    configs: list[DescribeConfigsResourceResult] = array(DescribeConfigsResourceResult)


class DescribeConfigsResponse(Response, request=DescribeConfigsRequest):
    """The response to `DescribeConfigsRequest`."""

    throttle_time_ms: int = int32()
    results: list[DescribeConfigsResult] = array(DescribeConfigsResult)
