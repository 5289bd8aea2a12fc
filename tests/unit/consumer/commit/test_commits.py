"""Commits that nobody waits for, while the coordinator refuses some: the group's offset never goes back."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from fakes.cluster import Call
from kafka.consumer.buffer.partition_state import FetchPosition
from kafka.errors import RetriableCommitFailedError
from kafka.structs import OffsetAndMetadata
from unit.consumer.consumer_harness import T0, ConsumerHarness, commit_answer, play


class Coordinator:
    """Keeps the offset of one partition, as far as it takes what it is asked."""

    def __init__(self, harness: ConsumerHarness) -> None:
        self.codes: list[int] = []
        """What the next commits are refused with; 0: they are not."""
        self.asked: list[int] = []
        self.kept: list[int] = []
        harness.cluster.serve("OffsetCommit", self)

    def __call__(self, call: Call) -> Any:
        offset = call.request.topics[0].partitions[0].committed_offset
        code = self.codes.pop(0) if self.codes else 0
        self.asked.append(offset)
        if not code:
            self.kept.append(offset)
        return commit_answer(call, code)


def go_to(harness: ConsumerHarness, offset: int) -> None:
    harness.core.seek(harness.core.subscription.assigned(T0), offset)


@pytest.mark.parametrize("code", [14, 15, 16])
def test_an_async_commit_does_not_overwrite_a_newer_one(code: int) -> None:
    told: list[tuple[int, Any]] = []

    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        coordinator.codes = [code]
        for offset in (5, 7):
            harness.core.commits.commit_later(
                {T0: OffsetAndMetadata(offset)}, lambda offsets, error: told.append((offsets[T0].offset, error)), 60_000
            )
            await asyncio.sleep(0.02)
        await asyncio.sleep(60)
        await harness.poll()
        assert coordinator.asked == [5, 7]

    play(scenario, group_id="g", enable_auto_commit=False)
    (first, error), second = told
    assert (first, second) == (5, (7, None))
    assert isinstance(error, RetriableCommitFailedError)


async def poll_for(harness: ConsumerHarness, seconds: float) -> None:
    """As a program that polls ten times a second."""
    for _ in range(int(seconds * 10)):
        await asyncio.sleep(0.1)
        await harness.poll()


def test_a_refused_automatic_commit_is_repeated_with_current_positions() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        coordinator.codes = [16]
        harness.core.assign([T0])
        go_to(harness, 10)
        await poll_for(harness, 5.2)
        assert coordinator.asked == [10]
        go_to(harness, 20)
        await poll_for(harness, 1)  # long before the next interval is over
        assert coordinator.asked == [10, 20]
        assert coordinator.kept == [20]
        await poll_for(harness, 5)
        assert coordinator.kept == [20, 20]

    play(scenario, group_id="g", auto_commit_interval_ms=5_000, retry_backoff_ms=500)


def test_an_interval_is_the_longest_pause_between_automatic_commits() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        coordinator.codes = [16] * 1_000
        harness.core.assign([T0])
        go_to(harness, 10)
        await poll_for(harness, 60)
        assert 20 < len(coordinator.asked) < 100

    play(scenario, group_id="g", auto_commit_interval_ms=3_000, retry_backoff_ms=100, retry_backoff_max_ms=60_000)


def test_automatic_commits_that_fail_are_logged_once_and_when_they_work_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        coordinator.codes = [28] * 20 + [29] * 3
        harness.core.assign([T0])
        go_to(harness, 10)
        await poll_for(harness, 26)
        assert len(coordinator.kept) >= 2

    play(scenario, group_id="g", auto_commit_interval_ms=1_000)
    refused, unauthorized, *over = [line for line in caplog.messages if "auto" in line]
    assert refused.startswith("auto commit of 1 offsets failed: [Error 28] InvalidCommitOffsetSizeError")
    assert unauthorized.startswith("auto commit of 1 offsets failed: [Error 29] TopicAuthorizationFailedError")
    assert over == [
        "automatic commits work again after InvalidCommitOffsetSizeError",
        "automatic commits work again after TopicAuthorizationFailedError",
    ]


def test_a_commit_that_is_waited_for_goes_on_until_the_coordinator_knows_the_topic() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        coordinator.codes = [3, 3]
        await harness.core.commits.commit({T0: OffsetAndMetadata(5)}, 60_000)
        assert coordinator.kept == [5]

    play(scenario, group_id="g", enable_auto_commit=False)


def test_a_single_failure_while_the_coordinator_moves_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        harness.core.assign([T0])
        go_to(harness, 10)
        for codes, lines in (([16], 0), ([16, 16], 2)):
            coordinator.codes = codes
            await poll_for(harness, 10)
            assert len([line for line in caplog.messages if "auto" in line]) == lines
            caplog.clear()

    play(scenario, group_id="g", auto_commit_interval_ms=5_000)


def test_positions_are_committed_until_closing_and_not_after() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        coordinator = Coordinator(harness)
        coordinator.codes = [16] * 2
        harness.core.assign([T0])
        harness.core.buffer.discard(harness.core.subscription.assigned(T0), FetchPosition(10))
        await poll_for(harness, 0.5)
        await harness.driver.close(autocommit=True, timeout_ms=10_000)  # which waits, and so tries again
        assert coordinator.kept == [10]
        await asyncio.sleep(60)
        assert coordinator.kept == [10]

    play(scenario, group_id="g", auto_commit_interval_ms=300)


def test_a_known_result_implies_queued_callbacks() -> None:
    """A thread that waits for the future may run, and close the consumer, before the loop does anything else."""
    calls: list[Any] = []

    class Thread:
        """Waits in `get`."""

        def __init__(self, harness: ConsumerHarness) -> None:
            self.harness = harness

        def release(self) -> None:
            while (call := self.harness.core.commits.next_call()) is not None:
                call()

    async def scenario(harness: ConsumerHarness) -> None:
        offsets = {T0: OffsetAndMetadata(5)}
        future = harness.core.commits.commit_later(offsets, lambda *news: calls.append(news), 60_000)
        future.add_callback(calls.append)
        future._done.add(Thread(harness))
        await asyncio.sleep(1)
        assert calls == [(offsets, None), None]

    play(scenario, group_id="g", enable_auto_commit=False)
