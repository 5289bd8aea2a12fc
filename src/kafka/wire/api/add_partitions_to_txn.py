"""The API AddPartitionsToTxn (key 24, versions 0 to 5): add partitions to a transaction."""

from __future__ import annotations

from kafka.wire.fields import array, boolean, int16, int32, int64, string
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class AddPartitionsToTxnTopic(Struct):
    """The type of several fields of `AddPartitionsToTxnTransaction`."""

    name: str = string()
    partitions: list[int] = array(int32)


class AddPartitionsToTxnTransaction(Struct):
    """An element of `AddPartitionsToTxnRequest.transactions`."""

    transactional_id: str = string(since=4)
    producer_id: int = int64(since=4)
    producer_epoch: int = int16(since=4)
    verify_only: bool = boolean(since=4)
    topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, since=4)


class AddPartitionsToTxnRequest(Request["AddPartitionsToTxnResponse"], api_key=24, versions=(0, 5), flexible_since=3):
    """Add partitions to a transaction."""

    transactions: list[AddPartitionsToTxnTransaction] = array(AddPartitionsToTxnTransaction, since=4)
    v3_and_below_transactional_id: str = string(until=3)
    v3_and_below_producer_id: int = int64(until=3)
    v3_and_below_producer_epoch: int = int16(until=3)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, until=3)


class AddPartitionsToTxnPartitionResult(Struct):
    """An element of `AddPartitionsToTxnTopicResult.results_by_partition`."""

    partition_index: int = int32()
    partition_error_code: int = int16()


class AddPartitionsToTxnTopicResult(Struct):
    """The type of several fields of `AddPartitionsToTxnResult`."""

    name: str = string()
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = array(AddPartitionsToTxnPartitionResult)


class AddPartitionsToTxnResult(Struct):
    """An element of `AddPartitionsToTxnResponse.results_by_transaction`."""

    transactional_id: str = string(since=4)
    topic_results: list[AddPartitionsToTxnTopicResult] = array(AddPartitionsToTxnTopicResult, since=4)


class AddPartitionsToTxnResponse(Response, request=AddPartitionsToTxnRequest):
    """The response to `AddPartitionsToTxnRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16(since=4, ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = array(AddPartitionsToTxnResult, since=4)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = array(AddPartitionsToTxnTopicResult, until=3)
