"""Offset requests to partition leaders: ListOffsets and OffsetForLeaderEpoch (KIP-320).

Each call sends one request to one broker; `kafka.consumer.position.offset_search` retries until each partition has an
answer.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from kafka.cluster import BrokerRequests
from kafka.consumer.position.special_timestamps import MAX_TIMESTAMP
from kafka.errors import (
    InvalidTopicError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)
from kafka.structs import OffsetAndTimestamp, TopicPartition
from kafka.wire.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka.wire.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

_OF_TOPIC = (TopicAuthorizationFailedError, InvalidTopicError)
"""Errors whose argument is a set of topics."""


class Answers(NamedTuple):
    """The result of one request; each requested partition is in one of the two dicts.

    Arguments:
        offsets: the offsets found; -1 for a partition without one.
        errors: exceptions of any type, not only Kafka errors.
    """

    offsets: dict[TopicPartition, OffsetAndTimestamp]
    errors: dict[TopicPartition, Exception]


class LeaderRequests:
    """Sends requests to partition leaders, each to a single broker.

    Arguments:
        client: sends requests, and knows the leaders.
        request_timeout_ms: the timeout of a request.
    """

    api: ClassVar[str]
    """The API's name in errors."""

    def __init__(self, client: BrokerRequests, request_timeout_ms: float) -> None:
        self._client = client
        self._request_timeout_ms = request_timeout_ms

    async def ask(self, leader: int, wanted: Mapping[TopicPartition, int]) -> Answers:
        """Send one request. Any failure is returned as an error for each partition.

        Arguments:
            wanted: for each partition, the number to look up: a timestamp or an epoch.
        """
        raise NotImplementedError

    def by_leader(self, wanted: Mapping[TopicPartition, int]) -> dict[int | None, dict[TopicPartition, int]]:
        """Group partitions by leader; the key None is for those without a known leader."""
        grouped: dict[int | None, dict[TopicPartition, int]] = {}
        for tp, asked in wanted.items():
            grouped.setdefault(self._client.metadata.leader_for_partition(tp), {})[tp] = asked
        return grouped

    async def refresh(self, partitions: Iterable[TopicPartition]) -> None:
        """Refresh the metadata for some partitions. Raises the errors of the refresh."""
        await self._client.refresh_metadata({tp.topic for tp in partitions})

    @property
    def metadata_version(self) -> int:
        """The number of the metadata in use, which increases with each answer of a broker."""
        return self._client.metadata.version

    def absence(self, tp: TopicPartition) -> str | None:
        """Return why the metadata shows that a partition does not exist; None if it exists, or may exist soon."""
        metadata = self._client.metadata
        if metadata.topic_errors.get(tp.topic) is UnknownTopicOrPartitionError:
            return f"there is no topic {tp.topic!r}"
        there = sorted(metadata.partitions_for_topic(tp.topic) or ())
        if not there or tp.partition in there:
            return None
        known = f"partition {there[0]}" if len(there) == 1 else f"the partitions {there[0]} to {there[-1]}"
        return f"topic {tp.topic!r} has no partition {tp.partition}, only {known}"

    def has_topic(self, tp: TopicPartition) -> bool:
        """Return whether the metadata contains the topic of a partition."""
        return bool(self._client.metadata.partitions_for_topic(tp.topic))

    def without_leader(self, tp: TopicPartition) -> Exception:
        """Return the error for a partition whose leader is unknown."""
        error = self._client.metadata.topic_errors.get(tp.topic)
        if error is not None and not error.retriable:
            return self._error(error, tp)
        if self._client.metadata.partition_metadata(tp) is None:
            return UnknownTopicOrPartitionError(f"topic {tp.topic!r} has no partition {tp.partition}")
        return LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r}")

    def _error(self, error: type[Exception], tp: TopicPartition) -> Exception:
        if issubclass(error, _OF_TOPIC):
            return error({tp.topic})
        return error(f"{self.api} of partition {tp.partition} of topic {tp.topic!r}")


_TIMES_SINCE = 1
"""The first version that returns one offset and its timestamp; v0 returns a list of segment base offsets."""
_MAX_TIMESTAMP_SINCE = 7
_CONSUMER = -1
"""Replica id of clients that are not replicas."""


