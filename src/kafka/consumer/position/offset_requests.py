"""Requests about offsets to the leaders of partitions: ListOffsets and OffsetForLeaderEpoch (KIP-320).

Each sends one request to one broker; `kafka.consumer.position.offset_search` repeats them until all are answered.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from kafka.cluster import BrokerRequests
from kafka.config.consumer import BY_DURATION, milliseconds
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

EARLIEST = -2
"""The start of the log. Java: ``EARLIEST_TIMESTAMP``."""
LATEST = -1
"""The end of the log. Java: ``LATEST_TIMESTAMP``."""
MAX_TIMESTAMP = -3
"""The record with the highest timestamp (KIP-734)."""

_STRATEGIES: dict[str, int | None] = {"earliest": EARLIEST, "latest": LATEST, "none": None}


def reset_timestamp(strategy: str, now_ms: int) -> int | None:
    """The timestamp to look a position up by; None: there is no policy.

    Arguments:
        strategy: as ``auto_offset_reset`` has it; of a duration that is longer than time has been it is the start.
        now_ms: milliseconds since 1970-01-01 UTC.
    """
    if not strategy.startswith(BY_DURATION):
        return _STRATEGIES[strategy]
    length_ms = milliseconds(strategy[len(BY_DURATION) :])
    assert length_ms is not None  # as the option's parser has seen
    return max(now_ms - length_ms, 0)


_OF_TOPIC = (TopicAuthorizationFailedError, InvalidTopicError)
"""Errors whose argument is a set of topics."""


class Answers(NamedTuple):
    """What one try gave: each partition that was asked for is in one of the two.

    Arguments:
        offsets: offset -1 where there is none.
        errors: of any kind, `Exception`s that are none of Kafka's included.
    """

    offsets: dict[TopicPartition, OffsetAndTimestamp]
    errors: dict[TopicPartition, Exception]


class LeaderRequests:
    """Asks brokers, one a call, and tells which to ask.

    Arguments:
        client: sends, and knows the leaders.
        request_timeout_ms: how long a request may take.
    """

    api: ClassVar[str]
    """Its name in errors."""

    def __init__(self, client: BrokerRequests, request_timeout_ms: float) -> None:
        self._client = client
        self._request_timeout_ms = request_timeout_ms

    async def ask(self, leader: int, wanted: Mapping[TopicPartition, int]) -> Answers:
        """One try. Whatever goes wrong is an error of the partitions.

        Arguments:
            wanted: what is asked of each, a number.
        """
        raise NotImplementedError

    def by_leader(self, wanted: Mapping[TopicPartition, int]) -> dict[int | None, dict[TopicPartition, int]]:
        """The partitions of each leader; None: those that have none, as far as is known."""
        grouped: dict[int | None, dict[TopicPartition, int]] = {}
        for tp, asked in wanted.items():
            grouped.setdefault(self._client.metadata.leader_for_partition(tp), {})[tp] = asked
        return grouped

    async def refresh(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch newer metadata of some partitions; raises what that raises."""
        await self._client.refresh_metadata({tp.topic for tp in partitions})

    def without_leader(self, tp: TopicPartition) -> Exception:
        """Why nobody can be asked about a partition."""
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
"""The first version that answers with one offset and its time; v0 gives a list of segments' starts."""
_MAX_TIMESTAMP_SINCE = 7
_CONSUMER = -1
"""Replica id of those who are no replica."""


class ListOffsets(LeaderRequests):
    """Asks for the first record of each partition at or after a time, or for the start or the end of its log.

    The answer's offset is -1 where there is no such record.

    Arguments:
        client: sends, and knows the leaders.
        isolation_level: for "read_committed" the end of a partition is its last stable offset.
        request_timeout_ms: how long a request may take.
    """

    api = "ListOffsets"

    def __init__(self, client: BrokerRequests, isolation_level: str, request_timeout_ms: float) -> None:
        super().__init__(client, request_timeout_ms)
        self._isolation = int(isolation_level == "read_committed")

    async def ask(self, leader: int, wanted: Mapping[TopicPartition, int]) -> Answers:
        """One try. Whatever goes wrong is an error of the partitions.

        Arguments:
            wanted: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP, of each.
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
"""Earlier versions are for brokers: consumers are not authorized for them."""
_CONSUMER = -1
"""Replica id of those who are no replica."""


class EpochQuery(NamedTuple):
    """A question about a partition.

    Arguments:
        tp: the partition.
        current: the epoch of its leader, as the metadata have it: another broker refuses; -1: not known.
        epoch: whose end is asked for.
    """

    tp: TopicPartition
    current: int
    epoch: int


def epoch_request(questions: Iterable[EpochQuery]) -> OffsetForLeaderEpochRequest:
    """The request to the leader of these partitions."""
    topics: dict[str, OffsetForLeaderTopic] = {}
    for tp, current, epoch in questions:
        topic = topics.setdefault(tp.topic, OffsetForLeaderTopic(topic=tp.topic, partitions=[]))
        topic.partitions.append(
            OffsetForLeaderPartition(partition=tp.partition, current_leader_epoch=current, leader_epoch=epoch)
        )
    return OffsetForLeaderEpochRequest(replica_id=_CONSUMER, topics=list(topics.values()))


def epoch_answers(response: OffsetForLeaderEpochResponse) -> Mapping[TopicPartition, Any]:
    """What the leader has answered, by partition."""
    return {TopicPartition(topic.topic, each.partition): each for topic in response.topics for each in topic.partitions}


class EpochEnds(LeaderRequests):
    """Asks leaders where epochs end: of each partition, the end of the newest epoch up to the one asked for.

    The answer's offset is -1 where the leader cannot tell.
    """

    api = "OffsetForLeaderEpoch"

    async def ask(self, leader: int, wanted: Mapping[TopicPartition, int]) -> Answers:
        """One try. Whatever goes wrong is an error of the partitions.

        Arguments:
            wanted: the epoch of each.
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
