"""The ListOffsets request: asks one broker for offsets by time, or for the start or end of partitions."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafka.cluster import BrokerRequests
from kafka.consumer.position.timestamps import MAX_TIMESTAMP
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

_TIMES_SINCE = 1
"""The first version that answers with one offset and its time; v0 gives a list of segments' starts."""
_MAX_TIMESTAMP_SINCE = 7
_CONSUMER = -1
"""Replica id of those who are no replica."""
_OF_TOPIC = (TopicAuthorizationFailedError, InvalidTopicError)
"""Errors whose argument is a set of topics."""


class Answers(NamedTuple):
    """What one try gave: each partition that was asked for is in one of the two.

    Arguments:
        offsets: offset -1 where there is no record at or after the time.
        errors: of any kind, `Exception`s that are none of Kafka's included.
    """

    offsets: dict[TopicPartition, OffsetAndTimestamp]
    errors: dict[TopicPartition, Exception]


class ListOffsets:
    """Asks brokers, one a call, and tells which to ask.

    Arguments:
        client: sends, and knows the leaders.
        isolation_level: for "read_committed" the end of a partition is its last stable offset.
        request_timeout_ms: how long a request may take.
    """

    def __init__(self, client: BrokerRequests, isolation_level: str, request_timeout_ms: float) -> None:
        self._client = client
        self._isolation = int(isolation_level == "read_committed")
        self._request_timeout_ms = request_timeout_ms

    def by_leader(self, timestamps: Mapping[TopicPartition, int]) -> dict[int | None, dict[TopicPartition, int]]:
        """The partitions of each leader; None: those that have none, as far as is known."""
        grouped: dict[int | None, dict[TopicPartition, int]] = {}
        for tp, timestamp in timestamps.items():
            grouped.setdefault(self._client.metadata.leader_for_partition(tp), {})[tp] = timestamp
        return grouped

    async def refresh(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch newer metadata of some partitions; raises what that raises."""
        await self._client.refresh_metadata({tp.topic for tp in partitions})

    def without_leader(self, tp: TopicPartition) -> Exception:
        """Why nobody can be asked about a partition."""
        error = self._client.metadata.topic_errors.get(tp.topic)
        if error is not None and not error.retriable:
            return _of_partition(error, tp)
        if self._client.metadata.partition_metadata(tp) is None:
            return UnknownTopicOrPartitionError(f"topic {tp.topic!r} has no partition {tp.partition}")
        return LeaderNotAvailableError(f"partition {tp.partition} of topic {tp.topic!r}")

    async def ask(self, leader: int, timestamps: Mapping[TopicPartition, int]) -> Answers:
        """One try. Whatever goes wrong is an error of the partitions.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP.
        """
        times = set(timestamps.values())
        min_version = _TIMES_SINCE if max(times) >= 0 else 0
        if MAX_TIMESTAMP in times:
            min_version = _MAX_TIMESTAMP_SINCE
        try:
            response = await self._client.send(
                leader, self._request(timestamps), timeout_ms=self._request_timeout_ms, min_version=min_version
            )
            return _answers(leader, timestamps, response)
        except Exception as error:
            return Answers({}, dict.fromkeys(timestamps, error))

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


def _answers(leader: int, asked: Iterable[TopicPartition], response: ListOffsetsResponse) -> Answers:
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
                errors[tp] = _of_partition(for_code(entry.error_code), tp)
            else:
                del errors[tp]
                offsets[tp] = OffsetAndTimestamp(_offset(entry), entry.timestamp, entry.leader_epoch)
    return Answers(offsets, errors)


def _offset(entry: Any) -> int:
    offset: int = entry.offset
    return entry.old_style_offsets[0] if offset < 0 and entry.old_style_offsets else offset


def _of_partition(error: type[Exception], tp: TopicPartition) -> Exception:
    if issubclass(error, _OF_TOPIC):
        return error({tp.topic})
    return error(f"ListOffsets of partition {tp.partition} of topic {tp.topic!r}")
