"""Which broker a share consumer asks, and what becomes of acknowledgements where leaders move; a scripted cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from fakes.cluster import FakeCluster
from kafka.cluster import Backoff
from kafka.config import parse_share
from kafka.consumer.share.piece import AckBatch, Acknowledgements
from kafka.consumer.share.share_fetcher import ShareFetcher
from kafka.errors import KafkaError, NotLeaderForPartitionError, ShareSessionNotFoundError
from kafka.structs import TopicPartition
from kafka.wire.api import share_acknowledge, share_fetch
from unit.virtual_loop import simulate

TP = TopicPartition("t", 0)


class ShareFetcherHarness:
    """A fetcher on a cluster of two brokers."""

    def __init__(self) -> None:
        self.cluster = FakeCluster({"t": 2}, brokers=2)
        self.fetches: list[tuple[int, Any]] = []
        self.acks: list[tuple[int, Any]] = []
        self.fetch_answer: Callable[[Any], Any] = lambda call: share_fetch.ShareFetchResponse()
        self.cluster.serve("ShareFetch", self._fetch)
        self.cluster.serve("ShareAcknowledge", self._acknowledge)
        options = parse_share({"group_id": "g"}).share
        self.fetcher = ShareFetcher(options, self.cluster, "member", Backoff(100, 1000), lambda: None, self._failed)
        self.errors: list[Exception] = []

    def _failed(self, error: Exception) -> None:
        self.errors.append(error)

    def _fetch(self, call: Any) -> Any:
        self.fetches.append((call.node_id, call.request))
        return self.fetch_answer(call)

    def _acknowledge(self, call: Any) -> Any:
        self.acks.append((call.node_id, call.request))
        topics = [
            share_acknowledge.ShareAcknowledgeTopicResponse(
                topic_id=topic.topic_id,
                partitions=[
                    share_acknowledge.PartitionData(partition_index=one.partition_index) for one in topic.partitions
                ],
            )
            for topic in call.request.topics
        ]
        return share_acknowledge.ShareAcknowledgeResponse(responses=topics)

    @property
    def topic_id(self) -> UUID:
        found = self.cluster.metadata.topic_id("t")
        assert found is not None
        return found

    def leader(self, partition: int = 0) -> int:
        found = self.cluster.metadata.leader_for_partition(TopicPartition("t", partition))
        assert found is not None
        return found

    def said(self, node_id: int, partition: int = 0) -> Acknowledgements:
        acks = Acknowledgements(TopicPartition("t", partition), self.topic_id, node_id)
        acks.batches.append(AckBatch(0, 3, b"\x01"))
        return acks


def play(scenario: Callable[[ShareFetcherHarness], Awaitable[None]]) -> None:
    async def run() -> None:
        setup = ShareFetcherHarness()
        await setup.cluster.start()
        setup.cluster.watch_topics({"t"})
        await setup.cluster.refresh_metadata(["t"])
        try:
            await scenario(setup)
        finally:
            await setup.fetcher.close()

    simulate(run)


def test_each_broker_is_asked_once_for_each_wish() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        setup.fetcher.assign({setup.topic_id: [0, 1]})
        await asyncio.sleep(1)
        assert not setup.fetches, "nobody wants records"
        for _ in range(2):
            setup.fetcher.fetch(100)
            await asyncio.sleep(1)
        by_node: dict[int, list[Any]] = {}
        for node_id, request in setup.fetches:
            by_node.setdefault(node_id, []).append(request)
        assert sorted(by_node) == sorted({setup.leader(0), setup.leader(1)})
        for requests in by_node.values():
            assert [request.share_session_epoch for request in requests] == [0, 1]
            assert [request.max_records for request in requests] == [100, 100]
            assert [len(request.topics) for request in requests] == [1, 0], "the second names nothing new"

    play(scenario)


def test_unassigned_partitions_are_forgotten() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        setup.fetcher.assign({setup.topic_id: [0]})
        setup.fetcher.fetch(1)
        await asyncio.sleep(1)
        setup.fetcher.assign({})
        setup.fetcher.fetch(1)
        await asyncio.sleep(1)
        assert len(setup.fetches) == 1
        assert setup.fetcher.assignment() == set()

    play(scenario)


def test_acknowledgements_of_an_old_leader_fail_at_once() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        acks = setup.said(3 - setup.leader())
        setup.fetcher.send([acks])
        assert acks.done
        assert isinstance(acks.error, NotLeaderForPartitionError)
        assert not setup.acks

    play(scenario)


def test_acknowledgements_without_a_session_fail() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        acks = setup.said(setup.leader())
        setup.fetcher.send([acks])
        await setup.fetcher.outcome([acks], 5000)
        assert isinstance(acks.error, ShareSessionNotFoundError)
        assert not setup.acks

    play(scenario)


def test_two_that_wait_for_one_partition_are_sent_as_one() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        setup.fetcher.assign({setup.topic_id: [0]})
        setup.fetcher.fetch(1)
        await asyncio.sleep(1)
        one, two = setup.said(setup.leader()), setup.said(setup.leader())
        two.batches[:] = [AckBatch(9, 9, b"\x02"), AckBatch(5, 6, b"\x01\x03")]
        setup.fetcher.send([two])
        setup.fetcher.send([one])
        await setup.fetcher.outcome([one, two], 5000)
        assert (one.error, two.error) == (None, None)
        [(_, request)] = setup.acks
        [partition] = request.topics[0].partitions
        found = [(b.first_offset, b.last_offset, b.acknowledge_types) for b in partition.acknowledgement_batches]
        assert found == [(0, 3, [1]), (5, 6, [1, 3]), (9, 9, [2])]

    play(scenario)


def test_acknowledgements_go_along_with_a_fetch_that_is_wanted() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        setup.fetcher.assign({setup.topic_id: [0]})
        setup.fetcher.fetch(1)
        await asyncio.sleep(1)

        def answer(call: Any) -> Any:
            data = share_fetch.PartitionData(partition_index=0, acknowledge_error_code=121, records=b"")
            topic = share_fetch.ShareFetchableTopicResponse(topic_id=setup.topic_id, partitions=[data])
            return share_fetch.ShareFetchResponse(responses=[topic], acquisition_lock_timeout_ms=7)

        setup.fetch_answer = answer
        acks = setup.said(setup.leader())
        setup.fetcher.send([acks], 10)
        await setup.fetcher.outcome([acks], 5000)
        assert acks.error is not None
        assert "INVALID_RECORD_STATE" in repr(acks.error) or getattr(acks.error, "errno", 0) == 121
        assert setup.fetcher.lock_timeout_ms == 7
        assert not setup.acks

    play(scenario)


def test_acknowledgements_missing_from_a_response_fail() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        setup.fetcher.assign({setup.topic_id: [0]})
        setup.fetcher.fetch(1)
        await asyncio.sleep(1)
        acks = setup.said(setup.leader())
        setup.fetcher.send([acks], 10)
        await setup.fetcher.outcome([acks], 5000)
        assert isinstance(acks.error, KafkaError)
        assert "did not report" in str(acks.error)

    play(scenario)


def test_closing_sends_remaining_acknowledgements_and_ends_the_session() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        setup.fetcher.assign({setup.topic_id: [0]})
        setup.fetcher.fetch(1)
        await asyncio.sleep(1)
        acks = setup.said(setup.leader())
        setup.fetcher.send([acks])
        await setup.fetcher.close()
        assert (acks.done, acks.error) == (True, None)
        assert [request.share_session_epoch for _, request in setup.acks][-1] == -1

    play(scenario)


def test_waiting_for_an_outcome_times_out() -> None:
    async def scenario(setup: ShareFetcherHarness) -> None:
        acks = setup.said(setup.leader())
        await setup.fetcher.outcome([acks], 100)
        assert not acks.done

    play(scenario)
