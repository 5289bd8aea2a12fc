"""InitProducerId (key 22), AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26) and TxnOffsetCommit (28).

Versions served: InitProducerId 0 to 5, AddPartitionsToTxn 0 to 5, AddOffsetsToTxn 0 to 4, EndTxn 0 to 5,
TxnOffsetCommit 0 to 5.

InitProducerId: an idempotent producer gets a new id with epoch 0, even if it sends its current id. A producer with a
transactional id keeps its id and gets the next epoch, which fences the previous producer. If the previous producer has
an open transaction, the broker aborts it and responds with CONCURRENT_TRANSACTIONS. From version 3 on a producer can
recover by sending its id and epoch (KIP-360). When all epochs are used, the producer gets a new id.

AddPartitionsToTxn: brokers use versions 4 and 5 among themselves, for several transactions per request.

EndTxn: the response is sent after all markers are written, so that the producer can begin the next transaction at once;
CONCURRENT_TRANSACTIONS occurs only if markers cannot be written. Version 5 is for transaction version 2: ending a
transaction increments the producer's epoch, and the response contains the new epoch. A repeated request gets the same
response (KIP-890).

TxnOffsetCommit: the offsets are written to disk before the response is sent, and take effect when the transaction is
committed. AddOffsetsToTxn must have added the group to the transaction; from version 5 on TxnOffsetCommit adds it, as
producers with transaction version 2 expect (KIP-890). From version 3 on the request identifies a group member
(KIP-447).

Known gaps: no two-phase commit (InitProducerId version 6, KIP-939).
"""

import logging
from collections.abc import Callable, Iterable

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import FENCED_BY_NAME_SINCE, ErrorCode, RequestFailed, code_for, refused_write
from kafka.broker.groups.group_offsets import CommittedOffset, PartitionKey
from kafka.broker.topic_store import CONSUMER_OFFSETS, INTERNAL_TOPICS, offsets_partition
from kafka.broker.transactions.transaction_coordinator import Producer
from kafka.broker.transactions.transaction_metadata import TopicPartition
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
from kafka.wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

log = logging.getLogger(__name__)


def init_producer_id(broker: Broker, request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    """Allocate a producer id, or the next epoch for a transactional producer."""
    try:
        producer_id, epoch = _given(broker, request)
    except RequestFailed as error:
        code = code_for(error, context.version >= FENCED_BY_NAME_SINCE["InitProducerId"])
        return InitProducerIdResponse(error_code=code, producer_id=_NONE, producer_epoch=_NONE)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=epoch)


def _given(broker: Broker, request: InitProducerIdRequest) -> tuple[int, int]:
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        raise RequestFailed(ErrorCode.INVALID_REQUEST, "a producer must have both an id and an epoch, or neither")
    if request.transactional_id is not None:
        from kafka.broker.transactions.transaction_coordinator import Producer

        expected = None
        if request.producer_id != _NONE:
            expected = Producer(request.producer_id, request.producer_epoch)
        return broker.transactions.init_producer_id(request.transactional_id, request.transaction_timeout_ms, expected)
    try:
        return broker.identity.next_producer_id(), 0
    except OSError as error:
        log.exception("no producer id could be reserved")
        raise RequestFailed(ErrorCode.UNKNOWN_SERVER_ERROR) from error


_BATCHED_SINCE = 4
_VERSION_2_SINCE = 5
_NONE = -1

Codes = dict[TopicPartition, ErrorCode]


def add_partitions_to_txn(
    broker: Broker, request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    """Add all of the given partitions to a transaction, or none of them."""
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
    """Call `change` if all partitions exist; return the error codes."""
    asked = [(topic.name, number) for topic in topics for number in topic.partitions]
    refused = {one: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for one in asked if not _has(broker, *one)}
    if version < _BATCHED_SINCE:  # Brokers may add partitions that clients may not write to.
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
    """Add a group's offsets to a transaction."""
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


_MEMBERS_SINCE = 3
_ABORTABLE_SINCE = 4


def txn_offset_commit(
    broker: Broker, request: TxnOffsetCommitRequest, context: RequestContext
) -> TxnOffsetCommitResponse:
    """Store a group's offsets as part of a transaction."""
    offsets: dict[PartitionKey, CommittedOffset] = {}
    codes: dict[PartitionKey, ErrorCode] = {}
    for topic in request.topics:
        for one in topic.partitions:
            key = topic.name, one.partition_index
            codes[key] = _checked_offset(broker, key, one)
            if codes[key] in (ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE):
                offsets[key] = CommittedOffset(
                    one.committed_offset, one.committed_leader_epoch, one.committed_metadata or ""
                )
    if offsets:
        try:
            _commit(broker, request, context.version, offsets, codes)
        except RequestFailed as error:
            codes |= dict.fromkeys(offsets, error.code)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=one.partition_index, error_code=codes[topic.name, one.partition_index]
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _checked_offset(broker: Broker, key: PartitionKey, one: TxnOffsetCommitRequestPartition) -> ErrorCode:
    if key[0] not in broker.topics or not 0 <= key[1] < broker.topics.get(key[0]).partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if len((one.committed_metadata or "").encode()) > broker.settings.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def _commit(
    broker: Broker,
    request: TxnOffsetCommitRequest,
    version: int,
    offsets: dict[PartitionKey, CommittedOffset],
    codes: dict[PartitionKey, ErrorCode],
) -> None:
    """Store the valid offsets; raises `RequestFailed` if they cannot be stored."""
    if not request.group_id:
        raise RequestFailed(ErrorCode.INVALID_GROUP_ID)
    _join_transaction(broker, request, version)
    named = version >= _MEMBERS_SINCE
    group = broker.groups.check_transactional_commit(
        request.group_id,
        request.member_id if named else "",
        request.group_instance_id if named else None,
        request.generation_id_or_member_epoch if named else -1,
    )
    valid = {key: offset for key, offset in offsets.items() if codes[key] is ErrorCode.NONE}
    if not valid:
        return
    try:
        broker.groups.commit_pending(group, request.producer_id, valid)
    except OSError as error:
        log.exception("the offsets of group %s could not be stored", request.group_id)
        raise RequestFailed(ErrorCode.NOT_COORDINATOR) from error


def _join_transaction(broker: Broker, request: TxnOffsetCommitRequest, version: int) -> None:
    """Check that the transaction includes the group's offsets, or add the group to it; raises `RequestFailed`."""
    producer = Producer(request.producer_id, request.producer_epoch)
    partition = CONSUMER_OFFSETS.name, offsets_partition(request.group_id)
    try:
        if version > _ABORTABLE_SINCE:
            of_transactions = broker.settings.transaction_version
            broker.transactions.add_partitions(request.transactional_id, producer, [partition], of_transactions)
        else:
            broker.transactions.check_partition(request.transactional_id, producer, partition)
    except RequestFailed as error:
        raise refused_write(error, version, _ABORTABLE_SINCE, ErrorCode.COORDINATOR_NOT_AVAILABLE) from error
