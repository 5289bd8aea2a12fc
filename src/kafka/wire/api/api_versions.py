"""The API ApiVersions (key 18, versions 0 to 5): request the API versions that a broker supports."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ApiVersionsRequest(Request["ApiVersionsResponse"], api_key=18, versions=(0, 5), flexible_since=3):
    """Request the API versions that a broker supports."""

    client_software_name: str = string(since=3, ignorable=True)
    client_software_version: str = string(since=3, ignorable=True)
    cluster_id: str | None = string(since=5, nullable=True, default=None, ignorable=True)
    node_id: int = int32(since=5, default=-1, ignorable=True)


class ApiVersion(Struct):
    """An element of `ApiVersionsResponse.api_keys`."""

    api_key: int = int16()
    min_version: int = int16()
    max_version: int = int16()


class SupportedFeatureKey(Struct):
    """An element of `ApiVersionsResponse.supported_features`."""

    name: str = string(since=3)
    min_version: int = int16(since=3)
    max_version: int = int16(since=3)


class FinalizedFeatureKey(Struct):
    """An element of `ApiVersionsResponse.finalized_features`."""

    name: str = string(since=3)
    max_version_level: int = int16(since=3)
    min_version_level: int = int16(since=3)


class ApiVersionsResponse(Response, request=ApiVersionsRequest):
    """The response to `ApiVersionsRequest`."""

    error_code: int = int16()
    api_keys: list[ApiVersion] = array(ApiVersion)
    throttle_time_ms: int = int32(since=1, ignorable=True)
    supported_features: list[SupportedFeatureKey] = array(SupportedFeatureKey, since=3, tag=0, ignorable=True)
    finalized_features_epoch: int = int64(since=3, tag=1, default=-1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = array(FinalizedFeatureKey, since=3, tag=2, ignorable=True)
    zk_migration_ready: bool = boolean(since=3, tag=3, ignorable=True)
