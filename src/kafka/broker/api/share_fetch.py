"""ShareFetch (key 78) and ShareAcknowledge (79): acquire and acknowledge records in a share group (KIP-932).

Versions served: 1 to 2 for both; strict record limits (KIP-1206) and lock renewal (KIP-1222) from 2 on.

ShareFetch: each member has a share session, which ends when its connection closes. The broker waits up to `max_wait_ms`
for records. The response contains partitions with records, errors or acknowledgements; the first response in a session
contains all partitions. Records are sent in whole batches; `acquired_records` specifies which of them the member has
acquired. If the client has closed its connection, the broker applies its acknowledgements but acquires no more records
for it.

ShareAcknowledge: the acknowledgements for a partition are applied together or not at all. If the member does not hold
all of the records, every acknowledgement fails with INVALID_RECORD_STATE. Locks are renewed only if the request allows
it. The final epoch ends the session and releases the remaining records.

Known gaps: no reads from followers. Partitions are not locked against concurrent reads, as the broker serves one
request at a time.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from kafka.broker.api import LongPoll
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import PartitionLog
from kafka.broker.share.record_state import AckType
from kafka.broker.share.share_coordinator import FINAL_EPOCH, INITIAL_EPOCH, PartitionKey, ShareSession
from kafka.broker.share.share_partition import Acknowledged, AcquireRequest
from kafka.wire import Message
from kafka.wire.api.share_acknowledge import (
    PartitionData as AcknowledgedPartition,
)
from kafka.wire.api.share_acknowledge import (
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from kafka.wire.api.share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)

_STRICT: Final = 1


def share_fetch(
    broker: Broker, request: ShareFetchRequest, context: RequestContext
) -> "Message | asyncio.Future[Message]":
    """Apply acknowledgements, then return records at once, or as soon as they are available."""
    try:
        session = _session(broker, request, context)
    except RequestFailed as error:
        return ShareFetchResponse(error_code=error.code, error_message=error.message)
    fetching = ShareFetching(broker, request, session, context.connection)
    fetching.acknowledge()
    if request.share_session_epoch == FINAL_EPOCH:
        broker.shares.close_session(session)
        return fetching.response()
    if not context.sends_more:
        return fetching.response()  # The client could not acknowledge newly acquired records.
    fetching.read()
    if fetching.is_worth_an_answer or request.max_wait_ms <= 0 or not session.partitions:
        return fetching.response()
    return fetching.wait()


def _session(broker: Broker, request: ShareFetchRequest, context: RequestContext) -> ShareSession:
    """Update the request's session and return it; raises `RequestFailed`."""
    group_id, member_id, sessions = request.group_id, request.member_id, broker.shares.sessions
    if not group_id or not member_id:
        raise RequestFailed(ErrorCode.INVALID_REQUEST, "ShareFetch requires a group id and a member id")
    if request.is_renew_ack and any((request.max_wait_ms, request.min_bytes, request.max_bytes, request.max_records)):
        raise RequestFailed(ErrorCode.INVALID_REQUEST, "a ShareFetch that renews locks must not request records")
    acknowledges = any(one.acknowledgement_batches for topic in request.topics for one in topic.partitions)
    if request.share_session_epoch == FINAL_EPOCH:
        return sessions.get(group_id, member_id)
    if request.share_session_epoch == INITIAL_EPOCH:
        if acknowledges:
            raise RequestFailed(ErrorCode.INVALID_REQUEST, "a session must not begin with acknowledgements")
        old = sessions.close(group_id, member_id)
        if old is not None:
            broker.shares.close_session(old)
        session = sessions.open(group_id, member_id, context.connection)
    else:
        session = sessions.resume(group_id, member_id, request.share_session_epoch)
    for topic in request.topics:
        for one in topic.partitions:
            session.partitions.setdefault((topic.topic_id, one.partition_index))
    if request.share_session_epoch != INITIAL_EPOCH:
        # This comes last, as in Kafka: a request may contain final acknowledgements for a partition that it removes.
        for forgotten in request.forgotten_topics_data:
            for number in forgotten.partitions:
                session.partitions.pop((forgotten.topic_id, number), None)
    return session


