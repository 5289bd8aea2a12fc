"""The API InitProducerId (key 22, versions 0 to 6): get a producer id and epoch (KIP-98)."""

from __future__ import annotations

from kafka.wire.fields import boolean, int16, int32, int64, string
from kafka.wire.message import Request, Response


class InitProducerIdRequest(Request["InitProducerIdResponse"], api_key=22, versions=(0, 6), flexible_since=2):
    """Get a producer id and epoch (KIP-98)."""

    transactional_id: str | None = string(nullable=True)
    transaction_timeout_ms: int = int32()
    producer_id: int = int64(since=3, default=-1)
    producer_epoch: int = int16(since=3, default=-1)
    enable2_pc: bool = boolean(since=6)
    keep_prepared_txn: bool = boolean(since=6)


class InitProducerIdResponse(Response, request=InitProducerIdRequest):
    """The response to `InitProducerIdRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16()
    ongoing_txn_producer_id: int = int64(since=6, default=-1)
    ongoing_txn_producer_epoch: int = int16(since=6, default=-1)
