"""The fetcher against brokers in memory, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kafka.consumer.fetch.response_handler import RecordTooLargeError
from kafka.errors import (
    CorruptRecordError,
    KafkaConnectionError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
    UnknownLeaderEpochError,
)
from kafka.wire.api.fetch import PartitionData
from unit.consumer.batches import at
from unit.consumer.fake_leader import FetcherHarness, metadata, partitions_of
from unit.virtual_loop import simulate


def play(scenario: Callable[[FetcherHarness], Awaitable[None]], leaders: dict[int, int], **options: Any) -> None:
    async def main() -> None:
        harness = FetcherHarness(leaders, **options)
        try:
            await scenario(harness)
        finally:
            harness.fetcher.close()

    simulate(main)


def test_everything_is_fetched_in_order_ahead_of_the_caller() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends.update({0: 95, 1: 40})
        states = harness.assign(0, 1)
        await asyncio.sleep(1)
        assert harness.buffer.nbytes > 0
        records = await harness.read(135)
        assert partitions_of(records, 0) == list(range(95))
        assert partitions_of(records, 1) == list(range(40))
        assert [at(state) for state in states] == [95, 40]
        assert [state.fetching.highwater for state in states] == [95, 40]

    play(scenario, {0: 1, 1: 2})


@pytest.mark.slow
def test_an_idle_consumer_sends_two_requests_a_second_to_a_broker() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.assign(0)
        await asyncio.sleep(100)
        assert 190 < len(harness.leaders.requests) < 205

    play(scenario, {0: 1})


def test_a_partition_with_a_full_buffer_is_not_fetched_until_there_is_room() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 1_000
        harness.assign(0, 1)
        await asyncio.sleep(5)
        before = harness.buffer.nbytes
        assert 0 not in harness.named()
        request = harness.leaders.requests[-1][2]  # or it would be left out for as long as that waits
        assert (request.max_wait_ms, request.min_bytes) == (0, 0)
        await asyncio.sleep(5)
        assert harness.buffer.nbytes == before
        harness.leaders.ends[1] = 1
        await asyncio.sleep(0.5)  # the other one goes on
        records = await harness.read(1_001)
        assert partitions_of(records, 0) == list(range(1_000))

    play(scenario, {0: 1, 1: 1}, max_partition_fetch_bytes=1_000)


def test_an_idle_partition_does_not_slow_down_a_busy_one_with_small_bounds() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 2_000
        harness.assign(0, 1)
        loop = asyncio.get_running_loop()
        started = loop.time()
        await harness.read(2_000)
        assert loop.time() - started < 5

    play(scenario, {0: 1, 1: 1}, max_partition_fetch_bytes=100)


def test_a_partition_wanted_during_a_long_poll_does_not_wait_for_its_end() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.assign(0)
        await asyncio.sleep(10)
        harness.leaders.ends[1] = 10
        harness.assign(0, 1)
        started = asyncio.get_running_loop().time()
        await harness.read(10)
        assert asyncio.get_running_loop().time() - started < 0.1
        assert {channel for _, channel, _ in harness.leaders.requests} == {"fetch", "fetch-2"}

    play(scenario, {0: 1, 1: 1}, fetch_max_wait_ms=20_000)


def test_one_assignment_after_the_other_gets_its_data_without_waiting() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        loop = asyncio.get_running_loop()
        harness.leaders.ends.update({0: 10, 1: 10})
        for number in range(20):
            started = loop.time()
            harness.assign(number % 2, offset=9)
            assert await harness.read(1) == [(number % 2, 9)]
            assert loop.time() - started < 0.02
            harness.assign()
            await asyncio.sleep(0.1)

    play(scenario, {0: 1, 1: 1})


def test_a_seek_does_not_wait_for_partitions_that_are_held_up() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        loop = asyncio.get_running_loop()
        harness.leaders.ends.update({0: 1_000, 1: 10})
        _, other = harness.assign(0, 1, offset=0)
        await asyncio.sleep(5)
        asked = len(harness.leaders.requests)
        started = loop.time()
        harness.seek(other, 3)
        while len(harness.leaders.requests) == asked:
            await asyncio.sleep(0.001)
        assert harness.named() == {1: 3}
        assert loop.time() - started < 0.01
        request = harness.leaders.requests[-1][2]
        assert (request.max_wait_ms, request.min_bytes) == (0, 0)

    play(scenario, {0: 1, 1: 1}, max_partition_fetch_bytes=1_000)


def test_forgetting_an_assignment_leaves_the_one_that_came_after_it() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        (before,) = harness.assign(0)
        await harness.read(5)
        harness.subscription.assign_from_membership([])
        harness.subscription.assign_from_membership([before.tp])
        (after,) = harness.subscription.states()
        harness.seek(after, 2)
        harness.fetcher.forget(before)  # comes late: the caller's thread was held up
        assert await harness.read(3) == [(0, 2), (0, 3), (0, 4)]

    play(scenario, {0: 1})


def test_fetching_continues_after_an_unexpected_error(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.leaders.failures = [ZeroDivisionError("a bug")]
        harness.assign(0)
        assert len(await harness.read(5)) == 5

    play(scenario, {0: 1})
    assert "failed unexpectedly" in caplog.text


def test_the_session_is_ended_when_fetching_is() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        harness.fetcher.close()
        _, channel, request = harness.leaders.requests[-1]
        assert (channel, request.session_id, request.session_epoch, request.topics) == ("", 7, -1, [])
        await asyncio.sleep(1)
        assert harness.leaders.requests[-1][2] is request

    play(scenario, {0: 1})


def test_a_seek_during_a_fetch_drops_its_answer() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 100
        (state,) = harness.assign(0)
        await asyncio.sleep(0)
        harness.seek(state, 50)
        assert await harness.read(5) == [(0, offset) for offset in range(50, 55)]

    play(scenario, {0: 1})


def test_a_paused_partition_is_not_fetched() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        (state,) = harness.assign(0)
        state.paused = True
        harness.fetcher.refresh(state)
        harness.leaders.ends[0] = 10
        await asyncio.sleep(5)
        assert harness.buffer.nbytes == 0
        state.paused = False
        harness.fetcher.refresh(state)
        assert len(await harness.read(10)) == 10

    play(scenario, {0: 1})


@pytest.mark.parametrize("error", [NotLeaderForPartitionError, UnknownLeaderEpochError])
def test_a_leader_that_has_moved_is_followed(error: Any) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.errors[0] = [(error.errno, 2)]
        harness.leaders.ends[0] = 10
        harness.assign(0)
        await asyncio.sleep(0.01)
        assert harness.stale
        assert harness.leaders.noted[0][1:] == (2, 9)
        harness.leaders.metadata = metadata({0: 2}, epoch=9)
        harness.fetcher.refresh_all()
        assert len(await harness.read(10)) == 10
        node, _, request = harness.leaders.requests[-1]
        assert node == 2
        assert request.topics[0].partitions[0].current_leader_epoch == 9

    play(scenario, {0: 1})


def test_a_partition_without_a_leader_waits_for_one() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.metadata = metadata({0: -1})
        harness.assign(0)
        await asyncio.sleep(1)
        assert harness.stale
        assert harness.leaders.requests == []
        harness.leaders.metadata = metadata({0: 1})
        harness.leaders.ends[0] = 3
        harness.fetcher.refresh_all()
        assert len(await harness.read(3)) == 3

    play(scenario, {0: 1})


def test_a_broker_that_fails_is_tried_again_with_a_new_session() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        harness.leaders.failures = [KafkaConnectionError("gone")] * 3
        await asyncio.sleep(5)
        harness.leaders.ends[0] = 9
        assert len(await harness.read(4)) == 4
        assert harness.stale >= 3

    play(scenario, {0: 1})


@pytest.mark.parametrize("code", [70, 71, 106])
def test_a_session_lost_by_the_broker_is_restarted(code: int) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        harness.leaders.session_error = code
        await asyncio.sleep(2)
        epochs = [request.session_epoch for _, _, request in harness.leaders.requests]
        assert epochs.count(0) == 2
        harness.leaders.ends[0] = 6
        assert await harness.read(1) == [(0, 5)]

    play(scenario, {0: 1})


def test_an_offset_out_of_range_waits_for_the_caller() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        (state,) = harness.assign(0, offset=50)
        await asyncio.sleep(10)
        assert len(harness.leaders.requests) == 1
        with pytest.raises(OffsetOutOfRangeError) as caught:
            harness.buffer.take(1)
        assert caught.value.args[0] == {state.tp: 50}
        harness.seek(state, 4)
        assert await harness.read(1) == [(0, 4)]

    play(scenario, {0: 1}, auto_offset_reset="none")


def test_errors_for_the_caller_reach_it_and_others_pass() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.leaders.errors[0] = [(29, -1), (56, -1), (-1, -1), (78, -1)]
        (state,) = harness.assign(0)
        with pytest.raises(TopicAuthorizationFailedError):
            await harness.read(1)
        assert len(await harness.read(5)) == 5
        harness.leaders.errors[0] = [(2, -1)] * 10
        harness.seek(state, 0)
        with pytest.raises(CorruptRecordError, match="partition 0 of topic 't' at offset 0"):
            await harness.read(1)

    play(scenario, {0: 1})


def test_partitions_that_go_away_are_forgotten_and_their_answers_dropped() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends.update({0: 500, 1: 500})
        harness.assign(0, 1)
        await harness.read(100)
        harness.assign(1)
        position = at(harness.subscription.states()[0])
        records = await harness.read(200)
        assert {partition for partition, _ in records} == {1}
        assert records[0][1] == position

    play(scenario, {0: 1, 1: 1})


def test_a_fetch_of_many_partitions_names_only_those_that_moved() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.assign(*range(200))
        await asyncio.sleep(2)
        harness.leaders.ends[123] = 10
        await harness.read(10)
        await asyncio.sleep(2)
        assert len(harness.named(0)) == 200
        later = [harness.named(index) for index in range(1, len(harness.leaders.requests))]
        assert [named for named in later if named] == [{123: 10}]

    play(scenario, dict.fromkeys(range(200), 1))


@pytest.mark.parametrize(("nbytes", "error"), [(11, RecordTooLargeError), (12, CorruptRecordError)])
def test_a_length_counts_once_all_of_it_has_come(nbytes: int, error: type[Exception]) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        answer = PartitionData(partition_index=0, high_watermark=9, records=memoryview(bytes(nbytes)))
        harness.leaders._answer = lambda *_: answer  # type: ignore[method-assign]
        harness.assign(0)
        with pytest.raises(error):
            await harness.read(1)

    play(scenario, {0: 1})


@pytest.mark.parametrize(
    ("length", "error", "says"),
    [
        (3, CorruptRecordError, "claims a size of 3 bytes, which is impossible"),
        (-1, CorruptRecordError, "claims a size of -1 bytes"),
        (2_000_000, RecordTooLargeError, "is 2000012 bytes, larger than max_partition_fetch_bytes=1048576"),
        (20_000_000, RecordTooLargeError, "is 20000012 bytes, larger"),
    ],
)
def test_an_invalid_batch_length_raises_the_matching_error(length: int, error: type[Exception], says: str) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        records = memoryview(bytes(8) + length.to_bytes(4, "big", signed=True) + bytes(60))
        answer = PartitionData(partition_index=0, high_watermark=9, records=records)
        harness.leaders._answer = lambda *_: answer  # type: ignore[method-assign]
        harness.assign(0)
        with pytest.raises(error, match=says):
            await harness.read(1)

    play(scenario, {0: 1})


def test_the_request_that_ends_a_session_waits_for_nothing() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        harness.fetcher.close()
        last = harness.leaders.requests[-1][2]
        assert (last.session_epoch, last.max_wait_ms, last.min_bytes) == (-1, 0, 0)

    play(scenario, {0: 1})


@pytest.mark.parametrize(("isolation", "level"), [("read_uncommitted", 0), ("read_committed", 1)])
def test_fetch_requests_contain_the_isolation_level(isolation: str, level: int) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        assert {request.isolation_level for _, _, request in harness.leaders.requests} == {level}

    play(scenario, {0: 1}, isolation_level=isolation)


def test_fetch_requests_contain_the_configured_sizes_and_waits() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        _, _, request = harness.leaders.requests[0]
        assert (request.min_bytes, request.max_wait_ms, request.max_bytes) == (50, 700, 9_000)
        assert request.topics[0].partitions[0].partition_max_bytes == 4_000

    options = {"fetch_min_bytes": 50, "fetch_max_wait_ms": 700, "fetch_max_bytes": 9_000}
    play(scenario, {0: 1}, **options, max_partition_fetch_bytes=4_000)


def test_the_caller_is_woken_by_answers_with_something_in_them_alone() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.assign(0)
        await asyncio.sleep(5)
        assert len(harness.leaders.requests) > 3
        assert not harness.data.is_set()
        harness.leaders.ends[0] = 5
        await asyncio.sleep(1)
        assert harness.data.is_set()

    play(scenario, {0: 1})