class ShareFetching:
    """A ShareFetch request, which can wait for records."""

    def __init__(self, broker: Broker, request: ShareFetchRequest, session: ShareSession, connection: object) -> None:
        self._broker = broker
        self._request = request
        self._session = session
        self._connection = connection
        self._found: dict[PartitionKey, PartitionData] = {}
        self._full = request.share_session_epoch == INITIAL_EPOCH

    @property
    def is_worth_an_answer(self) -> bool:
        """Whether there are records or errors to return. Acknowledgement results alone do not end the wait."""
        return any(one.acquired_records or one.error_code or one.acknowledge_error_code for one in self._found.values())

    def _data(self, key: PartitionKey) -> PartitionData:
        return self._found.setdefault(key, PartitionData(partition_index=key[1], records=b""))

    def acknowledge(self) -> None:
        """Apply the request's acknowledgements."""
        for topic in self._request.topics:
            for one in topic.partitions:
                if one.acknowledgement_batches:
                    key = topic.topic_id, one.partition_index
                    batches = [
                        Acknowledged(batch.first_offset, batch.last_offset, batch.acknowledge_types)
                        for batch in one.acknowledgement_batches
                    ]
                    data = self._data(key)
                    data.acknowledge_error_code, data.acknowledge_error_message = acknowledged(
                        self._broker, self._session, key, batches, self._request.is_renew_ack
                    )

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, last_time: bool = False) -> None:
        """Acquire records within the request's limits if `min_bytes` are available or `last_time` is true."""
        if not last_time and self._request.min_bytes > 1 and not self._has_enough():
            return
        request = self._request
        max_bytes = min(request.max_bytes, self._broker.settings.max_fetch_bytes)
        left, size = request.max_records, 0
        for key in list(self._session.partitions):
            if left <= 0 or (size and size >= max_bytes):
                break
            try:
                partition = self._broker.shares.partition(self._session.group_id, *key)
                wanted = AcquireRequest(
                    self._session.member_id, left, max(1, request.batch_size), request.share_acquire_mode == _STRICT
                )
                acquired = partition.acquire(wanted, max_bytes - size, at_least_one=size == 0)
            except RequestFailed as error:
                data = self._data(key)
                data.error_code, data.error_message = error.code, error.message
                continue
            except OSError as error:
                data = self._data(key)
                data.error_code, data.error_message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
                continue
            if acquired.ranges:
                self._take(key, acquired.records, acquired.ranges)
                size += len(acquired.records)
                left -= sum(last - first + 1 for first, last, _ in acquired.ranges)

    def _take(self, key: PartitionKey, records: bytes, ranges: Iterable[tuple[int, int, int]]) -> None:
        data = self._data(key)
        data.records = records
        data.acquired_records = [
            AcquiredRecords(first_offset=first, last_offset=last, delivery_count=count) for first, last, count in ranges
        ]
        self._session.used[key] = None
        self._session.partitions.move_to_end(key)  # ensures that no partition starves

    def _has_enough(self) -> bool:
        """Return whether `min_bytes` are available. Errors are also returned without waiting."""
        missing = self._request.min_bytes
        for key in self._session.partitions:
            try:
                missing -= self._broker.shares.partition(self._session.group_id, *key).bytes_at_hand(missing)
            except RequestFailed:
                return True
            if missing <= 0:
                return True
        return False

    # -- the long poll ------------------------------------------------------------------------------------------------

    def wait(self) -> "asyncio.Future[Message]":
        """Return a future for the response; it completes when records are available, or on timeout."""
        loop, shares = asyncio.get_running_loop(), self._broker.shares
        answer = LongPoll(loop=loop)
        answer.finish = lambda: answer.set_result(self.response())
        logs = list(self._logs())

        def finish(last_time: bool = True) -> None:
            if answer.done():
                return
            try:
                self.read(last_time)
                if last_time or self.is_worth_an_answer:
                    answer.set_result(self.response())
            except Exception as error:  # handled like an exception in a request that does not wait
                answer.set_exception(error)

        def look() -> None:
            loop.call_soon(finish, False)  # Respond first to the request that made the records available.

        def appended(_: int) -> None:
            look()

        for log in logs:
            log.waiters[appended] = None
        shares.waiters[look] = None
        timer = self._broker.clock.call_later(self._request.max_wait_ms / 1000, finish)

        def cleared(_: "asyncio.Future[Message]") -> None:
            timer.cancel()
            shares.waiters.pop(look, None)
            for log in logs:
                log.waiters.pop(appended, None)

        answer.add_done_callback(cleared)
        return answer

    def _logs(self) -> Iterable[PartitionLog]:
        for topic_id, number in self._session.partitions:
            try:
                yield self._broker.topics.by_id(topic_id).log(number)
            except RequestFailed:
                continue  # The error was returned earlier, or the next read returns it.

    # -- the response -------------------------------------------------------------------------------------------------

    def response(self) -> ShareFetchResponse:
        """Return the response. The first response in a session contains every partition."""
        if self._full:
            for key in self._session.partitions:
                self._data(key)
        topics: dict[UUID, ShareFetchableTopicResponse] = {}
        for (topic_id, _), data in self._found.items():
            topics.setdefault(topic_id, ShareFetchableTopicResponse(topic_id=topic_id)).partitions.append(data)
        lock_ms = self._broker.shares.configs.number(self._session.group_id, "share.record.lock.duration.ms")
        return ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms, responses=list(topics.values()))


