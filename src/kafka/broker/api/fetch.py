"""Fetch (key 1).

Versions served: 0 to 18, with fetch sessions from 7 on (KIP-227) and topic ids from 13 on.
Behaviour: returns whole batches as they were produced, at most `max_bytes` in total and `partition_max_bytes` per
partition. If the first batch is larger than that, it is returned anyway (KIP-74). If fewer than `min_bytes` are
available, the broker waits up to `max_wait_ms` for more. In a session, the response contains only partitions with
changes. Partitions that had records move to the end of the queue, so that no partition starves. Clients that use
versions 0 to 3 get records in magic 0 or 1. These formats do not support zstd, so the response for zstd batches is
UNSUPPORTED_COMPRESSION_TYPE. Clients that use versions before 10 get the same error for topics with zstd as their
`compression.type`. With read_committed the response ends at the last stable offset and contains the aborted
transactions in its range. The broker then waits for transaction markers, as records of open transactions do not count.
Known gaps: no followers, no preferred replica, no diverging epochs; versions 0 to 2 also get a whole first batch
instead of a part of it.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from typing import Final

from kafka.broker.api import LongPoll
from kafka.broker.broker import Broker, RequestContext
from kafka.broker.error_codes import ErrorCode, RequestFailed, code_of
from kafka.broker.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH, FetchedPartition, FetchSession, PartitionKey
from kafka.broker.format_conversion import to_old_magic
from kafka.broker.log.partition import LEADER_EPOCH, WAKE, PartitionLog
from kafka.errors import KafkaError
from kafka.record.codecs import CODECS
from kafka.wire import Message
from kafka.wire.api.fetch import AbortedTransaction, FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData

log = logging.getLogger(__name__)

_MAGIC_1_SINCE: Final = 2
_MAGIC_2_SINCE: Final = 4
_SESSIONS_SINCE: Final = 7
_TOPIC_IDS_SINCE: Final = 13
_READ_COMMITTED: Final = 1
_UNKNOWN_TOPIC: Final = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)

Wanted = tuple[PartitionKey, FetchedPartition]
Found = tuple[Wanted, PartitionData]


def fetch(broker: Broker, request: FetchRequest, context: RequestContext) -> "Message | asyncio.Future[Message]":
    """Return records at once, or when enough are available."""
    try:
        session = _session(broker, request, context.version)
    except RequestFailed as error:
        return FetchResponse(error_code=error.code)
    fetching = Fetching(broker, request, context.version, session)
    found, size = fetching.read()
    waits = context.sends_more and request.max_wait_ms > 0 and size < fetching.min_bytes
    if not waits or not found or any(one.error_code for _, one in found):
        return fetching.response(found)
    return fetching.wait(size)


def _session(broker: Broker, request: FetchRequest, version: int) -> FetchSession | None:
    """Update the request's session and return it; return None for a full fetch request without a session."""
    if version < _SESSIONS_SINCE or request.session_epoch in (FINAL_EPOCH, INITIAL_EPOCH):
        broker.sessions.close(request.session_id)
        opens = version >= _SESSIONS_SINCE and request.session_epoch == INITIAL_EPOCH
        session = broker.sessions.open() if opens else None
    else:
        session = broker.sessions.resume(request.session_id, request.session_epoch)
    if session is not None:
        for key, wanted in _wanted(request, version):
            known = session.partitions.get(key)
            if known is None:
                session.partitions[key] = wanted
            else:
                known.fetch_offset, known.max_bytes = wanted.fetch_offset, wanted.max_bytes
                known.current_leader_epoch = wanted.current_leader_epoch
        if request.session_epoch != INITIAL_EPOCH:
            # Last, as in Kafka: a partition in both lists is removed from the session.
            for forgotten in request.forgotten_topics_data:
                topic = forgotten.topic_id if version >= _TOPIC_IDS_SINCE else forgotten.topic
                for partition in forgotten.partitions:
                    session.partitions.pop((topic, partition), None)
    return session


def _wanted(request: FetchRequest, version: int) -> Iterator[Wanted]:
    for topic in request.topics:
        name = topic.topic_id if version >= _TOPIC_IDS_SINCE else topic.topic
        for one in topic.partitions:
            yield (
                (name, one.partition),
                FetchedPartition(one.fetch_offset, one.partition_max_bytes, one.current_leader_epoch),
            )


