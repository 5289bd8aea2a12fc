"""The API UpdateFeatures (key 57, versions 0 to 2): change the cluster's finalized features."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class FeatureUpdateKey(Struct):
    """An element of `UpdateFeaturesRequest.feature_updates`."""

    feature: str = string()
    max_version_level: int = int16()
    allow_downgrade: bool = boolean(until=0)
    upgrade_type: int = int8(since=1, default=1)


class UpdateFeaturesRequest(Request["UpdateFeaturesResponse"], api_key=57, versions=(0, 2), flexible_since=0):
    """Change the cluster's finalized features."""

    timeout_ms: int = int32(default=60_000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey)
    validate_only: bool = boolean(since=1)


class UpdatableFeatureResult(Struct):
    """An element of `UpdateFeaturesResponse.results`."""

    feature: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)


class UpdateFeaturesResponse(Response, request=UpdateFeaturesRequest):
    """The response to `UpdateFeaturesRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    results: list[UpdatableFeatureResult] = array(UpdatableFeatureResult, until=1, ignorable=True)
