"""Reading from a follower near by (KIP-392), in virtual time."""

from __future__ import annotations

import asyncio

from kafka.consumer.fetch.response_handler import PreferredReplicas
from kafka.errors import KafkaConnectionError
from kafka.structs import TopicPartition
from unit.consumer.fake_leader import FetcherHarness, metadata
from unit.consumer.fetch.test_fetcher import play

LEASE_S = 60
"""Of the fetcher of `FetcherHarness`."""


def asked(harness: FetcherHarness) -> int:
    """The broker that was asked last."""
    return harness.leaders.requests[-1][0]


def test_records_are_fetched_from_the_replica_that_the_leader_names() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.leaders.ends[0] = 10
        harness.assign(0)
        assert await harness.read(10) == [(0, offset) for offset in range(10)]
        await asyncio.sleep(20)
        assert [node for node, _, _ in harness.leaders.requests].count(1) == 1
        assert len(harness.leaders.requests) < 60
        assert harness.leaders.requests[0][2].rack_id == "near"

    play(scenario, {0: 1}, client_rack="near")


def test_without_a_rack_the_leader_is_read() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.leaders.ends[0] = 10
        harness.assign(0)
        assert len(await harness.read(10)) == 10
        assert asked(harness) == 1

    play(scenario, {0: 1})


def test_a_lease_is_as_long_as_it_says() -> None:
    replicas, tp, cluster = PreferredReplicas(60_000), TopicPartition("t", 0), metadata({0: 1})
    replicas.prefer(tp, 2, 10.0)
    assert replicas.broker_for(tp, cluster, 69.999) == 2
    assert replicas.broker_for(tp, cluster, 70.0) == 1
    assert not replicas.forget(tp)


def test_the_leader_is_asked_again_when_the_lease_is_over() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.assign(0)
        await asyncio.sleep(LEASE_S / 2)
        harness.fetcher.refresh_all()
        await asyncio.sleep(1)
        assert asked(harness) == 2
        harness.leaders.preferred = {}
        await asyncio.sleep(LEASE_S / 2)
        harness.fetcher.refresh_all()  # as the metadata are renewed, which have the same age
        await asyncio.sleep(1)
        assert asked(harness) == 1

    play(scenario, {0: 1}, client_rack="near")


def test_a_replica_that_fails_is_left_for_the_leader() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.assign(0)
        await asyncio.sleep(1)
        assert asked(harness) == 2
        harness.leaders.preferred = {}
        harness.leaders.failures = [KafkaConnectionError("gone")]
        await asyncio.sleep(2)
        assert asked(harness) == 1
        harness.leaders.ends[0] = 5
        assert len(await harness.read(5)) == 5

    play(scenario, {0: 1}, client_rack="near")


def test_a_replica_that_is_gone_from_the_metadata_is_left_for_the_leader() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 3}  # there are 1 and 2
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await asyncio.sleep(5)
        assert asked(harness) == 1
        assert len(harness.leaders.requests) < 100

    play(scenario, {0: 1}, client_rack="near")


def test_an_offset_that_only_the_replica_lacks_is_read_from_the_leader_without_a_reset() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 10
        harness.leaders.preferred = {0: 2}
        (state,) = harness.assign(0, offset=5)
        generation = state.generation
        harness.leaders.errors[0] = [(1, -1)]
        await asyncio.sleep(0.5)
        harness.leaders.preferred = {}
        assert await harness.read(5) == [(0, offset) for offset in range(5, 10)]
        assert state.generation == generation

    play(scenario, {0: 1}, client_rack="near")


def test_a_new_leader_does_not_end_the_lease() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.assign(0)
        await asyncio.sleep(1)
        harness.leaders.metadata = metadata({0: 1}, epoch=4)
        harness.fetcher.refresh_all()
        await asyncio.sleep(1)
        assert asked(harness) == 2
        assert harness.leaders.requests[-1][2].topics == []  # nothing but the epoch has changed, and that was told

    play(scenario, {0: 1}, client_rack="near")


def test_a_reassigned_partition_starts_with_its_leader() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.assign(0)
        await asyncio.sleep(1)
        assert asked(harness) == 2
        harness.leaders.preferred = {}
        harness.assign()
        await asyncio.sleep(1)
        harness.assign(0)
        await asyncio.sleep(1)
        assert asked(harness) == 1

    play(scenario, {0: 1}, client_rack="near")


def test_a_replica_that_is_none_any_more_has_the_metadata_renewed() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.preferred = {0: 2}
        harness.assign(0)
        await asyncio.sleep(1)
        stale = harness.stale
        harness.leaders.preferred = {}
        harness.leaders.errors[0] = [(6, -1)]
        await asyncio.sleep(1)
        assert harness.stale == stale + 1
        assert asked(harness) == 1

    play(scenario, {0: 1}, client_rack="near")
