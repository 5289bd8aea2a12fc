"""The API DescribeCluster (key 60, versions 0 to 2): describe the cluster and its brokers."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeClusterRequest(Request["DescribeClusterResponse"], api_key=60, versions=(0, 2), flexible_since=0):
    """Describe the cluster and its brokers."""

    include_cluster_authorized_operations: bool = boolean()
    endpoint_type: int = int8(since=1, default=1)
    include_fenced_brokers: bool = boolean(since=2)


class DescribeClusterBroker(Struct):
    """An element of `DescribeClusterResponse.brokers`."""

    broker_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable=True, default=None)
    is_fenced: bool = boolean(since=2)


class DescribeClusterResponse(Response, request=DescribeClusterRequest):
    """The response to `DescribeClusterRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
    endpoint_type: int = int8(since=1, default=1)
    cluster_id: str = string()
    controller_id: int = int32(default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker)
    cluster_authorized_operations: int = int32(default=-2_147_483_648)
