"""The API ControllerRegistration (key 70, version 0): register a controller with the active one."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class Listener(Struct):
    """An element of `ControllerRegistrationRequest.listeners`."""

    name: str = string()
    host: str = string()
    port: int = uint16()
    security_protocol: int = int16()


class Feature(Struct):
    """An element of `ControllerRegistrationRequest.features`."""

    name: str = string()
    min_supported_version: int = int16()
    max_supported_version: int = int16()


class ControllerRegistrationRequest(
    Request["ControllerRegistrationResponse"], api_key=70, versions=(0, 0), flexible_since=0
):
    """Register a controller with the active one."""

    controller_id: int = int32()
    incarnation_id: UUID = uuid()
    zk_migration_ready: bool = boolean()
    listeners: list[Listener] = array(Listener)
    features: list[Feature] = array(Feature)


class ControllerRegistrationResponse(Response, request=ControllerRegistrationRequest):
    """The response to `ControllerRegistrationRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True)
