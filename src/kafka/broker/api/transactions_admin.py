"""WriteTxnMarkers (key 27), DescribeProducers (61), DescribeTransactions (65) and ListTransactions (66).

Versions served: WriteTxnMarkers 0 to 2, DescribeProducers 0, DescribeTransactions 0, ListTransactions 0 to 2.
Behaviour: as specified in KIP-664. WriteTxnMarkers, which brokers send each other, ends a transaction in individual
partitions regardless of the coordinator's state; administrators use it for hanging transactions. In a partition of
__consumer_offsets it also commits or discards the pending offsets of the groups in that partition.
"""

import re
from typing import Final

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.batch_head import Marker
from kafka.broker.topic_store import CONSUMER_OFFSETS, check_name
from kafka.broker.transactions.transaction_metadata import OTHER_NAMES, TransactionMetadata, TransactionState
from kafka.wire.api.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from kafka.wire.api.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
)
from kafka.wire.api.describe_transactions import TransactionState as DescribedState
from kafka.wire.api.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from kafka.wire.api.list_transactions import TransactionState as ListedState
from kafka.wire.api.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_STATES: Final = {one.value for one in TransactionState} | OTHER_NAMES
_DURATION_SINCE, _PATTERN_SINCE = 1, 2


# -- transactions -----------------------------------------------------------------------------------------------------


def list_transactions(
    broker: Broker, request: ListTransactionsRequest, context: RequestContext
) -> ListTransactionsResponse:
    """List the transactional ids and their states."""
    pattern = request.transactional_id_pattern if context.version >= _PATTERN_SINCE else None
    try:
        matches = re.compile(pattern or "").fullmatch
    except re.error:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    longer_than = request.duration_filter if context.version >= _DURATION_SINCE else -1
    now_ms = broker.now_ms()

    def wanted(one: TransactionMetadata) -> bool:
        return (
            (not request.producer_id_filters or one.producer_id in request.producer_id_filters)
            and (not request.state_filters or one.state.value in request.state_filters)
            and (longer_than < 0 or now_ms - one.started_ms > longer_than)
            and (not pattern or matches(one.transactional_id) is not None)
        )

    return ListTransactionsResponse(
        unknown_state_filters=[one for one in request.state_filters if one not in _STATES],
        transaction_states=[
            ListedState(
                transactional_id=one.transactional_id,
                producer_id=one.producer_id,
                transaction_state=one.state.value,
            )
            for one in broker.transactions.known.values()
            if wanted(one)
        ],
    )


def describe_transactions(
    broker: Broker, request: DescribeTransactionsRequest, context: RequestContext
) -> DescribeTransactionsResponse:
    """Describe transactional ids."""
    return DescribeTransactionsResponse(
        transaction_states=[_described(broker, one) for one in request.transactional_ids]
    )


def _described(broker: Broker, transactional_id: str) -> DescribedState:
    known = broker.transactions.known.get(transactional_id)
    if known is None:
        missing = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST
        return DescribedState(error_code=missing, transactional_id=transactional_id)
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(known.partitions):
        topics.setdefault(topic, []).append(number)
    return DescribedState(
        transactional_id=transactional_id,
        transaction_state=known.state.value,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.started_ms,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        topics=[TopicData(topic=topic, partitions=numbers) for topic, numbers in topics.items()],
    )


# -- producers --------------------------------------------------------------------------------------------------------


def describe_producers(
    broker: Broker, request: DescribeProducersRequest, context: RequestContext
) -> DescribeProducersResponse:
    """List the producers that have written to partitions."""
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name, partitions=[_producers(broker, topic.name, one) for one in topic.partition_indexes]
            )
            for topic in request.topics
        ]
    )


def _producers(broker: Broker, topic: str, number: int) -> PartitionResponse:
    answer = PartitionResponse(partition_index=number)
    try:
        check_name(topic)
        log = broker.topics.get(topic).log(number)
    except RequestFailed as error:
        answer.error_code, answer.error_message = error.code, str(error)
        return answer
    answer.active_producers = [
        ProducerState(
            producer_id=producer_id,
            producer_epoch=state.epoch,
            last_sequence=state.last_sequence,
            last_timestamp=state.last_timestamp,
            coordinator_epoch=state.coordinator_epoch,
            current_txn_start_offset=-1 if state.transaction_start is None else state.transaction_start,
        )
        for producer_id, state in log.producers
    ]
    return answer


def write_txn_markers(
    broker: Broker, request: WriteTxnMarkersRequest, context: RequestContext
) -> WriteTxnMarkersResponse:
    """End transactions in individual partitions."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=number, error_code=_marked(broker, marker, topic.name, number)
                            )
                            for number in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


def _marked(broker: Broker, asked: WritableTxnMarker, topic: str, number: int) -> ErrorCode:
    marker = Marker(asked.transaction_result, asked.coordinator_epoch)
    try:
        log = broker.topics.get(topic).log(number)
        if topic == CONSUMER_OFFSETS.name:
            broker.groups.end_pending(asked.producer_id, marker.committed, [number])
        else:
            log.append_marker(asked.producer_id, asked.producer_epoch, marker, broker.now_ms())
    except RequestFailed as error:
        return error.code
    except OSError:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE
