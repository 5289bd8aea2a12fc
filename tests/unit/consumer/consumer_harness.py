"""A whole consumer in virtual time, against a cluster in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fakes.cluster import Call, FakeCluster
from kafka.config import parse_consumer
from kafka.consumer._async.poll_loop import AsyncPollLoop
from kafka.structs import TopicPartition
from kafka.wire.api.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kafka.wire.api.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from unit.consumer.batches import numbered
from unit.consumer.log_ends import LogEnds
from unit.virtual_loop import simulate

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class ConsumerHarness:
    """A driver over two brokers, of which 1 leads partition 0 and 2 leads 1, with ten records in each."""

    def __init__(self, **options: Any) -> None:
        self.cluster = FakeCluster({"t": 2}, brokers=2)
        self.cluster.versions["Fetch"] = (4, 6)  # named topics, no sessions
        self.ends = LogEnds()
        self.cluster.serve("ListOffsets", self.ends)
        self.cluster.serve("Fetch", self._fetch)
        self.cluster.serve("OffsetCommit", commit_answer)
        configs = {"auto_offset_reset": "earliest", **options}
        self.driver = AsyncPollLoop(parse_consumer(configs), self.cluster)
        self.core = self.driver.core

    async def poll(self, timeout_ms: float = 0, most: int = 500) -> dict[int, list[int]]:
        """The offsets of each partition that one poll gives."""

        def take() -> Any:
            return self.core.buffer.take(most)

        with await self.driver.wait_for(timeout_ms, take) as polled:
            read = {piece.state.tp.partition: list(piece.columns.offsets) for piece in polled.pieces}
        polled.commit()
        return read

    @staticmethod
    async def _fetch(call: Call) -> Any:
        topic = call.request.topics[0]
        answers = []
        for asked in topic.partitions:
            records = memoryview(numbered(asked.fetch_offset, 10)) if asked.fetch_offset < 10 else None
            answers.append(
                PartitionData(
                    partition_index=asked.partition, high_watermark=10, last_stable_offset=10, records=records
                )
            )
        if all(each.records is None for each in answers):
            await asyncio.sleep(call.request.max_wait_ms / 1000)
        return FetchResponse(responses=[FetchableTopicResponse(topic=topic.topic, partitions=answers)])


def commit_answer(call: Call, error: int = 0) -> OffsetCommitResponse:
    def done(partitions: Any) -> list[OffsetCommitResponsePartition]:
        return [
            OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error) for each in partitions
        ]

    topics = [
        OffsetCommitResponseTopic(name=each.name, partitions=done(each.partitions)) for each in call.request.topics
    ]
    return OffsetCommitResponse(topics=topics)


def play(scenario: Callable[[ConsumerHarness], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        harness = ConsumerHarness(**options)
        await harness.core.start()
        await scenario(harness)
        await harness.driver.close(autocommit=False, timeout_ms=1_000)
        await asyncio.sleep(1)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    simulate(main)
