"""Asking leaders where leader epochs end in their logs, against a cluster in memory and in virtual time."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from fakes.cluster import Call, FakeCluster
from kafka.cluster import Backoff, RetryPolicy, anything_unexpected
from kafka.consumer.position.offset_requests import EpochEnds
from kafka.consumer.position.offset_search import OffsetsForTimes
from kafka.errors import TopicAuthorizationFailedError
from kafka.structs import TopicPartition
from kafka.wire.api.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from unit.virtual_loop import simulate

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Leaders:
    """Two brokers with a partition each, and what they know of epochs.

    Attributes:
        codes: partition to the errors that are answered first.
        ends: epoch and end, by partition.
        asked: node, version, and of each partition number, epoch of the leader and epoch asked for.
    """

    def __init__(self) -> None:
        self.cluster = FakeCluster({"t": 2}, brokers=2)
        self.cluster.publish(["t"])
        self.cluster.serve("OffsetForLeaderEpoch", self.answer)
        self.codes: dict[int, list[int]] = {}
        self.ends = {0: (3, 17), 1: (4, 20)}
        self.asked: list[tuple[int, int, list[tuple[int, int, int]]]] = []

    def answer(self, call: Call) -> Any:
        topic = call.request.topics[0]
        asked = [(each.partition, each.current_leader_epoch, each.leader_epoch) for each in topic.partitions]
        self.asked.append((call.node_id, call.version, asked))
        answers = []
        for number, _, _ in asked:
            code = self.codes[number].pop(0) if self.codes.get(number) else 0
            epoch, end = (-1, -1) if code else self.ends[number]
            answers.append(EpochEndOffset(error_code=code, partition=number, leader_epoch=epoch, end_offset=end))
        return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(topic=topic.topic, partitions=answers)])

    async def find(self, epochs: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
        policy = RetryPolicy(Backoff(100, 1_000), logging.getLogger("test"), fatal=anything_unexpected)
        try:
            found = await OffsetsForTimes(EpochEnds(self.cluster, 1_000), policy).find(epochs, 10_000)
        finally:
            await self.cluster.close()
        return {tp: each.offset for tp, each in found.items()}


def test_each_leader_is_asked_once_with_its_expected_epoch() -> None:
    async def scenario() -> None:
        leaders = Leaders()
        leaders.ends[1] = (-1, -1)
        assert await leaders.find({T0: 3, T1: 4}) == {T0: 17, T1: -1}
        assert sorted(leaders.asked) == [(1, 4, [(0, 1, 3)]), (2, 4, [(1, 1, 4)])]

    simulate(scenario)


@pytest.mark.parametrize("code", [6, 74, 75], ids=["no leader any more", "fenced", "a leader that lags behind"])
def test_a_leader_that_is_none_is_asked_again_with_fresh_metadata(code: int) -> None:
    async def scenario() -> None:
        leaders = Leaders()
        leaders.codes[0] = [code]
        leaders.cluster.lead(0, 2, 7)
        assert await leaders.find({T0: 3}) == {T0: 17}
        assert leaders.asked == [(1, 4, [(0, 1, 3)]), (2, 4, [(0, 7, 3)])]

    simulate(scenario)


def test_errors_that_retries_cannot_fix_are_raised() -> None:
    async def scenario() -> None:
        leaders = Leaders()
        leaders.codes[0] = [29]
        with pytest.raises(TopicAuthorizationFailedError, match="t"):
            await leaders.find({T0: 3})

    simulate(scenario)