class Fetching:
    """A fetch request, which can wait for more records."""

    def __init__(self, broker: Broker, request: FetchRequest, version: int, session: FetchSession | None) -> None:
        self._broker = broker
        self._request = request
        self._version = version
        self._session = session
        self._wanted = list(_wanted(request, version) if session is None else session.partitions.items())
        self._max_bytes = broker.settings.max_fetch_bytes
        if version >= 3:
            self._max_bytes = min(request.max_bytes, self._max_bytes)
        self.min_bytes = min(request.min_bytes, self._max_bytes)
        self._committed_only = version >= _MAGIC_2_SINCE and request.isolation_level == _READ_COMMITTED
        self._missing = 0
        self._logs: list[PartitionLog] = []
        self._stable: list[int] = []
        """The last stable offsets of the partitions when they were last read."""

    def read(self) -> tuple[list[Found], int]:
        """Read each partition; return the results and the total size of the records."""
        found: list[Found] = []
        size = 0
        for wanted in self._wanted:
            data = self._read_one(wanted, self._max_bytes - size, at_least_one=size == 0)
            size += len(data.records or b"")
            found.append((wanted, data))
        return found, size

    def _log(self, key: PartitionKey) -> PartitionLog:
        name, number = key
        topics = self._broker.topics
        topic = topics.get(name) if isinstance(name, str) else topics.by_id(name)
        codec = CODECS.get(topic.settings.codec or 0)
        if codec is not None and self._version < codec.oldest_fetch:
            raise RequestFailed(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        return topic.log(number)

    def _read_one(self, wanted: Wanted, left: int, at_least_one: bool) -> PartitionData:
        key, want = wanted
        try:
            partition = self._log(key)
            if want.current_leader_epoch > LEADER_EPOCH:
                raise RequestFailed(ErrorCode.UNKNOWN_LEADER_EPOCH)
            aborted: list[AbortedTransaction] | None = None
            max_bytes = min(want.max_bytes, left)
            if self._committed_only:
                records, within = partition.read_committed(want.fetch_offset, max_bytes, at_least_one)
                aborted = [
                    AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset) for one in within
                ]
            else:
                records = partition.read(want.fetch_offset, max_bytes, at_least_one)
            if self._version < _MAGIC_2_SINCE and records:
                records = to_old_magic(records, 1 if self._version >= _MAGIC_1_SINCE else 0)
        except (RequestFailed, KafkaError, OSError) as error:
            code = code_of(error)
            if isinstance(error, OSError):
                log.error("partition %d of %s cannot be read: %s", key[1], key[0], error)
            # Kafka returns an empty list for an unknown topic, and null for read errors.
            none: list[AbortedTransaction] | None = [] if code in _UNKNOWN_TOPIC else None
            return PartitionData(
                partition_index=key[1], error_code=code, high_watermark=-1, aborted_transactions=none, records=b""
            )
        return PartitionData(
            partition_index=key[1],
            high_watermark=partition.end_offset,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=partition.start_offset,
            aborted_transactions=aborted,
            records=records,
        )

    # -- the long poll ------------------------------------------------------------------------------------------------

    def wait(self, size: int) -> "asyncio.Future[Message]":
        """Return a future for the response; it completes when `min_bytes` are available, or on timeout."""
        loop = asyncio.get_running_loop()
        answer = LongPoll(loop=loop)
        self._missing = self.min_bytes - size
        # A response with errors is sent without waiting, so every partition here has a log.
        self._logs = [self._log(key) for key, _ in self._wanted]

        def finish(min_bytes: int = 0) -> None:
            if answer.done():
                return
            try:
                found, size = self.read()
                if size >= min_bytes:
                    answer.set_result(self.response(found))
            except Exception as error:  # handled like an exception in a request that does not wait
                answer.set_exception(error)

        answer.finish = finish

        def appended(nbytes: int) -> None:
            if self._committed_only and nbytes < WAKE:
                # Records count only after their transaction has ended, and only a read can determine their size.
                stable = [log.last_stable_offset for log in self._logs]
                if stable != self._stable:
                    self._stable = stable
                    loop.call_soon(finish, self.min_bytes)
            elif self._missing > 0:
                self._missing -= nbytes
                if self._missing <= 0:
                    # Respond to the producer first.
                    loop.call_soon(finish)

        self._stable = [log.last_stable_offset for log in self._logs]
        for log in self._logs:
            log.waiters[appended] = None
        timer = self._broker.clock.call_later(self._request.max_wait_ms / 1000, finish)

        def cleared(_: "asyncio.Future[Message]") -> None:
            timer.cancel()
            for log in self._logs:
                log.waiters.pop(appended, None)

        answer.add_done_callback(cleared)
        return answer

    # -- the response -------------------------------------------------------------------------------------------------

    def response(self, found: list[Found]) -> FetchResponse:
        """Return the response; in a session it contains only partitions with changes."""
        if self._session is None:
            return FetchResponse(responses=self._by_topic(found))
        fresh = [one for one in found if self._is_news(one)]
        for (key, _), data in fresh:
            if data.records and key in self._session.partitions:
                self._session.partitions.move_to_end(key)
        return FetchResponse(session_id=self._session.session_id, responses=self._by_topic(fresh))

    @staticmethod
    def _is_news(found: Found) -> bool:
        (_, want), data = found
        if data.error_code:
            want.told_high_watermark = -1
            return True
        told = want.told_high_watermark, want.told_start_offset
        want.told_high_watermark, want.told_start_offset = data.high_watermark, data.log_start_offset
        return bool(data.records) or told != (data.high_watermark, data.log_start_offset)

    def _by_topic(self, found: Iterable[Found]) -> list[FetchableTopicResponse]:
        topics: dict[object, FetchableTopicResponse] = {}
        for ((name, _), _), data in found:
            topic = topics.get(name)
            if topic is None:
                topic = FetchableTopicResponse()
                if isinstance(name, str):
                    topic.topic = name
                else:
                    topic.topic_id = name
                topics[name] = topic
            topic.partitions.append(data)
        return list(topics.values())
