"""The API EndTxn (key 26, versions 0 to 5): commit or abort a transaction."""

from __future__ import annotations

from kafka.wire.fields import boolean, int16, int32, int64, string
from kafka.wire.message import Request, Response


class EndTxnRequest(Request["EndTxnResponse"], api_key=26, versions=(0, 5), flexible_since=3):
    """Commit or abort a transaction."""

    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    committed: bool = boolean()


class EndTxnResponse(Response, request=EndTxnRequest):
    """The response to `EndTxnRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id: int = int64(since=5, default=-1, ignorable=True)
    producer_epoch: int = int16(since=5, default=-1, ignorable=True)
