"""The API AlterClientQuotas (key 49, versions 0 to 1): change client quotas."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, float64, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class EntityData(Struct):
    """An element of `AlterClientQuotasRequestEntryData.entity`."""

    entity_type: str = string()
    entity_name: str | None = string(nullable=True)


class OpData(Struct):
    """An element of `AlterClientQuotasRequestEntryData.ops`."""

    key: str = string()
    value: float = float64()
    remove: bool = boolean()


class AlterClientQuotasRequestEntryData(Struct):
    """An element of `AlterClientQuotasRequest.entries`."""

    entity: list[EntityData] = array(EntityData)
    ops: list[OpData] = array(OpData)


class AlterClientQuotasRequest(Request["AlterClientQuotasResponse"], api_key=49, versions=(0, 1), flexible_since=1):
    """Change client quotas."""

    entries: list[AlterClientQuotasRequestEntryData] = array(AlterClientQuotasRequestEntryData)
    validate_only: bool = boolean()


class AlterClientQuotasResponseEntryData(Struct):
    """An element of `AlterClientQuotasResponse.entries`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    entity: list[EntityData] = array(EntityData)


class AlterClientQuotasResponse(Response, request=AlterClientQuotasRequest):
    """The response to `AlterClientQuotasRequest`."""

    throttle_time_ms: int = int32()
    entries: list[AlterClientQuotasResponseEntryData] = array(AlterClientQuotasResponseEntryData)
