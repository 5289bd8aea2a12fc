"""The API AllocateProducerIds (key 67, version 0): get a block of producer ids (broker to controller)."""

from __future__ import annotations

from kafka.wire.fields import int16, int32, int64
from kafka.wire.message import Request, Response


class AllocateProducerIdsRequest(Request["AllocateProducerIdsResponse"], api_key=67, versions=(0, 0), flexible_since=0):
    """Get a block of producer ids (broker to controller)."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)


class AllocateProducerIdsResponse(Response, request=AllocateProducerIdsRequest):
    """The response to `AllocateProducerIdsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id_start: int = int64()
    producer_id_len: int = int32()
