"""OffsetCommit (key 8).

Versions served: 0 to 10; topics by id from 10 on.
Behaviour: what is committed is written to disk before it is answered. A member has to be of the group's current
generation; without a member the group has to be empty.
Known gaps: offsets never expire, and the retention time of versions 2 to 4 is ignored.
"""

import logging

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.groups.offsets import CommittedOffset
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

log = logging.getLogger(__name__)

_TOPIC_IDS_SINCE = 10


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
            # As Kafka says it, so that clients look for the coordinator and try again.
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
    """Collect a topic's offsets in `offsets`, and make the answer."""
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
