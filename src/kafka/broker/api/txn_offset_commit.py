"""TxnOffsetCommit (key 28).

Versions served: 0 to 5.
Behaviour: the offsets are written to disk before it is answered, and count once the transaction is committed. The
transaction has to have the group's offsets (AddOffsetsToTxn) before; from version 5 on committing adds them, which is
how producers of transactions of version 2 do it (KIP-890). From version 3 on a member of the group is named (KIP-447).
"""

import logging

from kafka.broker.api.txn_codes import refused_write
from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.groups.offsets import CommittedOffset, PartitionKey
from kafka.broker.internal_topics import CONSUMER_OFFSETS, offsets_partition
from kafka.broker.transactions.coordinator import Producer
from kafka.wire.api.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

log = logging.getLogger(__name__)

_MEMBERS_SINCE = 3
_ABORTABLE_SINCE = 4


def txn_offset_commit(
    broker: Broker, request: TxnOffsetCommitRequest, context: RequestContext
) -> TxnOffsetCommitResponse:
    """Store a group's offsets within a transaction."""
    offsets: dict[PartitionKey, CommittedOffset] = {}
    codes: dict[PartitionKey, ErrorCode] = {}
    for topic in request.topics:
        for one in topic.partitions:
            key = topic.name, one.partition_index
            codes[key] = _checked(broker, key, one)
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


def _checked(broker: Broker, key: PartitionKey, one: TxnOffsetCommitRequestPartition) -> ErrorCode:
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
    """Store the offsets that are valid; raises `RequestFailed` where none can be."""
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
    """See to it that the transaction has the group's offsets; raises `RequestFailed`."""
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
