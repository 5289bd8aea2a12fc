"""The two sides of a consumer's core, against a cluster in memory and in virtual time."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from fakes.cluster import SILENCE, Call
from kafka.consumer.core import LEAVE_TIMEOUT_MS
from kafka.consumer.position.special_timestamps import EARLIEST
from kafka.errors import IllegalStateError, TopicAuthorizationFailedError
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire.api.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from unit.consumer.consumer_harness import T0, T1, ConsumerHarness, play
from unit.consumer.scripted_membership import still_loading


def now() -> float:
    return asyncio.get_running_loop().time()


def fetches_of(harness: ConsumerHarness, number: int) -> int:
    """How many requests have asked for a partition so far."""
    topics = [topic for request in harness.cluster.requests("Fetch") for topic in request.topics]
    return sum(each.partition == number for topic in topics for each in topic.partitions)


def test_poll_returns_once_the_consumer_is_closed() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        polling = asyncio.create_task(harness.poll(60_000))
        await asyncio.sleep(1)
        before = now()
        await harness.core.close(1_000)
        assert await polling == {}
        assert now() - before < 10
        with pytest.raises(IllegalStateError, match="closed"):
            await harness.poll()

    play(scenario)


@pytest.mark.parametrize(("given_ms", "left_ms"), [(3_000, 2_000), (60_000, LEAVE_TIMEOUT_MS), (1_000, 100)])
def test_leaving_gets_the_time_that_commits_leave(given_ms: int, left_ms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        told: list[float] = []

        async def leave(timeout_ms: float) -> None:
            told.append(timeout_ms)

        with monkeypatch.context() as patched:
            patched.setattr(harness.core.commits, "close", partial(asyncio.sleep, 1))
            patched.setattr(harness.core.membership, "close", leave)
            await harness.core.close(given_ms)
        assert told == [pytest.approx(left_ms)]

    play(scenario, group_id="g")


def test_nothing_is_looked_for_once_the_consumer_is_closed() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        told: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
        harness.ends.silent = {1, 2}
        harness.core.assign([T0, TopicPartition("missing", 0)])
        await harness.poll()
        await asyncio.sleep(0.1)
        await harness.core.close(1_000)
        refreshes = harness.cluster.refreshes
        await asyncio.sleep(600)
        assert (harness.cluster.refreshes, told) == (refreshes, [])
        assert asyncio.all_tasks() == {asyncio.current_task()}

    play(scenario)


def test_events_are_handled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        core = harness.core
        looks: list[str] = []
        with monkeypatch.context() as patched:
            patched.setattr(core.positions, "resolve", lambda: looks.append("for positions"))
            core.begin_processing_events()
            assert looks == []
            core.assign([T0])
            assert core.events.pending
            for _ in range(3):
                core.begin_processing_events()
            assert (len(looks), core.events.pending) == (1, False)
            core.membership_failed(ValueError("on purpose"))
            with pytest.raises(ValueError, match="on purpose"):
                core.begin_processing_events()
            assert (len(looks), core.events.pending) == (1, True)
            for _ in range(3):  # work goes on with the next call
                core.begin_processing_events()
            assert (len(looks), core.events.pending) == (2, False)

    play(scenario)


def test_polling_without_a_subscription_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        for _ in range(3):
            await harness.poll()

    play(scenario)
    assert len([line for line in caplog.messages if "poll() cannot return anything" in line]) == 1


def test_metadata_of_wanted_topics_are_kept_fresh() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        assert harness.cluster.watched == {"t"}
        harness.core.watch_group_topics(frozenset({"u"}))
        assert harness.cluster.watched == {"t", "u"}
        harness.core.unsubscribe()
        assert harness.cluster.watched == set()

    play(scenario)


def test_unassigned_partitions_are_neither_kept_nor_fetched_nor_awaited() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.ends.silent = {2}
        harness.core.assign([T0, T1])
        await harness.poll()
        await asyncio.sleep(1)
        assert harness.core.buffer.nbytes > 0
        waiting = asyncio.ensure_future(harness.core.position(T1, 60_000))
        await asyncio.sleep(0.1)
        before = now()
        harness.core.assign([])
        assert harness.core.buffer.nbytes == 0
        with pytest.raises(IllegalStateError):
            await waiting
        assert now() - before < 1
        await asyncio.sleep(5)  # the fetch that was on its way is over
        asked = fetches_of(harness, 0)
        await asyncio.sleep(60)
        assert fetches_of(harness, 0) == asked

    play(scenario)


def test_an_offset_out_of_range_is_reset_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        async def fetch(call: Call) -> Any:
            asked = call.request.topics[0].partitions
            if all(each.fetch_offset <= 10 for each in asked):
                return await harness._fetch(call)
            answers = [PartitionData(partition_index=each.partition, error_code=1, records=None) for each in asked]
            return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=answers)])

        harness.cluster.serve("Fetch", fetch)
        harness.core.assign([T0])
        harness.core.seek(harness.core.subscription.assigned(T0), 50)
        assert await harness.poll(60_000) == {0: list(range(10))}

    play(scenario)
    assert "has no offset 50: reading continues at 0" in caplog.text


def test_a_failed_position_lookup_is_retried_by_the_next_poll() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        state = harness.core.subscription.assigned(T0)
        harness.core.seek(state, 10)
        await harness.poll()
        harness.ends.errors = {0: [29]}
        harness.core.buffer.discard(state, None, EARLIEST)
        with pytest.raises(TopicAuthorizationFailedError):
            await harness.core.position(T0, 5_000)
        assert await harness.poll(60_000) == {0: list(range(10))}

    play(scenario)


def test_a_caller_inside_poll_is_not_idle() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        clock = harness.core.clock
        await asyncio.sleep(5)
        assert clock.idle(now()) >= 5
        polling = asyncio.create_task(harness.poll(10_000))
        await asyncio.sleep(4)
        assert clock.idle(now()) == 0
        await polling
        await asyncio.sleep(3)
        assert clock.idle(now()) == pytest.approx(3)

    play(scenario)


@pytest.mark.parametrize(("level", "stable"), [("read_committed", True), ("read_uncommitted", False)])
def test_committed_offsets_wait_for_open_transactions_with_read_committed(level: str, stable: bool) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.cluster.serve("OffsetFetch", still_loading)
        harness.core.assign([T0])
        await harness.poll()
        await asyncio.sleep(1)
        assert {request.require_stable for request in harness.cluster.requests("OffsetFetch")} == {stable}

    play(scenario, group_id="g", isolation_level=level)


def test_a_function_of_the_callers_that_polls_does_not_wait_for_itself() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        told: list[bool] = []

        async def within() -> None:
            told.append(await harness.driver.process_events(0))

        await harness.driver.runner.call(within)
        assert told == [True]

    play(scenario)


def test_partitions_that_a_function_of_the_callers_gives_up_are_committed() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        harness.core.seek(harness.core.subscription.assigned(T0), 5)
        await harness.driver.runner.call(harness.driver.give_up_partitions, 1_000)
        assert len(harness.cluster.requests("OffsetCommit")) == 1

    play(scenario, group_id="g")


def test_an_automatic_commit_takes_no_more_than_half_of_the_time_for_closing() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.cluster.serve("OffsetCommit", lambda call: SILENCE)
        harness.core.assign([T0])
        harness.core.seek(harness.core.subscription.assigned(T0), 5)
        before = now()
        await harness.driver.close(autocommit=True, timeout_ms=4_000)
        assert now() - before == pytest.approx(2)

    play(scenario, group_id="g")


def test_a_consumer_that_is_abandoned_is_closed_at_once_and_its_connections_soon() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        with pytest.warns(ResourceWarning, match="dropped without being closed"):
            harness.driver.abandon()
        assert harness.core.closed
        await asyncio.sleep(2)
        assert harness.cluster.closed

    play(scenario)


@pytest.mark.parametrize(("group", "automatic"), [("g", True), ("g", False), (None, True), (None, False)])
def test_only_positions_of_a_group_that_wants_it_are_committed_automatically(
    group: str | None, automatic: bool
) -> None:
    told: list[Any] = []

    async def scenario(harness: ConsumerHarness) -> None:
        commits, wanted = harness.core.commits, group is not None and automatic
        assert commits.is_automatic is wanted
        await commits.commit_automatically({}, 1_000)
        assert (told, harness.core.events.pending) == ([], False)
        await commits.commit_automatically({T0: OffsetAndMetadata(5)}, 1_000)
        assert len(harness.cluster.requests("OffsetCommit")) == wanted
        assert harness.core.events.pending is wanted
        await harness.poll()
        assert told == ([({T0: OffsetAndMetadata(5)}, None)] if wanted else [])

    options = {"default_offset_commit_callback": lambda *news: told.append(news), "enable_auto_commit": automatic}
    play(scenario, group_id=group, **options)
