"""A question about offsets for the leaders of partitions: which of them to ask, and what one try gave."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple

from kafka.cluster import BrokerRequests
from kafka.errors import (
    InvalidTopicError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from kafka.structs import OffsetAndTimestamp, TopicPartition

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


class LeaderQuestion:
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
