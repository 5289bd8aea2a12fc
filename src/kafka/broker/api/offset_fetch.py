"""OffsetFetch (key 9).

Versions served: 0 to 10; several groups at once from 8 on (KIP-709), topics by id from 10 on.
Behaviour: -1 where nothing was committed, also for a group that does not exist; all of a group's offsets where no
topics are named.
From version 9 on a member of a group of the type "consumer" has to be of its present epoch.
From version 7 on a client may ask for offsets that no open transaction can change any more (`require_stable`, KIP-447):
where there is one, the answer is UNSTABLE_OFFSET_COMMIT.
"""

from itertools import groupby

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.groups.offsets import CommittedOffset, GroupOffsets, PartitionKey
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

_STABLE_SINCE = 7
_GROUPS_SINCE = 8
_MEMBERS_SINCE = 9
_TOPIC_IDS_SINCE = 10
_NOTHING = CommittedOffset(-1, -1, "")

_NO_OFFSETS = GroupOffsets()


def offset_fetch(broker: Broker, request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    """Tell what groups have committed."""
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
