"""A group's committed offsets: OffsetCommit and OffsetFetch in all versions, with retries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from kafka.cluster import Backoff, ClusterAccess, RetryPolicy, anything_unexpected
from kafka.cluster.protocols import BrokerConnection
from kafka.coordinator.consumer_protocol import partitions_by_topic
from kafka.coordinator.group_metrics import GroupStatistics
from kafka.coordinator.membership import NO_GENERATION, Generation
from kafka.coordinator.offset_arguments import ReadOffsets
from kafka.errors import (
    CommitFailedError,
    CoordinatorLoadInProgressError,
    FencedInstanceIdError,
    IllegalGenerationError,
    KafkaError,
    RebalanceInProgressError,
    RetriableCommitFailedError,
    RetriableError,
    StaleMemberEpochError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
    for_code,
)
from kafka.structs import OffsetAndMetadata, TopicPartition, is_another_topic
from kafka.wire.api import offset_commit, offset_fetch

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class _EpochMovedOn(RetriableError):
    """The coordinator has given the member a newer epoch, which the next heartbeat returns."""


_NAMED_UNTIL = 9
"""The last version of both APIs with topic names instead of topic ids."""
_NO_ID = UUID(int=0)
_GROUPS_SINCE = 8
"""The first version of OffsetFetch that can read the offsets of several groups."""
_MEMBERS_SINCE = 9
"""The first version of OffsetFetch that contains the requesting member (KIP-848)."""
_STABLE_SINCE = 7
"""The first version of OffsetFetch that can wait for open transactions."""

_MEMBERSHIP = frozenset({IllegalGenerationError.errno, UnknownMemberIdError.errno, RebalanceInProgressError.errno})
"""Errors indicating that the partitions belong to another member, or soon will."""
_HERE_TO_STAY = (
    CoordinatorLoadInProgressError,
    RetriableCommitFailedError,
    _EpochMovedOn,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
)
"""Retriable errors that do not mean that the coordinator has moved."""
_NO_TOPIC = (UnknownTopicIdError, UnknownTopicOrPartitionError)
"""Errors for a topic that does not exist, most likely because it was deleted."""
_CHANNEL = "coordinator"
"""The membership shares this connection to the coordinator, so that responses arrive in the order of the requests."""

Refused = Callable[[int, Generation], None]


class GroupOffsets:
    """Commits and reads the offsets of one group.

    Arguments:
        client: sends requests to the coordinator.
        group_id: the group.
        group_instance_id: the instance id of a static member, or None.
        refused: called with the error code and the generation that was sent, if a commit fails because of the
            membership.
        require_stable: whether to wait for transactions that are committing offsets (KIP-447).
        backoff: pauses between attempts.
        statistics: counts commits.
        newest: returns the newest generation. In the KIP-848 protocol, the generation changes during a membership, and
            a request that was refused with an older one is sent again with the newest.
    """

    def __init__(
        self,
        client: ClusterAccess,
        group_id: str,
        group_instance_id: str | None,
        refused: Refused,
        require_stable: bool,
        backoff: Backoff,
        statistics: GroupStatistics | None = None,
        newest: Callable[[], Generation] = lambda: NO_GENERATION,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._group_instance_id = group_instance_id
        self._refused = refused
        self._require_stable = require_stable
        self._newest = newest
        self._order = CommitOrder()
        self._statistics = statistics or GroupStatistics()
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=_ends_trying)

    async def commit(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        generation: Generation,
        timeout_ms: float,
        *,
        resend: bool = True,
        await_topics: bool = True,
    ) -> None:
        """Commit offsets, with retries. An offset is not sent after a newer commit for its partition.

        Arguments:
            offsets: the offsets to commit. Those in a `ReadOffsets` whose topic has since been deleted and recreated
                are omitted; if none are left, nothing is sent.
            generation: the member's generation; `NO_GENERATION` for a consumer with manually assigned partitions.
            timeout_ms: how long to try.
            resend: whether the commit may be sent more than once. As in Java, a commit that no one waits for may not,
                because it would arrive long after it was requested. Until it is sent for the first time, it is always
                retried.
            await_topics: whether to retry if the coordinator does not know a topic. Such a topic was most likely
                deleted; automatic commits do not wait for it, as in Java.

        Raises `CommitFailedError` if the partitions may belong to another member, `RetriableCommitFailedError` if a
        newer commit was sent or this one may not be sent again, `KafkaTimeoutError`, and other broker errors.
        """
        if not offsets:
            return
        number = self._order.begin()

        def commit_once() -> Awaitable[None]:
            return self._commit_once(number, offsets, generation, resend, await_topics)

        await self._retry(commit_once, timeout_ms, "OffsetCommit")

    async def fetch(
        self, partitions: Iterable[TopicPartition], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the committed offsets; partitions without one are omitted. Raises the same errors as `commit`."""
        wanted = list(partitions)
        if not wanted:
            return {}
        return await self._retry(lambda: self._fetch_once(wanted), timeout_ms, "OffsetFetch")

    async def _retry(self, attempt: Callable[[], Awaitable[Result]], timeout_ms: float, what: str) -> Result:
        attempts = self._policy.attempts(f"{what} of group {self._group_id!r}", timeout_ms)

        async def operation() -> Result:
            try:
                return await attempt()
            except KafkaError as error:
                self._forget_coordinator_after(error)
                raise

        return await attempts.run(operation)

    def _forget_coordinator_after(self, error: KafkaError) -> None:
        if error.retriable and not isinstance(error, _HERE_TO_STAY):
            self._client.forget_coordinator("group", self._group_id)

    def _renewed(self, generation: Generation) -> Generation:
        """Return the newest generation of a membership. Raises `CommitFailedError` if that membership has ended."""
        if not generation.membership:
            return generation
        newest = self._newest()
        if newest.membership != generation.membership:
            raise CommitFailedError
        return newest

    async def _commit_once(
        self,
        number: int,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        generation: Generation,
        resend: bool,
        await_topics: bool,
    ) -> None:
        generation = self._renewed(generation)
        node_id = await self._client.coordinator("group", self._group_id)
        connection = await self._client.connection(node_id, _CHANNEL)
        offsets = self._without_deleted(offsets)
        left = self._order.send(number, offsets)  # no await from here until the request is sent
        if left:
            try:
                await self._send_commit(connection, left, _topic_ids(offsets), generation)
            except KafkaError as error:
                if isinstance(error, UnknownTopicIdError):
                    self._client.request_refresh()
                again = resend and (await_topics or not isinstance(error, _NO_TOPIC))
                if again or not error.retriable:
                    raise
                self._forget_coordinator_after(error)
                raise RetriableCommitFailedError(f"it was sent once, and failed: {error}") from error
        if len(left) < len(offsets):
            raise RetriableCommitFailedError(
                f"the offsets of {len(offsets) - len(left)} of {len(offsets)} partitions were not committed: a newer "
                "commit of them was sent before this one could be"
            )

    def _without_deleted(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Return the offsets without those whose topics are known to have been deleted."""
        ids, now = _topic_ids(offsets), self._client.metadata.topic_id
        deleted = [tp for tp, topic_id in ids.items() if is_another_topic(topic_id, now(tp.topic))]
        if not deleted:
            return offsets
        log.info(
            "not committed for group %r, because the topic was deleted and recreated after these were read: %s",
            self._group_id,
            ", ".join(f"{tp.topic}-{tp.partition} at {offsets[tp].offset}" for tp in deleted),
        )
        left = ReadOffsets()
        left.update((tp, offset) for tp, offset in offsets.items() if tp not in deleted)
        left.topic_ids.update((tp, topic_id) for tp, topic_id in ids.items() if tp not in deleted)
        return left

    async def _send_commit(
        self,
        connection: BrokerConnection,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        read_from: Mapping[TopicPartition, UUID],
        generation: Generation,
    ) -> None:
        """Send a commit, with topic ids if all are known and the broker accepts them."""
        ids = {tp: read_from.get(tp) or self._client.metadata.topic_id(tp.topic) or _NO_ID for tp in offsets}
        newest = _NAMED_UNTIL if _NO_ID in ids.values() else None
        request = offset_commit.OffsetCommitRequest(
            group_id=self._group_id,
            generation_id_or_member_epoch=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._group_instance_id if generation.is_valid else None,
            topics=_commit_topics(offsets, ids),
        )
        version = connection.api_versions.version_for(offset_commit.OffsetCommitRequest, 0, newest)
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        response = await connection.send(request, version)
        now = loop.time()
        self._statistics.commits.record(1000 * (now - sent_at), now)
        names = {topic_id: tp.topic for tp, topic_id in ids.items()}
        for topic in response.topics:
            for entry in topic.partitions:
                if entry.error_code:
                    name = names.get(topic.topic_id, topic.name) if version > _NAMED_UNTIL else topic.name
                    self._commit_error(entry.error_code, TopicPartition(name, entry.partition_index), generation)

    def _commit_error(self, code: int, tp: TopicPartition, generation: Generation) -> None:
        if code in _MEMBERSHIP:
            self._refused(code, generation)
            cause = for_code(code)(f"commit of {tp.topic}-{tp.partition}")
            if generation.is_valid:
                raise CommitFailedError from cause
            raise CommitFailedError(
                f"the offsets were not committed because group {self._group_id!r} has members, and only these may "
                "commit: this consumer uses assign(), while others subscribe with the same group_id; use a separate "
                "group_id, or assign() in all of them"
            ) from cause
        if code in (FencedInstanceIdError.errno, StaleMemberEpochError.errno):
            self._refused(code, generation)
        if code == StaleMemberEpochError.errno:
            raise _EpochMovedOn(f"commit of {tp.topic}-{tp.partition}: {for_code(code).description}")
        raise for_code(code)(f"OffsetCommit of {tp.topic}-{tp.partition} for group {self._group_id!r}")

    async def _fetch_once(self, partitions: list[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        node_id = await self._client.coordinator("group", self._group_id)
        connection = await self._client.connection(node_id, _CHANNEL)
        version = connection.api_versions.version_for(offset_fetch.OffsetFetchRequest, 0, _NAMED_UNTIL)
        response = await connection.send(self._fetch_request(partitions, version), version)
        answer = response.groups[0] if response.groups else response
        if answer.error_code in (StaleMemberEpochError.errno, UnknownMemberIdError.errno) and self._newest().membership:
            self._refused(answer.error_code, self._newest())
            raise _EpochMovedOn(f"OffsetFetch of group {self._group_id!r}: {for_code(answer.error_code).description}")
        if answer.error_code:
            raise for_code(answer.error_code)(f"OffsetFetch of group {self._group_id!r}")
        return _read_committed(answer.topics, self._group_id)

    def _fetch_request(self, partitions: list[TopicPartition], version: int) -> offset_fetch.OffsetFetchRequest:
        topics = partitions_by_topic(partitions).items()
        stable = self._require_stable and version >= _STABLE_SINCE
        if version < _GROUPS_SINCE:
            named = [offset_fetch.OffsetFetchRequestTopic(name=name, partition_indexes=ids) for name, ids in topics]
            return offset_fetch.OffsetFetchRequest(group_id=self._group_id, topics=named, require_stable=stable)
        group = offset_fetch.OffsetFetchRequestGroup(
            group_id=self._group_id,
            topics=[offset_fetch.OffsetFetchRequestTopics(name=name, partition_indexes=ids) for name, ids in topics],
        )
        member = self._newest()
        if version >= _MEMBERS_SINCE and member.membership:
            group.member_id, group.member_epoch = member.member_id, member.generation_id
        return offset_fetch.OffsetFetchRequest(groups=[group], require_stable=stable)


def _topic_ids(offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> Mapping[TopicPartition, UUID]:
    """Return the known ids of the topics that the offsets were read from."""
    return offsets.topic_ids if isinstance(offsets, ReadOffsets) else {}


def _commit_topics(
    offsets: Mapping[TopicPartition, OffsetAndMetadata], ids: Mapping[TopicPartition, UUID]
) -> list[offset_commit.OffsetCommitRequestTopic]:
    topics: dict[tuple[str, UUID], list[offset_commit.OffsetCommitRequestPartition]] = {}
    for tp, committed in offsets.items():
        entry = offset_commit.OffsetCommitRequestPartition(
            partition_index=tp.partition,
            committed_offset=committed.offset,
            committed_leader_epoch=-1 if committed.leader_epoch is None else committed.leader_epoch,
            committed_metadata=committed.metadata or "",
        )
        topics.setdefault((tp.topic, ids[tp]), []).append(entry)
    return [
        offset_commit.OffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=each)
        for (name, topic_id), each in topics.items()
    ]


def _read_committed(topics: Iterable[Any], group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
    """Read the offsets in a response.

    Raises a single error for all unauthorized topics, which takes precedence over other errors.
    """
    committed: dict[TopicPartition, OffsetAndMetadata] = {}
    unauthorized: set[str] = set()
    failures: list[KafkaError] = []
    for topic in topics:
        for entry in topic.partitions:
            tp = TopicPartition(topic.name, entry.partition_index)
            error = for_code(entry.error_code) if entry.error_code else None
            if error is TopicAuthorizationFailedError:
                unauthorized.add(tp.topic)
            elif error is not None:
                failures.append(error(f"OffsetFetch of {tp.topic}-{tp.partition} for group {group_id!r}"))
            elif entry.committed_offset >= 0:
                committed[tp] = OffsetAndMetadata(
                    entry.committed_offset, entry.metadata or "", entry.committed_leader_epoch
                )
    if unauthorized:
        raise TopicAuthorizationFailedError(unauthorized)
    if failures:
        raise failures[0]
    return committed


def _ends_trying(error: Exception) -> bool:
    """Return whether an error is not retried here; the caller decides on `RetriableCommitFailedError`."""
    return isinstance(error, RetriableCommitFailedError) or anything_unexpected(error)


class CommitOrder:
    """Keeps commits in order: after a commit for a partition, no older one is sent.

    Numbers the commits, and remembers the newest one sent for each partition. Used on the loop only.
    """

    def __init__(self) -> None:
        self._begun = 0
        self._sent: dict[TopicPartition, int] = {}

    def begin(self) -> int:
        """Return the number of a new commit."""
        self._begun += 1
        return self._begun

    def send(
        self, number: int, offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the ``offsets`` for which no newer commit has been sent, and count them as sent."""
        left = {tp: committed for tp, committed in offsets.items() if self._sent.get(tp, number) <= number}
        self._sent.update(dict.fromkeys(left, number))
        return left
