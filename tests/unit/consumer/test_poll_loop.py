"""What a consumer's caller sees while brokers fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.cluster import SILENCE, Call
from kafka.consumer.position.special_timestamps import LATEST
from kafka.errors import (
    CommitFailedError,
    InvalidCommitOffsetSizeError,
    KafkaConnectionError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NoOffsetForPartitionError,
    TopicAuthorizationFailedError,
)
from kafka.structs import OffsetAndMetadata
from unit.consumer.consumer_harness import T0, T1, ConsumerHarness, commit_answer, play
from unit.virtual_loop import simulate


def test_a_silent_leader_does_not_keep_the_records_of_others_waiting() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.ends.silent = {2}
        harness.core.assign([T0, T1])
        assert await harness.poll(1_000) == {0: list(range(10))}
        harness.core.seek(harness.core.subscription.assigned(T0), 5)
        assert await harness.poll(1_000) == {0: [5, 6, 7, 8, 9]}
        harness.ends.silent = set()
        assert await harness.poll(60_000) == {1: list(range(10))}

    play(scenario)


def test_a_refused_partition_raises_repeatedly_while_others_are_read() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.ends.errors = {1: 29}
        harness.core.assign([T0, T1])
        read: list[int] = []
        refused = 0
        for _ in range(20):
            try:
                read += (await harness.poll(1_000)).get(0, [])
            except TopicAuthorizationFailedError:
                refused += 1
        assert read == list(range(10))
        assert refused >= 3
        with pytest.raises(TopicAuthorizationFailedError):
            await harness.core.position(T1, 5_000)
        assert await harness.core.position(T0, 5_000) == 10

    play(scenario)


def test_a_position_is_looked_for_as_long_as_it_may_take() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.ends.silent = {1, 2}
        harness.core.assign([T0])
        begun = asyncio.get_running_loop().time()
        with pytest.raises(KafkaTimeoutError, match="was not found within 5000 ms"):
            await harness.core.position(T0, 5_000)
        assert asyncio.get_running_loop().time() - begun == pytest.approx(5)
        harness.ends.silent = set()
        await harness.poll(60_000)
        assert await harness.core.position(T0, 0) == 10

    play(scenario)


def test_a_position_timeout_names_the_cause() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.ends.errors = dict.fromkeys(range(3), LeaderNotAvailableError.errno)
        harness.core.assign([T0])
        with pytest.raises(KafkaTimeoutError, match=r"within 5000 ms; meanwhile .* failed: .*LeaderNotAvailableError"):
            await harness.core.position(T0, 5_000)

    play(scenario)


def test_closing_waits_for_a_slow_commit() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        told: list[Any] = []

        async def slowly(call: Call) -> Any:
            await asyncio.sleep(3)
            return commit_answer(call)

        harness.cluster.serve("OffsetCommit", slowly)
        future = harness.core.commits.commit_later({T0: OffsetAndMetadata(5)}, lambda *args: told.append(args), 60_000)
        before = asyncio.get_running_loop().time()
        await harness.driver.close(autocommit=True, timeout_ms=10_000)
        assert asyncio.get_running_loop().time() - before == pytest.approx(3, abs=0.2)
        assert told == [({T0: OffsetAndMetadata(5)}, None)]
        assert future.succeeded()

    play(scenario, group_id="g")


def test_closing_looks_for_a_coordinator_that_is_not_there_yet() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.cluster.coordinator_error = 15
        asyncio.get_running_loop().call_later(2, setattr, harness.cluster, "coordinator_error", 0)
        future = harness.core.commits.commit_later({T0: OffsetAndMetadata(5)}, None, 60_000)
        await harness.driver.close(autocommit=True, timeout_ms=10_000)
        assert future.succeeded()

    play(scenario, group_id="g")


def test_closing_waits_no_longer_than_it_may() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        told: list[Any] = []
        harness.cluster.serve("OffsetCommit", lambda call: SILENCE)
        future = harness.core.commits.commit_later({T0: OffsetAndMetadata(5)}, lambda *args: told.append(args), 60_000)
        before = asyncio.get_running_loop().time()
        await harness.driver.close(autocommit=True, timeout_ms=4_000)
        assert asyncio.get_running_loop().time() - before <= 4.2
        assert isinstance(told[0][1], CommitFailedError)
        assert future.failed()

    play(scenario, group_id="g")


@pytest.mark.parametrize("look", ["nobody", "callback", "errback", "await"])
def test_a_failed_commit_is_logged_if_no_call_raises_it(look: str, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    async def scenario(harness: ConsumerHarness) -> None:
        harness.cluster.serve("OffsetCommit", lambda call: commit_answer(call, error=28))
        callback = (lambda offsets, error: told.append(error)) if look == "callback" else None
        future = harness.core.commits.commit_later({T0: OffsetAndMetadata(5)}, callback, 60_000)
        if look == "errback":
            future.add_errback(told.append)
        if look == "await":
            with pytest.raises(InvalidCommitOffsetSizeError):
                await future
            told.append(future.exception)
        await harness.poll(1_000)

    play(scenario, group_id="g")
    logged = [line for line in caplog.messages if "commit_async of 1 offsets failed" in line]
    assert (len(logged), len(told)) == ((1, 0) if look == "nobody" else (0, 1))
    assert all(isinstance(error, InvalidCommitOffsetSizeError) for error in told)


def test_an_automatic_commit_without_membership_is_skipped_silently(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.subscription.subscribe(["t"])
        harness.core.subscription.assign_from_membership([T0])
        await harness.core.commits.commit_automatically({T0: OffsetAndMetadata(5)}, 1_000)
        assert harness.cluster.requests("OffsetCommit") == []
        with pytest.raises(CommitFailedError):
            await harness.core.commits.commit({T0: OffsetAndMetadata(5)}, 1_000)
        assert harness.core.commits.next_call() is None

    play(scenario, group_id="g", default_offset_commit_callback=lambda *args: told.append(args))
    assert told == []
    assert [line for line in caplog.messages if "auto commit" in line] == []


def test_a_program_that_polls_without_waiting_lets_the_loop_run() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        beats: list[float] = []

        async def beat() -> None:
            while True:
                beats.append(asyncio.get_running_loop().time())
                await asyncio.sleep(0)

        beating = asyncio.create_task(beat())
        for _ in range(100):
            await harness.poll(0)
        assert len(beats) >= 100
        beating.cancel()

    play(scenario)


def test_a_close_that_is_interrupted_closes_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        leaving = asyncio.Event()

        async def hang(timeout_ms: float) -> None:
            leaving.set()
            await asyncio.Event().wait()

        with monkeypatch.context() as patched:
            patched.setattr(harness.core.membership, "close", hang)
            closing = asyncio.create_task(harness.core.close(10_000))
            await leaving.wait()
            assert not harness.cluster.closed
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
        assert harness.cluster.closed

    play(scenario, group_id="g")


def test_a_seek_ends_waiting_for_a_position() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.ends.silent = {1, 2}
        harness.core.assign([T0])
        begun = asyncio.get_running_loop().time()
        waiting = asyncio.ensure_future(harness.core.position(T0, 60_000))
        await asyncio.sleep(1)
        harness.core.seek(harness.core.subscription.assigned(T0), 5)
        assert await waiting == 5
        assert asyncio.get_running_loop().time() - begun == pytest.approx(1)

    play(scenario)


def test_starting_waits_for_the_cluster_unless_it_is_to_go_on_in_the_background() -> None:
    async def scenario() -> None:
        harness = ConsumerHarness()
        harness.cluster.down = set(harness.cluster.broker_ids)
        with pytest.raises(KafkaConnectionError):
            await harness.core.start()
        await harness.core.start(in_background=True)
        await harness.driver.close(autocommit=False, timeout_ms=1_000)

    simulate(scenario)


def test_a_missing_position_raises_unless_the_caller_has_sought() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        core = harness.core
        core.assign([T0, T1])
        await harness.poll()
        core.seek(core.subscription.assigned(T0), 5)
        with pytest.raises(NoOffsetForPartitionError) as raised:
            await harness.poll()
        assert raised.value == NoOffsetForPartitionError([T1])
        await harness.poll()  # and is looked for again
        core.reset(core.subscription.assigned(T1), LATEST)
        await harness.poll(1_000)
        assert await core.position(T1, 1_000) == 100

    play(scenario, auto_offset_reset="none")


def test_partitions_given_up_early_are_not_reported() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0, T1])
        await harness.poll()
        harness.core.assign([])
        assert await harness.poll() == {}

    play(scenario, auto_offset_reset="none")


def test_nothing_is_fetched_of_a_partition_while_it_is_paused() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        def asked() -> int:
            topics = [topic for request in harness.cluster.requests("Fetch") for topic in request.topics]
            return sum(each.partition == 0 for topic in topics for each in topic.partitions)

        harness.core.assign([T0, T1])
        state = harness.core.subscription.assigned(T0)
        await harness.poll(1_000)
        harness.core.pause(state)
        await asyncio.sleep(5)  # the fetch that was on its way is over
        before = asked()
        await asyncio.sleep(60)
        assert asked() == before
        harness.core.resume(state)
        await asyncio.sleep(5)
        assert asked() > before

    play(scenario)


def test_closing_leaves_a_quarter_of_its_time_for_leaving() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.cluster.serve("OffsetCommit", lambda call: SILENCE)
        harness.core.commits.commit_later({T0: OffsetAndMetadata(5)}, None, 60_000)
        before = asyncio.get_running_loop().time()
        await harness.driver.close(autocommit=False, timeout_ms=4_000)
        assert asyncio.get_running_loop().time() - before == pytest.approx(3)

    play(scenario, group_id="g")