class ListOffsets(LeaderRequests):
    """Looks up the first record of each partition at or after a timestamp, or the start or end of its log.

    The resulting offset is -1 if there is no such record.

    Arguments:
        client: sends requests, and knows the leaders.
        isolation_level: with "read_committed", the end of a partition is its last stable offset.
        request_timeout_ms: the timeout of a request.
    """

    api = "ListOffsets"

    def __init__(self, client: BrokerRequests, isolation_level: str, request_timeout_ms: float) -> None:
        super().__init__(client, request_timeout_ms)
        self._isolation = int(isolation_level == "read_committed")

    async def ask(self, leader: int, wanted: Mapping[TopicPartition, int]) -> Answers:
        """Send one request. Any failure is returned as an error for each partition.

        Arguments:
            wanted: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP, for each partition.
        """
        times = set(wanted.values())
        min_version = _TIMES_SINCE if max(times) >= 0 else 0
        if MAX_TIMESTAMP in times:
            min_version = _MAX_TIMESTAMP_SINCE
        try:
            response = await self._client.send(
                leader, self._request(wanted), timeout_ms=self._request_timeout_ms, min_version=min_version
            )
            return self._answers(leader, wanted, response)
        except Exception as error:
            return Answers({}, dict.fromkeys(wanted, error))

    def _request(self, timestamps: Mapping[TopicPartition, int]) -> ListOffsetsRequest:
        topics: dict[str, ListOffsetsTopic] = {}
        for tp, timestamp in timestamps.items():
            topic = topics.setdefault(tp.topic, ListOffsetsTopic(name=tp.topic, partitions=[]))
            topic.partitions.append(
                ListOffsetsPartition(
                    partition_index=tp.partition,
                    current_leader_epoch=self._client.metadata.leader_epoch(tp),
                    timestamp=timestamp,
                )
            )
        return ListOffsetsRequest(
            replica_id=_CONSUMER,
            isolation_level=self._isolation,
            topics=list(topics.values()),
            timeout_ms=int(self._request_timeout_ms),
        )

    def _answers(self, leader: int, asked: Iterable[TopicPartition], response: ListOffsetsResponse) -> Answers:
        offsets: dict[TopicPartition, OffsetAndTimestamp] = {}
        errors: dict[TopicPartition, Exception] = {
            tp: UnknownTopicOrPartitionError(f"broker {leader} did not answer for {tp.topic}-{tp.partition}")
            for tp in asked
        }
        for topic in response.topics:
            for entry in topic.partitions:
                tp = TopicPartition(topic.name, entry.partition_index)
                if tp not in errors:
                    continue
                if entry.error_code:
                    errors[tp] = self._error(for_code(entry.error_code), tp)
                else:
                    del errors[tp]
                    offsets[tp] = OffsetAndTimestamp(_offset(entry), entry.timestamp, entry.leader_epoch)
        return Answers(offsets, errors)


def _offset(entry: Any) -> int:
    offset: int = entry.offset
    return entry.old_style_offsets[0] if offset < 0 and entry.old_style_offsets else offset


FOR_CONSUMERS_SINCE = 3
"""Earlier versions are for brokers, and consumers are not authorized to use them."""


class EpochQuery(NamedTuple):
    """A query about a partition.

    Arguments:
        tp: the partition.
        current: the leader epoch in the metadata; a broker with another epoch refuses the query. -1 if unknown.
        epoch: the epoch whose end is requested.
    """

    tp: TopicPartition
    current: int
    epoch: int


def epoch_request(questions: Iterable[EpochQuery]) -> OffsetForLeaderEpochRequest:
    """Create the request for partitions with the same leader."""
    topics: dict[str, OffsetForLeaderTopic] = {}
    for tp, current, epoch in questions:
        topic = topics.setdefault(tp.topic, OffsetForLeaderTopic(topic=tp.topic, partitions=[]))
        topic.partitions.append(
            OffsetForLeaderPartition(partition=tp.partition, current_leader_epoch=current, leader_epoch=epoch)
        )
    return OffsetForLeaderEpochRequest(replica_id=_CONSUMER, topics=list(topics.values()))


def epoch_answers(response: OffsetForLeaderEpochResponse) -> Mapping[TopicPartition, Any]:
    """Return the leader's answers, by partition."""
    return {TopicPartition(topic.topic, each.partition): each for topic in response.topics for each in topic.partitions}


class EpochEnds(LeaderRequests):
    """Looks up, for each partition, the end of the newest epoch that is not newer than the requested one.

    The resulting offset is -1 if the leader does not know the end.
    """

    api = "OffsetForLeaderEpoch"

    async def ask(self, leader: int, wanted: Mapping[TopicPartition, int]) -> Answers:
        """Send one request. Any failure is returned as an error for each partition.

        Arguments:
            wanted: the epoch, for each partition.
        """
        epoch_of = self._client.metadata.leader_epoch
        request = epoch_request(EpochQuery(tp, epoch_of(tp), epoch) for tp, epoch in wanted.items())
        try:
            response = await self._client.send(
                leader, request, timeout_ms=self._request_timeout_ms, min_version=FOR_CONSUMERS_SINCE
            )
            answered = epoch_answers(response)
        except Exception as error:
            return Answers({}, dict.fromkeys(wanted, error))
        answers = Answers({}, {})
        for tp in wanted:
            answer = answered.get(tp)
            code = UnknownTopicOrPartitionError.errno if answer is None else answer.error_code
            if answer is None or code:
                answers.errors[tp] = self._error(for_code(code), tp)
            else:
                known = answer.end_offset >= 0 and answer.leader_epoch >= 0
                answers.offsets[tp] = OffsetAndTimestamp(answer.end_offset if known else -1, -1, answer.leader_epoch)
        return answers
