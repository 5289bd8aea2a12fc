"""The API DescribeTransactions (key 65, version 0): describe transactions."""

from __future__ import annotations

from kafka.wire.fields import array, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class DescribeTransactionsRequest(
    Request["DescribeTransactionsResponse"], api_key=65, versions=(0, 0), flexible_since=0
):
    """Describe transactions."""

    transactional_ids: list[str] = array(string)


class TopicData(Struct):
    """An element of `TransactionState.topics`."""

    topic: str = string()
    partitions: list[int] = array(int32)


class TransactionState(Struct):
    """An element of `DescribeTransactionsResponse.transaction_states`."""

    error_code: int = int16()
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = int32()
    transaction_start_time_ms: int = int64()
    producer_id: int = int64()
    producer_epoch: int = int16()
    topics: list[TopicData] = array(TopicData)


class DescribeTransactionsResponse(Response, request=DescribeTransactionsRequest):
    """The response to `DescribeTransactionsRequest`."""

    throttle_time_ms: int = int32()
    transaction_states: list[TransactionState] = array(TransactionState)
