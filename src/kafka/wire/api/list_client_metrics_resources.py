"""The API ListClientMetricsResources (key 74, version 0): list the client metrics subscriptions."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ListClientMetricsResourcesRequest(
    Request["ListClientMetricsResourcesResponse"], api_key=74, versions=(0, 0), flexible_since=0
):
    """List the client metrics subscriptions."""


class ClientMetricsResource(Struct):
    """An element of `ListClientMetricsResourcesResponse.client_metrics_resources`."""

    name: str = string()


class ListClientMetricsResourcesResponse(Response, request=ListClientMetricsResourcesRequest):
    """The response to `ListClientMetricsResourcesRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    client_metrics_resources: list[ClientMetricsResource] = array(ClientMetricsResource)
