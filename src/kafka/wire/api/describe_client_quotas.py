"""The API DescribeClientQuotas (key 48, versions 0 to 1): read client quotas."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, float64, int8, int16, int32, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ComponentData(Struct):
    """An element of `DescribeClientQuotasRequest.components`."""

    entity_type: str = string()
    match_type: int = int8()
    match: str | None = string(nullable=True)


class DescribeClientQuotasRequest(
    Request["DescribeClientQuotasResponse"], api_key=48, versions=(0, 1), flexible_since=1
):
    """Read client quotas."""

    components: list[ComponentData] = array(ComponentData)
    strict: bool = boolean()


class EntityData(Struct):
    """An element of `EntryData.entity`."""

    entity_type: str = string()
    entity_name: str | None = string(nullable=True)


class ValueData(Struct):
    """An element of `EntryData.values`."""

    key: str = string()
    value: float = float64()


class EntryData(Struct):
    """An element of `DescribeClientQuotasResponse.entries`."""

    entity: list[EntityData] = array(EntityData)
    values: list[ValueData] = array(ValueData)


class DescribeClientQuotasResponse(Response, request=DescribeClientQuotasRequest):
    """The response to `DescribeClientQuotasRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    entries: list[EntryData] | None = array(EntryData, nullable=True)
