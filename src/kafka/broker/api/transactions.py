"""AddPartitionsToTxn (key 24), AddOffsetsToTxn (key 25), EndTxn (key 26).

Versions served: 0 to 5, 0 to 4, 0 to 5.
Behaviour: a transaction ends everywhere before EndTxn is answered, so that the producer can begin the next one at once;
CONCURRENT_TRANSACTIONS is seen only where its markers cannot be written. Version 5 of EndTxn is that of transactions of
version 2: each end counts the producer's epoch up, which is answered, and asked again it answers the same (KIP-890).
Versions 4 and 5 of AddPartitionsToTxn are what brokers ask of each other, of several transactions at once.
"""

from collections.abc import Callable, Iterable

from kafka.broker.api.txn_codes import FENCED_BY_NAME_SINCE, code_for
from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.internal_topics import CONSUMER_OFFSETS, INTERNAL_TOPICS, offsets_partition
from kafka.broker.transactions.coordinator import Producer
from kafka.broker.transactions.metadata import TopicPartition
from kafka.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kafka.wire.api.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from kafka.wire.api.end_txn import EndTxnRequest, EndTxnResponse

_BATCHED_SINCE = 4
_VERSION_2_SINCE = 5
_NONE = -1

Codes = dict[TopicPartition, ErrorCode]


def add_partitions_to_txn(
    broker: Broker, request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    """Add partitions to a transaction; all of them or none."""
    if context.version < _BATCHED_SINCE:
        producer = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        topics = request.v3_and_below_topics
        codes = _added(broker, request.v3_and_below_transactional_id, producer, topics, context.version)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, codes))
    results = []
    for one in request.transactions:
        producer = Producer(one.producer_id, one.producer_epoch)
        change = _verified if one.verify_only else _added
        codes = change(broker, one.transactional_id, producer, one.topics, context.version)
        results.append(
            AddPartitionsToTxnResult(transactional_id=one.transactional_id, topic_results=_results(one.topics, codes))
        )
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def _results(topics: Iterable[AddPartitionsToTxnTopic], codes: Codes) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=number, partition_error_code=codes[topic.name, number]
                )
                for number in topic.partitions
            ],
        )
        for topic in topics
    ]


def _checked(
    broker: Broker,
    topics: Iterable[AddPartitionsToTxnTopic],
    version: int,
    change: Callable[[list[TopicPartition]], Codes],
) -> Codes:
    """The codes of what is asked, if all partitions are there."""
    asked = [(topic.name, number) for topic in topics for number in topic.partitions]
    refused = {one: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for one in asked if not _has(broker, *one)}
    if version < _BATCHED_SINCE:  # brokers may add what clients may not write to
        internal = [one for one in asked if one[0] in INTERNAL_TOPICS]
        refused |= dict.fromkeys(internal, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if refused:
        return dict.fromkeys(asked, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused
    try:
        return change(asked)
    except RequestFailed as error:
        return dict.fromkeys(asked, code_for(error, version >= FENCED_BY_NAME_SINCE["AddPartitionsToTxn"]))


def _has(broker: Broker, topic: str, number: int) -> bool:
    return topic in broker.topics and 0 <= number < broker.topics.get(topic).partitions


def _added(
    broker: Broker,
    transactional_id: str,
    producer: Producer,
    topics: Iterable[AddPartitionsToTxnTopic],
    version: int,
) -> Codes:
    of_transactions = 1 if version < _BATCHED_SINCE else broker.settings.transaction_version

    def add(asked: list[TopicPartition]) -> Codes:
        broker.transactions.add_partitions(transactional_id, producer, asked, of_transactions)
        return dict.fromkeys(asked, ErrorCode.NONE)

    return _checked(broker, topics, version, add)


def _verified(
    broker: Broker,
    transactional_id: str,
    producer: Producer,
    topics: Iterable[AddPartitionsToTxnTopic],
    version: int,
) -> Codes:
    def verify(asked: list[TopicPartition]) -> Codes:
        codes = {}
        for one in asked:
            try:
                broker.transactions.check_partition(transactional_id, producer, one)
                codes[one] = ErrorCode.NONE
            except RequestFailed as error:
                codes[one] = error.code
        return codes

    return _checked(broker, topics, version, verify)


def add_offsets_to_txn(
    broker: Broker, request: AddOffsetsToTxnRequest, context: RequestContext
) -> AddOffsetsToTxnResponse:
    """Add the offsets of a group to a transaction."""
    try:
        broker.transactions.add_partitions(
            request.transactional_id,
            Producer(request.producer_id, request.producer_epoch),
            [(CONSUMER_OFFSETS.name, offsets_partition(request.group_id))],
            1,
        )
    except RequestFailed as error:
        return AddOffsetsToTxnResponse(
            error_code=code_for(error, context.version >= FENCED_BY_NAME_SINCE["AddOffsetsToTxn"])
        )
    return AddOffsetsToTxnResponse()


def end_txn(broker: Broker, request: EndTxnRequest, context: RequestContext) -> EndTxnResponse:
    """Commit or abort a transaction."""
    try:
        producer = broker.transactions.end(
            request.transactional_id,
            Producer(request.producer_id, request.producer_epoch),
            request.committed,
            2 if context.version >= _VERSION_2_SINCE else 1,
        )
    except RequestFailed as error:
        code = code_for(error, context.version >= FENCED_BY_NAME_SINCE["EndTxn"])
        return EndTxnResponse(error_code=code, producer_id=_NONE, producer_epoch=_NONE)
    return EndTxnResponse(producer_id=producer.producer_id, producer_epoch=producer.epoch)
