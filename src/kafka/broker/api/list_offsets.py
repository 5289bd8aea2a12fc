"""ListOffsets (key 2) and OffsetForLeaderEpoch (key 23).

Versions served: ListOffsets 0 to 11, OffsetForLeaderEpoch 0 to 4.
Behaviour: returns the earliest offset (-2), the latest offset (-1), the record with the largest timestamp (-3,
KIP-734), the earliest local offset (-4, which equals the earliest), or the first record at or after a timestamp.
Version 0 returns a list of at most one offset. With read_committed the log ends at its last stable offset.
Known gaps: there is no tiered storage, so -5 and -6 find nothing. The leader epoch is always 0.
"""

from collections import Counter

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.log_options import NEVER
from kafka.broker.log.partition import LEADER_EPOCH, PartitionLog
from kafka.wire.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka.wire.api.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

_LATEST, _EARLIEST, _LARGEST_TIMESTAMP, _EARLIEST_LOCAL = -1, -2, -3, -4
_LATEST_TIERED, _EARLIEST_PENDING = -5, -6
_SINCE = {
    _LATEST: 0,
    _EARLIEST: 0,
    _LARGEST_TIMESTAMP: 7,
    _EARLIEST_LOCAL: 8,
    _LATEST_TIERED: 9,
    _EARLIEST_PENDING: 11,
}
"""The first version that supports each special timestamp."""
_NOTHING = -1, -1
_ISOLATION_SINCE = 2
_READ_COMMITTED = 1


def list_offsets(broker: Broker, request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    """Return offsets by timestamp."""
    times = Counter((topic.name, one.partition_index) for topic in request.topics for one in topic.partitions)
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _listed(broker, request, topic.name, one, context.version, times[topic.name, one.partition_index])
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _listed(
    broker: Broker, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition, version: int, times: int
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    try:
        if times > 1:
            raise RequestFailed(
                ErrorCode.INVALID_REQUEST, f"partition {asked.partition_index} appears twice in the request"
            )
        if asked.timestamp < 0 and version < _SINCE.get(asked.timestamp, NEVER):
            raise RequestFailed(ErrorCode.UNSUPPORTED_VERSION)
        log = broker.topics.get(topic).log(asked.partition_index)
        _check_epoch(asked.current_leader_epoch)
        committed_only = version >= _ISOLATION_SINCE and request.isolation_level == _READ_COMMITTED
        end_offset = log.last_stable_offset if committed_only else log.end_offset
        timestamp, offset = _found(log, asked.timestamp, end_offset)
    except RequestFailed as error:
        answer.error_code = error.code
        return answer
    if version == 0:
        answer.old_style_offsets = [] if offset < 0 else [offset]
        return answer
    answer.timestamp, answer.offset = timestamp, offset
    if version >= 4 and offset >= 0:
        answer.leader_epoch = LEADER_EPOCH
    return answer


def _check_epoch(epoch: int) -> None:
    if epoch > LEADER_EPOCH:
        raise RequestFailed(ErrorCode.UNKNOWN_LEADER_EPOCH)


def _found(log: PartitionLog, timestamp: int, end_offset: int) -> tuple[int, int]:
    """Return the timestamp and offset for a timestamp, or -1 for both if none is found before `end_offset`."""
    if timestamp == _LATEST:
        return -1, end_offset
    if timestamp in (_EARLIEST, _EARLIEST_LOCAL):
        return -1, log.start_offset
    found = None
    if timestamp == _LARGEST_TIMESTAMP:
        found = log.offset_of_max_timestamp()
    elif timestamp >= 0:
        found = log.offset_of_time(timestamp)
    return _NOTHING if found is None or found[1] >= end_offset else found


def offset_for_leader_epoch(
    broker: Broker, request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    """Return the end offset of a leader epoch (KIP-320)."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=[_epoch_end(broker, topic.topic, one) for one in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _epoch_end(broker: Broker, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    answer = EpochEndOffset(partition=asked.partition)
    try:
        log = broker.topics.get(topic).log(asked.partition)
        _check_epoch(asked.current_leader_epoch)
    except RequestFailed as error:
        answer.error_code = error.code
        return answer
    if asked.leader_epoch == LEADER_EPOCH:
        answer.leader_epoch, answer.end_offset = LEADER_EPOCH, log.end_offset
    return answer
