"""The OffsetForLeaderEpoch request: asks a leader up to which offset its log has a leader epoch (KIP-320)."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafka.consumer.position.leader_question import Answers, LeaderQuestion
from kafka.errors import UnknownTopicOrPartitionError, for_code
from kafka.structs import OffsetAndTimestamp, TopicPartition
from kafka.wire.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

FOR_CONSUMERS_SINCE = 3
"""Earlier versions are for brokers: consumers are not authorized for them."""
_CONSUMER = -1
"""Replica id of those who are no replica."""


class AskedEpoch(NamedTuple):
    """A question about a partition.

    Arguments:
        tp: the partition.
        current: the epoch of its leader, as the metadata have it: another broker refuses; -1: not known.
        epoch: whose end is asked for.
    """

    tp: TopicPartition
    current: int
    epoch: int


def epoch_request(questions: Iterable[AskedEpoch]) -> OffsetForLeaderEpochRequest:
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


class EpochEnds(LeaderQuestion):
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
        request = epoch_request(AskedEpoch(tp, epoch_of(tp), epoch) for tp, epoch in wanted.items())
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
