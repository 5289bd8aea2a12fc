"""The offsets that a group commits: OffsetCommit and OffsetFetch, all versions, with retries."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from kafka.cluster import Backoff, CoordinatorRequests, RetryPolicy, anything_unexpected
from kafka.coordinator.generation import Generation
from kafka.coordinator.protocol import partitions_by_topic
from kafka.errors import (
    CommitFailedError,
    CoordinatorLoadInProgressError,
    FencedInstanceIdError,
    IllegalGenerationError,
    KafkaError,
    RebalanceInProgressError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
    for_code,
)
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire.api import offset_commit, offset_fetch

log = logging.getLogger(__name__)
Result = TypeVar("Result")

_NAMED_UNTIL = 9
"""The last version of both APIs that names topics instead of giving their ids."""
_GROUPS_SINCE = 8
"""The version from which OffsetFetch asks for several groups."""
_STABLE_SINCE = 7
"""The version from which OffsetFetch can wait for open transactions."""

_MEMBERSHIP = frozenset({IllegalGenerationError.errno, UnknownMemberIdError.errno, RebalanceInProgressError.errno})
"""Answers that say that the partitions are, or soon will be, another member's."""
_HERE_TO_STAY = (CoordinatorLoadInProgressError, UnknownTopicOrPartitionError, UnstableOffsetCommitError)
"""Retriable errors that do not say that the coordinator has moved."""

Refused = Callable[[int, Generation], None]


class GroupOffsets:
    """Commits and reads the offsets of one group.

    Arguments:
        client: sends to the coordinator.
        group_id: the group.
        group_instance_id: of a static member, or None.
        refused: called with an error code and the credentials used when a commit's answer tells something about the
            membership.
        require_stable: whether to wait for transactions that are committing offsets (KIP-447).
        backoff: pauses between attempts.
    """

    def __init__(
        self,
        client: CoordinatorRequests,
        group_id: str,
        group_instance_id: str | None,
        refused: Refused,
        require_stable: bool,
        backoff: Backoff,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._group_instance_id = group_instance_id
        self._refused = refused
        self._require_stable = require_stable
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=anything_unexpected)

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], generation: Generation, timeout_ms: float
    ) -> Any:
        """Commit, trying again while that can help; returns the OffsetCommitResponse.

        Arguments:
            offsets: what to commit; nothing is sent for an empty one.
            generation: credentials; `NO_GENERATION` for a consumer whose partitions were assigned by hand.
            timeout_ms: how long to try.

        Raises `CommitFailedError` if the partitions may belong to another member, `KafkaTimeoutError`, and what the
        broker answered otherwise.
        """
        if not offsets:
            return None
        return await self._retry(lambda left: self._commit_once(offsets, generation, left), timeout_ms, "OffsetCommit")

    async def fetch(
        self, partitions: Iterable[TopicPartition], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets; partitions without one are left out. Raises as `commit` does."""
        wanted = list(partitions)
        if not wanted:
            return {}
        return await self._retry(lambda left: self._fetch_once(wanted, left), timeout_ms, "OffsetFetch")

    async def _retry(self, attempt: Callable[[float], Awaitable[Result]], timeout_ms: float, what: str) -> Result:
        attempts = self._policy.attempts(f"{what} of group {self._group_id!r}", timeout_ms)

        async def operation() -> Result:
            try:
                return await attempt(attempts.left_ms or timeout_ms)
            except KafkaError as error:
                if error.retriable and not isinstance(error, _HERE_TO_STAY):
                    self._client.forget_coordinator("group", self._group_id)
                raise

        return await attempts.run(operation)

    async def _commit_once(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], generation: Generation, timeout_ms: float
    ) -> offset_commit.OffsetCommitResponse:
        request = offset_commit.OffsetCommitRequest(
            group_id=self._group_id,
            generation_id_or_member_epoch=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._group_instance_id if generation.is_valid else None,
            topics=_commit_topics(offsets),
        )
        response: offset_commit.OffsetCommitResponse = await self._client.send_coordinator(
            "group", self._group_id, request, timeout_ms=timeout_ms, max_version=_NAMED_UNTIL
        )
        for topic in response.topics:
            for entry in topic.partitions:
                if entry.error_code:
                    self._commit_error(entry.error_code, TopicPartition(topic.name, entry.partition_index), generation)
        return response

    def _commit_error(self, code: int, tp: TopicPartition, generation: Generation) -> None:
        if code in _MEMBERSHIP:
            self._refused(code, generation)
            raise CommitFailedError from for_code(code)(f"commit of {tp.topic}-{tp.partition}")
        if code == FencedInstanceIdError.errno:
            self._refused(code, generation)
        raise for_code(code)(f"OffsetCommit of {tp.topic}-{tp.partition} for group {self._group_id!r}")

    async def _fetch_once(
        self, partitions: list[TopicPartition], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        node_id = await self._client.coordinator("group", self._group_id)
        version = self._client.api_version(node_id, offset_fetch.OffsetFetchRequest)
        if version is None:  # not connected yet: a layout that old and new brokers understand
            version = _STABLE_SINCE - 1
        version = min(version, _NAMED_UNTIL)
        request = self._fetch_request(partitions, version)
        lowest = _GROUPS_SINCE if version >= _GROUPS_SINCE else 0
        response: offset_fetch.OffsetFetchResponse = await self._client.send_coordinator(
            "group", self._group_id, request, timeout_ms=timeout_ms, min_version=lowest, max_version=version
        )
        answer = response.groups[0] if response.groups else response
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
        return offset_fetch.OffsetFetchRequest(groups=[group], require_stable=stable)


def _commit_topics(
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
) -> list[offset_commit.OffsetCommitRequestTopic]:
    topics: dict[str, list[offset_commit.OffsetCommitRequestPartition]] = {}
    for tp, committed in offsets.items():
        entry = offset_commit.OffsetCommitRequestPartition(
            partition_index=tp.partition,
            committed_offset=committed.offset,
            committed_leader_epoch=-1 if committed.leader_epoch is None else committed.leader_epoch,
            committed_metadata=committed.metadata or "",
        )
        topics.setdefault(tp.topic, []).append(entry)
    return [offset_commit.OffsetCommitRequestTopic(name=name, partitions=each) for name, each in topics.items()]


def _read_committed(topics: Iterable[Any], group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
    committed = {}
    for topic in topics:
        for entry in topic.partitions:
            tp = TopicPartition(topic.name, entry.partition_index)
            if entry.error_code:
                error = for_code(entry.error_code)
                if error is TopicAuthorizationFailedError:
                    raise error({tp.topic})
                raise error(f"OffsetFetch of {tp.topic}-{tp.partition} for group {group_id!r}")
            if entry.committed_offset >= 0:
                committed[tp] = OffsetAndMetadata(
                    entry.committed_offset, entry.metadata or "", entry.committed_leader_epoch
                )
    return committed
