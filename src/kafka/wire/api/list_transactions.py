"""The API ListTransactions (key 66, versions 0 to 2): list transactions."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class ListTransactionsRequest(Request["ListTransactionsResponse"], api_key=66, versions=(0, 2), flexible_since=0):
    """List transactions."""

    state_filters: list[str] = array(string)
    producer_id_filters: list[int] = array(int64)
    duration_filter: int = int64(since=1, default=-1)
    transactional_id_pattern: str | None = string(since=2, nullable=True, default=None)


class TransactionState(Struct):
    """An element of `ListTransactionsResponse.transaction_states`."""

    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


class ListTransactionsResponse(Response, request=ListTransactionsRequest):
    """The response to `ListTransactionsRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    unknown_state_filters: list[str] = array(string)
    transaction_states: list[TransactionState] = array(TransactionState)