def share_acknowledge(
    broker: Broker, request: ShareAcknowledgeRequest, context: RequestContext
) -> ShareAcknowledgeResponse:
    """Apply acknowledgements, and end the session if requested."""
    try:
        session = _acknowledging_session(broker, request)
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
                AcknowledgedPartition(partition_index=one.partition_index, error_code=code, error_message=text)
            )
    if request.share_session_epoch == FINAL_EPOCH:
        broker.shares.close_session(session)
    lock_ms = broker.shares.configs.number(session.group_id, "share.record.lock.duration.ms")
    return ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock_ms, responses=list(topics.values()))


def _acknowledging_session(broker: Broker, request: ShareAcknowledgeRequest) -> ShareSession:
    group_id, member_id, epoch = request.group_id, request.member_id, request.share_session_epoch
    if not group_id or not member_id:
        raise RequestFailed(ErrorCode.INVALID_REQUEST, "ShareAcknowledge requires a group id and a member id")
    if epoch == INITIAL_EPOCH:
        raise RequestFailed(ErrorCode.INVALID_SHARE_SESSION_EPOCH, "a session must not begin with acknowledgements")
    if epoch == FINAL_EPOCH:
        return broker.shares.sessions.get(group_id, member_id)
    return broker.shares.sessions.resume(group_id, member_id, epoch)


def acknowledged(
    broker: Broker, session: ShareSession, key: PartitionKey, batches: Sequence[Acknowledged], renews: bool
) -> tuple[ErrorCode, str | None]:
    """Apply the acknowledgements for one partition; return the error code and message.

    Lock renewal is allowed only if `renews` is true.
    """
    if not renews and any(AckType.RENEW in batch.types for batch in batches):
        return ErrorCode.INVALID_REQUEST, "locks are renewed by a request that says so (is_renew_ack)"
    try:
        broker.shares.partition(session.group_id, *key).acknowledge(session.member_id, batches)
    except RequestFailed as error:
        return error.code, error.message
    except OSError as error:
        return ErrorCode.KAFKA_STORAGE_ERROR, str(error)
    return ErrorCode.NONE, None
