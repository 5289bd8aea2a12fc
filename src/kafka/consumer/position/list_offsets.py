"""The ListOffsets request: asks one broker for offsets by time, or for the start or end of partitions."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.cluster import BrokerRequests
from kafka.consumer.position.leader_question import Answers, LeaderQuestion
from kafka.consumer.position.timestamps import MAX_TIMESTAMP
from kafka.errors import UnknownTopicOrPartitionError, for_code
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


class ListOffsets(LeaderQuestion):
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
