"""The API AddOffsetsToTxn (key 25, versions 0 to 4): add a group's offsets to a transaction."""

from __future__ import annotations

from kafka.wire.fields import int16, int32, int64, string
from kafka.wire.message import Request, Response


class AddOffsetsToTxnRequest(Request["AddOffsetsToTxnResponse"], api_key=25, versions=(0, 4), flexible_since=3):
    """Add a group's offsets to a transaction."""

    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    group_id: str = string()


class AddOffsetsToTxnResponse(Response, request=AddOffsetsToTxnRequest):
    """The response to `AddOffsetsToTxnRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
