"""OffsetFetch (key 9).

Versions served: 0 to 10; several groups at once from 8 on (KIP-709), topics by id from 10 on.
Behaviour: -1 where nothing was committed, also for a group that does not exist; all of a group's offsets where no
topics are named.
Known gaps: as there are no transactions, `require_stable` changes nothing.
"""

from itertools import groupby

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.groups.group import CommittedOffset
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

_GROUPS_SINCE = 8
_TOPIC_IDS_SINCE = 10
_NOTHING = CommittedOffset(-1, -1, "")

Committed = dict[tuple[str, int], CommittedOffset]


def offset_fetch(broker: Broker, request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    """Tell what groups have committed."""
    if context.version >= _GROUPS_SINCE:
        return OffsetFetchResponse(groups=[_of_group(broker, one, context.version) for one in request.groups])
    offsets = _offsets(broker, request.group_id)
    if request.topics is None:
        asked = _all_topics(offsets)
    else:
        asked = [(topic.name, topic.partition_indexes) for topic in request.topics]
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(name=name, partitions=[_single(offsets, name, number) for number in numbers])
            for name, numbers in asked
        ]
    )


def _offsets(broker: Broker, group_id: str) -> Committed:
    group = broker.groups.groups.get(group_id)
    return {} if group is None else group.offsets


def _all_topics(offsets: Committed) -> list[tuple[str, list[int]]]:
    return [(name, [one[1] for one in keys]) for name, keys in groupby(sorted(offsets), lambda key: key[0])]


def _single(offsets: Committed, topic: str, partition: int) -> OffsetFetchResponsePartition:
    found = offsets.get((topic, partition), _NOTHING)
    return OffsetFetchResponsePartition(
        partition_index=partition,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
    )


def _of_group(broker: Broker, asked: OffsetFetchRequestGroup, version: int) -> OffsetFetchResponseGroup:
    offsets = _offsets(broker, asked.group_id)
    if asked.topics is not None:
        topics = [_of_topic(broker, topic, offsets, version) for topic in asked.topics]
    else:
        topics = []
        for name, numbers in _all_topics(offsets):
            if name in broker.topics:
                everything = OffsetFetchRequestTopics(
                    name=name, topic_id=broker.topics.get(name).topic_id, partition_indexes=numbers
                )
                topics.append(_of_topic(broker, everything, offsets, version))
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def _of_topic(
    broker: Broker, asked: OffsetFetchRequestTopics, offsets: Committed, version: int
) -> OffsetFetchResponseTopics:
    name, error = asked.name, ErrorCode.NONE
    if version >= _TOPIC_IDS_SINCE:
        try:
            name = broker.topics.by_id(asked.topic_id).name
        except RequestFailed as failed:
            error = failed.code
    answers = []
    for number in asked.partition_indexes:
        found = offsets.get((name, number), _NOTHING) if error is ErrorCode.NONE else _NOTHING
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
