"""Sends a share consumer's requests to one broker, one at a time, because each contains the next session epoch.

A fetch is sent when the caller wants records, never in advance, because the locks of acquired records would expire
while they wait to be processed. Acknowledgements are sent with a fetch if there is one, otherwise in a separate
request. Java: ``ShareConsumeRequestManager``.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Protocol
from uuid import UUID

from kafka.cluster import Attempts, RetryPolicy
from kafka.cluster.protocols import BrokerConnections
from kafka.config import ShareOptions
from kafka.consumer.buffer.partition_response import SharedFrame
from kafka.consumer.share.acquired import Acquired, Range, in_order
from kafka.consumer.share.piece import AckBatch, Acknowledgements
from kafka.errors import (
    InvalidShareSessionEpochError,
    KafkaError,
    ShareSessionNotFoundError,
    for_code,
)
from kafka.structs import TopicPartition
from kafka.wire.api import share_acknowledge, share_fetch
from kafka.wire.api.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from kafka.wire.api.share_fetch import PartitionData, ShareFetchRequest, ShareFetchResponse

FIRST_EPOCH, LAST_EPOCH = 0, -1
_EPOCHS = 2**31 - 1

Partition = tuple[UUID, int]
"""The topic id and the partition number."""


class ShareSession:
    """The share session with one broker. The broker knows the fetched partitions, and requests contain only changes.

    Java: ``ShareSessionHandler``.

    Attributes:
        targets: the partitions to fetch.
        epoch: the epoch of the next request; 0 begins a session.
    """

    def __init__(self) -> None:
        self.targets: set[Partition] = set()
        self.epoch = FIRST_EPOCH
        self._known: set[Partition] = set()
        self._sent: set[Partition] = set()

    @property
    def is_open(self) -> bool:
        """Whether the broker has a session for this consumer."""
        return self.epoch != FIRST_EPOCH

    def fetch_topics(
        self, acks: Iterable[Acknowledgements]
    ) -> tuple[list[share_fetch.FetchTopic], list[share_fetch.ForgottenTopic]]:
        """Return the topics of the next request: new partitions, those with acknowledgements, and forgotten ones."""
        self._sent = set(self.targets)
        rows: dict[Partition, share_fetch.FetchPartition] = {}
        for topic_id, number in sorted(self.targets - self._known):
            rows[topic_id, number] = share_fetch.FetchPartition(partition_index=number)
        for key, batches in _by_partition(acks).items():
            row = rows.setdefault(key, share_fetch.FetchPartition(partition_index=key[1]))
            row.acknowledgement_batches = [
                share_fetch.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=list(types))
                for first, last, types in batches
            ]
        topics: dict[UUID, share_fetch.FetchTopic] = {}
        for (topic_id, _), row in rows.items():
            topics.setdefault(topic_id, share_fetch.FetchTopic(topic_id=topic_id)).partitions.append(row)
        forgotten: dict[UUID, share_fetch.ForgottenTopic] = {}
        for topic_id, number in sorted(self._known - self.targets):
            forgotten.setdefault(topic_id, share_fetch.ForgottenTopic(topic_id=topic_id)).partitions.append(number)
        return list(topics.values()), list(forgotten.values())

    @staticmethod
    def acknowledge_topics(acks: Iterable[Acknowledgements]) -> list[share_acknowledge.AcknowledgeTopic]:
        """Return the topics for the next acknowledgement request."""
        topics: dict[UUID, share_acknowledge.AcknowledgeTopic] = {}
        for (topic_id, number), batches in _by_partition(acks).items():
            row = share_acknowledge.AcknowledgePartition(
                partition_index=number,
                acknowledgement_batches=[
                    share_acknowledge.AcknowledgementBatch(
                        first_offset=first, last_offset=last, acknowledge_types=list(types)
                    )
                    for first, last, types in batches
                ],
            )
            topic = topics.setdefault(topic_id, share_acknowledge.AcknowledgeTopic(topic_id=topic_id))
            topic.partitions.append(row)
        return list(topics.values())

    def fetched(self) -> None:
        """Record that the broker accepted a fetch."""
        self._known = self._sent
        self.counted()

    def counted(self) -> None:
        """Record that the broker accepted a request."""
        self.epoch = 1 if self.epoch == _EPOCHS else self.epoch + 1

    def lost(self) -> None:
        """Record that the broker has lost the session, which releases the records acquired in it."""
        self.epoch = FIRST_EPOCH
        self._known = set()


def _by_partition(acks: Iterable[Acknowledgements]) -> dict[Partition, list[AckBatch]]:
    """Return the acknowledgement batches for each partition, in order."""
    found: dict[Partition, list[AckBatch]] = {}
    for each in acks:
        found.setdefault((each.topic_id, each.tp.partition), []).extend(each.batches)
    for batches in found.values():
        batches.sort()
    return found


log = logging.getLogger(__name__)

CHANNEL = "share"
"""A separate connection, so that a long poll does not delay other requests."""
_OLDEST_VERSION = 1
_STRICT_SINCE = _RENEW_SINCE = 2
_SESSION_LOST = (ShareSessionNotFoundError, InvalidShareSessionEpochError)


class BrokerShareListener(Protocol):
    """The listener of a `BrokerShareFetcher`. Called on the loop."""

    def name_of(self, partition: Partition) -> TopicPartition | None:
        """Return a partition that is or was assigned, with its topic name; None if the name is unknown."""

    def acquired(self, acquired: Acquired) -> None:
        """Called with acquired records."""

    def locks_last(self, timeout_ms: int) -> None:
        """Called with the lock timeout of a response, before its records; 0 if the broker does not report it."""

    def answered(self) -> None:
        """Called after each fetch response, even if it is empty."""

    def completed(self, acks: Acknowledgements, error: Exception | None) -> None:
        """Called with the result of acknowledgements."""

    def refused(self, partition: Partition, error: type[KafkaError], data: PartitionData) -> None:
        """Called when a broker cannot return records from a partition."""

    def broker_failed(self, error: Exception) -> None:
        """Called when a broker is unavailable, or refuses a whole request."""


class BrokerShareFetcher:
    """Fetches from one broker; see the module. Used on the loop.

    Arguments:
        node_id: the broker.
        options: the size limits, time limits and modes of requests.
        client: sends requests.
        member_id: the member's id, which also identifies the session.
        listener: receives the responses.
        retry: handles failures.
    """

    def __init__(
        self,
        node_id: int,
        options: ShareOptions,
        client: BrokerConnections,
        member_id: str,
        listener: BrokerShareListener,
        retry: RetryPolicy,
    ) -> None:
        self.node_id = node_id
        self.session = ShareSession()
        self.pending: list[Acknowledgements] = []
        """Acknowledgements to send."""
        self.wanted = 0
        """The number of records that the caller wants; 0 if it has not asked since the last fetch."""
        self._options = options
        self._client = client
        self._member_id = member_id
        self._listener = listener
        self._attempts: Attempts = retry.attempts(f"share fetches from broker {node_id}")
        self._task: asyncio.Task[None] | None = None
        self.asked_at = 0.0
        """When the outstanding request was sent, by the loop's clock."""
        self._sessions_lost = 0
        """The number of consecutive lost sessions."""
        self._closed = False

    @property
    def is_busy(self) -> bool:
        """Whether a request is outstanding or about to be retried."""
        return self._task is not None

    def kick(self) -> None:
        """Send a request if there is something to send."""
        if self._task is None and self._has_work() and not self._closed:
            self.asked_at = asyncio.get_running_loop().time()
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"share fetches {self.node_id}")

    def _has_work(self) -> bool:
        return bool(self.pending or (self.wanted and self.session.targets))

    async def _run(self) -> None:
        try:
            while self._has_work() and not self._closed:
                try:
                    await self._send()
                except Exception as error:
                    await asyncio.sleep(self._attempts.note(error))
                else:
                    self.asked_at = asyncio.get_running_loop().time()
                    self._attempts.succeeded()
        finally:
            self._task = None

    async def _send(self) -> None:
        if self.pending and not self.session.is_open:
            self._complete(
                self._take_pending(), ShareSessionNotFoundError("the session in which it was acquired has ended")
            )
        elif self.pending and not self._can_go_along():
            await self._acknowledge(self.session.epoch)
        elif self._has_work():
            await self._fetch()

    def _can_go_along(self) -> bool:
        """Return whether the acknowledgements can be sent with a fetch that is about to be sent."""
        return bool(self.wanted and self.session.targets) and all(
            not acks.renewed and (acks.topic_id, acks.tp.partition) in self.session.targets for acks in self.pending
        )

    def _take_pending(self) -> list[Acknowledgements]:
        taken, self.pending = self.pending, []
        return taken

    def _complete(self, acks: list[Acknowledgements], error: Exception | None) -> None:
        for each in acks:
            self._listener.completed(each, error)

    # Fetching ---------------------------------------------------------------------------------------------------------

    async def _fetch(self) -> None:
        acks = self._take_pending()
        options, wanted = self._options, self.wanted
        strict = options.share_acquire_mode == "record_limit"
        topics, forgotten = self.session.fetch_topics(acks)
        request = ShareFetchRequest(
            group_id=options.group_id,
            member_id=self._member_id,
            share_session_epoch=self.session.epoch,
            max_wait_ms=options.fetch_max_wait_ms,
            min_bytes=options.fetch_min_bytes,
            max_bytes=options.fetch_max_bytes,
            max_records=wanted,
            batch_size=wanted,
            share_acquire_mode=int(strict),
            topics=topics,
            forgotten_topics_data=forgotten,
        )
        try:
            response = await self._client.send(
                self.node_id,
                request,
                min_version=_STRICT_SINCE if strict else _OLDEST_VERSION,
                channel=CHANNEL,
            )
        except BaseException as error:
            self.session.lost()
            self._complete(acks, error if isinstance(error, Exception) else _interrupted())
            if isinstance(error, Exception):
                self._listener.broker_failed(error)
            raise
        self.wanted = 0
        if response.error_code:
            self._refused(for_code(response.error_code), response.error_message, acks)
            return
        self.session.fetched()
        self._sessions_lost = 0
        self._take(response, acks)

    def _take(self, response: ShareFetchResponse, acks: list[Acknowledgements]) -> None:
        held = getattr(response, "frame", None)
        frame = SharedFrame(held.release if held is not None else None)
        said: dict[Partition, Exception | None] = {}
        trouble: KafkaError | None = None
        self._listener.locks_last(response.acquisition_lock_timeout_ms)
        for topic in response.responses:
            for data in topic.partitions:
                key = topic.topic_id, data.partition_index
                said[key] = _error(data.acknowledge_error_code, data.acknowledge_error_message)
                if data.error_code:
                    kind = for_code(data.error_code)
                    trouble = kind(f"partition {key[1]} of {self._listener.name_of(key) or key[0]}")
                    self._listener.refused(key, kind, data)
                if data.acquired_records:
                    self._acquired(key, data, frame)
        frame.release()
        for each in acks:
            missing = KafkaError("the broker did not report the result")
            self._listener.completed(each, said.get((each.topic_id, each.tp.partition), missing))
        self._listener.answered()
        if trouble is not None:
            raise trouble  # raised so that the next fetch waits briefly

    def _acquired(self, key: Partition, data: PartitionData, frame: SharedFrame) -> None:
        tp = self._listener.name_of(key)
        ranges = in_order(Range(one.first_offset, one.last_offset, one.delivery_count) for one in data.acquired_records)
        if tp is None:
            log.warning("broker %d sent records of %s, which were not requested; others will receive them", *key)
            return
        if not ranges:
            return
        frame.retain()
        records = data.records if data.records is not None else b""
        self._listener.acquired(Acquired(tp, key[0], self.node_id, ranges, _view(records), frame))

    # Acknowledging ----------------------------------------------------------------------------------------------------

    async def _acknowledge(self, epoch: int) -> None:
        acks = self._take_pending()
        renews = any(each.renewed for each in acks)
        request = ShareAcknowledgeRequest(
            group_id=self._options.group_id,
            member_id=self._member_id,
            share_session_epoch=epoch,
            is_renew_ack=renews,
            topics=self.session.acknowledge_topics(acks),
        )
        try:
            response: ShareAcknowledgeResponse = await self._client.send(
                self.node_id, request, min_version=_RENEW_SINCE if renews else _OLDEST_VERSION, channel=CHANNEL
            )
        except BaseException as error:
            self.session.lost()
            self._complete(acks, error if isinstance(error, Exception) else _interrupted())
            if isinstance(error, Exception):
                self._listener.broker_failed(error)
            raise
        if response.error_code:
            self._refused(for_code(response.error_code), response.error_message, acks)
            return
        self.session.counted()
        self._listener.locks_last(response.acquisition_lock_timeout_ms)
        said: dict[tuple[UUID, int], Exception | None] = {
            (topic.topic_id, data.partition_index): _error(data.error_code, data.error_message)
            for topic in response.responses
            for data in topic.partitions
        }
        missing = KafkaError("the broker did not report the result")
        for each in acks:
            self._listener.completed(each, said.get((each.topic_id, each.tp.partition), missing))

    def _refused(self, kind: type[KafkaError], text: str | None, acks: list[Acknowledgements]) -> None:
        """Handle the refusal of a whole request. Raises errors that require a pause."""
        error = kind(f"broker {self.node_id}: {text or 'the broker refuses the share session'}")
        self.session.lost()
        self._complete(acks, error)
        if isinstance(error, _SESSION_LOST):
            log.info("%s; beginning a new share session", error)
            self._listener.answered()  # the caller sends another request
            self._sessions_lost += 1
            if self._sessions_lost > 1:
                raise error
            return  # the first new session is started immediately
        self._listener.broker_failed(error)
        raise error

    # Closing ----------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Send acknowledgements and end the session, which releases all other acquired records. Does not raise."""
        self.wanted = 0
        self._closed = True
        task = self._task
        if task is not None:
            await asyncio.wait({task})
        if not self.session.is_open:
            self._complete(
                self._take_pending(), ShareSessionNotFoundError("the session in which it was acquired has ended")
            )
            return
        try:
            await self._acknowledge(LAST_EPOCH)
        except KafkaError as error:
            log.debug("could not tell broker %d that its share session has ended: %s", self.node_id, error)

    def abort(self) -> None:
        """Stop immediately."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()


def _error(code: int, text: str | None) -> Exception | None:
    if not code:
        return None
    kind = for_code(code)
    return kind(text) if text else kind()


def _interrupted() -> KafkaError:
    return KafkaError("the consumer was closed before the broker answered")


def _view(records: Any) -> memoryview:
    return memoryview(records)
