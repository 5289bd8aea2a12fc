"""The API BrokerRegistration (key 62, versions 0 to 4): register a broker with the controller."""

from __future__ import annotations

from uuid import UUID

from kafka.wire.fields import array, boolean, int16, int32, int64, string, uint16, uuid
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class Listener(Struct):
    """An element of `BrokerRegistrationRequest.listeners`."""

    name: str = string()
    host: str = string()
    port: int = uint16()
    security_protocol: int = int16()


class Feature(Struct):
    """An element of `BrokerRegistrationRequest.features`."""

    name: str = string()
    min_supported_version: int = int16()
    max_supported_version: int = int16()


class BrokerRegistrationRequest(Request["BrokerRegistrationResponse"], api_key=62, versions=(0, 4), flexible_since=0):
    """Register a broker with the controller."""

    broker_id: int = int32()
    cluster_id: str = string()
    incarnation_id: UUID = uuid()
    listeners: list[Listener] = array(Listener)
    features: list[Feature] = array(Feature)
    rack: str | None = string(nullable=True)
    is_migrating_zk_broker: bool = boolean(since=1)
    log_dirs: list[UUID] = array(uuid, since=2, ignorable=True)
    previous_broker_epoch: int = int64(since=3, default=-1, ignorable=True)


class BrokerRegistrationResponse(Response, request=BrokerRegistrationRequest):
    """The response to `BrokerRegistrationRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    broker_epoch: int = int64(default=-1)
