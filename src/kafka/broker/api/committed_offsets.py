"""OffsetCommit (key 8) and OffsetFetch (9).

Versions served: 0 to 10 for both, with topic ids from 10 on. OffsetFetch accepts several groups from 8 on (KIP-709).

OffsetCommit: the offsets are written to disk before the response is sent. A member must belong to the group's current
generation. A commit without a member id is accepted only if the group is empty.

OffsetFetch: the offset is -1 if no offset has been committed, even if the group is unknown. Without topics in the
request, the response contains all of the group's offsets. From version 9 on, members of groups of the type "consumer"
must send their current epoch. From version 7 on a client may request stable offsets, which cannot be changed by an open
transaction (`require_stable`, KIP-447); if a transaction with such offsets is open, the response is
UNSTABLE_OFFSET_COMMIT.

Known gaps: offsets never expire, and the retention time in OffsetCommit versions 2 to 4 is ignored.
"""

import logging
from itertools import groupby

from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.group_offsets import CommittedOffset, GroupOffsets, PartitionKey
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka.wire.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

log = logging.getLogger(__name__)


def offset_commit(broker: Broker, request: OffsetCommitRequest, context: RequestContext) -> OffsetCommitResponse:
    """Store a group's offsets."""
    offsets: dict[tuple[str, int], CommittedOffset] = {}
    refused: RequestFailed | None = None
    try:
        group = broker.groups.check_commit(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch if context.version >= 1 else -1,
            context.version,
        )
    except RequestFailed as error:
        refused = error
    topics = [_committed(broker, topic, context.version, refused, offsets) for topic in request.topics]
    if offsets:
        try:
            broker.groups.commit(group, offsets)
        except OSError:
            log.exception("the offsets of group %s could not be stored", request.group_id)
            # Kafka returns this code as well: clients look up the coordinator and retry.
            failed = RequestFailed(ErrorCode.NOT_COORDINATOR)
            topics = [_committed(broker, topic, context.version, failed, {}) for topic in request.topics]
        else:
            if broker.commit_accepted is not None:
                broker.commit_accepted(request.group_id, context.client_id, offsets)
    return OffsetCommitResponse(topics=topics)


def _committed(
    broker: Broker,
    topic: OffsetCommitRequestTopic,
    version: int,
    refused: RequestFailed | None,
    offsets: dict[tuple[str, int], CommittedOffset],
) -> OffsetCommitResponseTopic:
    """Add a topic's valid offsets to `offsets`, and return the response for the topic."""
    name, unknown = topic.name, refused
    if unknown is None:
        try:
            known = broker.topics.by_id(topic.topic_id) if version >= _TOPIC_IDS_SINCE else broker.topics.get(name)
            name = known.name
        except RequestFailed as error:
            unknown = error
    answers = []
    for one in topic.partitions:
        code = unknown.code if unknown is not None else _checked(broker, name, one)
        if code is ErrorCode.NONE:
            offsets[name, one.partition_index] = CommittedOffset(
                one.committed_offset, one.committed_leader_epoch, one.committed_metadata or ""
            )
        answers.append(OffsetCommitResponsePartition(partition_index=one.partition_index, error_code=code))
    return OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=answers)


def _checked(broker: Broker, topic: str, one: OffsetCommitRequestPartition) -> ErrorCode:
    if not 0 <= one.partition_index < broker.topics.get(topic).partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if len((one.committed_metadata or "").encode()) > broker.settings.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


_STABLE_SINCE = 7
_GROUPS_SINCE = 8
_MEMBERS_SINCE = 9
_TOPIC_IDS_SINCE = 10
_NOTHING = CommittedOffset(-1, -1, "")

_NO_OFFSETS = GroupOffsets()


def offset_fetch(broker: Broker, request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    """Return the committed offsets for groups."""
    stable = context.version >= _STABLE_SINCE and request.require_stable
    if context.version >= _GROUPS_SINCE:
        return OffsetFetchResponse(groups=[_of_group(broker, one, context.version, stable) for one in request.groups])
    offsets = _offsets(broker, request.group_id)
    if request.topics is None:
        asked = _all_topics(offsets)
    else:
        asked = [(topic.name, topic.partition_indexes) for topic in request.topics]
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=name, partitions=[_single(offsets, (name, number), stable) for number in numbers]
            )
            for name, numbers in asked
        ]
    )


def _offsets(broker: Broker, group_id: str) -> GroupOffsets:
    group = broker.groups.groups.get(group_id)
    return _NO_OFFSETS if group is None else group.stored


def _all_topics(offsets: GroupOffsets) -> list[tuple[str, list[int]]]:
    return [(name, [one[1] for one in keys]) for name, keys in groupby(sorted(offsets.committed), lambda key: key[0])]


def _found(offsets: GroupOffsets, partition: PartitionKey, stable: bool) -> tuple[CommittedOffset, ErrorCode]:
    if stable and offsets.is_pending(partition):
        return _NOTHING, ErrorCode.UNSTABLE_OFFSET_COMMIT
    return offsets.committed.get(partition, _NOTHING), ErrorCode.NONE


def _single(offsets: GroupOffsets, partition: PartitionKey, stable: bool) -> OffsetFetchResponsePartition:
    found, error = _found(offsets, partition, stable)
    return OffsetFetchResponsePartition(
        partition_index=partition[1],
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=error,
    )


def _of_group(broker: Broker, asked: OffsetFetchRequestGroup, version: int, stable: bool) -> OffsetFetchResponseGroup:
    if version >= _MEMBERS_SINCE:
        try:
            broker.groups.consumers.check_fetch(asked.group_id, asked.member_id, asked.member_epoch)
        except RequestFailed as failed:
            return OffsetFetchResponseGroup(group_id=asked.group_id, error_code=failed.code)
    offsets = _offsets(broker, asked.group_id)
    if asked.topics is not None:
        topics = [_of_topic(broker, topic, offsets, version, stable) for topic in asked.topics]
    else:
        topics = []
        for name, numbers in _all_topics(offsets):
            if name in broker.topics:
                everything = OffsetFetchRequestTopics(
                    name=name, topic_id=broker.topics.get(name).topic_id, partition_indexes=numbers
                )
                topics.append(_of_topic(broker, everything, offsets, version, stable))
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def _of_topic(
    broker: Broker, asked: OffsetFetchRequestTopics, offsets: GroupOffsets, version: int, stable: bool
) -> OffsetFetchResponseTopics:
    name, unknown = asked.name, ErrorCode.NONE
    if version >= _TOPIC_IDS_SINCE:
        try:
            name = broker.topics.by_id(asked.topic_id).name
        except RequestFailed as failed:
            unknown = failed.code
    answers = []
    for number in asked.partition_indexes:
        found, error = (_NOTHING, unknown) if unknown else _found(offsets, (name, number), stable)
        answers.append(
            OffsetFetchResponsePartitions(
                partition_index=number,
                committed_offset=found.offset,
                committed_leader_epoch=found.leader_epoch,
                metadata=found.metadata,
                error_code=error,
            )
        )
    return OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=answers)
