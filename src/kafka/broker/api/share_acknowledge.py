"""ShareAcknowledge (key 79): acknowledge records of a share group (KIP-932).

Versions served: 1 to 2; renewed locks (KIP-1222) from 2 on.
Behaviour: what is said of a partition holds as a whole or not at all: a record that the member does not have, or has no
longer, fails all of it with INVALID_RECORD_STATE. Locks are renewed by a request that says so. The final epoch ends the
session, and gives back what is left.
Known gaps: none.
"""

from collections.abc import Sequence
from uuid import UUID

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.context import Broker, RequestContext
from kafka.broker.share.partition import Acknowledged
from kafka.broker.share.sessions import FINAL_EPOCH, INITIAL_EPOCH, PartitionKey, ShareSession
from kafka.broker.share.state import AckType
from kafka.wire.api.share_acknowledge import (
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)


def share_acknowledge(
    broker: Broker, request: ShareAcknowledgeRequest, context: RequestContext
) -> ShareAcknowledgeResponse:
    """Take acknowledgements."""
    try:
        session = _session(broker, request)
    except RequestFailed as error:
        return ShareAcknowledgeResponse(error_code=error.code, error_message=error.message)
    topics: dict[UUID, ShareAcknowledgeTopicResponse] = {}
    for topic in request.topics:
        answer = topics.setdefault(topic.topic_id, ShareAcknowledgeTopicResponse(topic_id=topic.topic_id))
        for one in topic.partitions:
            batches = [
                Acknowledged(batch.first_offset, batch.last_offset, batch.acknowledge_types)
                for batch in one.acknowledgement_batches
            ]
            key = topic.topic_id, one.partition_index
            code, text = acknowledged(broker, session, key, batches, request.is_renew_ack)
            answer.partitions.append(
                PartitionData(partition_index=one.partition_index, error_code=code, error_message=text)
            )
    if request.share_session_epoch == FINAL_EPOCH:
        broker.shares.close_session(session)
    lock_ms = broker.shares.configs.number(session.group_id, "share.record.lock.duration.ms")
    return ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock_ms, responses=list(topics.values()))


def _session(broker: Broker, request: ShareAcknowledgeRequest) -> ShareSession:
    group_id, member_id, epoch = request.group_id, request.member_id, request.share_session_epoch
    if not group_id or not member_id:
        raise RequestFailed(ErrorCode.INVALID_REQUEST, "an acknowledgement names its group and its member")
    if epoch == INITIAL_EPOCH:
        raise RequestFailed(ErrorCode.INVALID_SHARE_SESSION_EPOCH, "a session does not begin with acknowledgements")
    if epoch == FINAL_EPOCH:
        return broker.shares.sessions.get(group_id, member_id)
    return broker.shares.sessions.resume(group_id, member_id, epoch)


def acknowledged(
    broker: Broker, session: ShareSession, key: PartitionKey, batches: Sequence[Acknowledged], renews: bool
) -> tuple[ErrorCode, str | None]:
    """Take what is said of one partition; returns error code and text. Locks are renewed only where it `renews`."""
    if not renews and any(AckType.RENEW in batch.types for batch in batches):
        return ErrorCode.INVALID_REQUEST, "locks are renewed by a request that says so (is_renew_ack)"
    try:
        broker.shares.partition(session.group_id, *key).acknowledge(session.member_id, batches)
    except RequestFailed as error:
        return error.code, error.message
    except OSError as error:
        return ErrorCode.KAFKA_STORAGE_ERROR, str(error)
    return ErrorCode.NONE, None
