"""When automatic commits are due, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kafka.cluster import Backoff
from kafka.consumer.commit.commits import AutoCommitSchedule
from kafka.errors import CommitFailedError, RetriableCommitFailedError
from unit.virtual_loop import simulate


class ScheduleHarness:
    """A schedule of five seconds, and when it told the caller that a commit is due, from its beginning on."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.told: list[float] = []
        self.schedule = AutoCommitSchedule(5_000, Backoff(1_000, 60_000), self._tell)

    def _tell(self) -> None:
        self.told.append(round(self.loop.time() - self.began, 6))


def play(scenario: Callable[[ScheduleHarness], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario(ScheduleHarness())

    simulate(main)


def test_one_is_due_after_each_interval_and_is_taken_once() -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        harness.schedule.start()
        assert not harness.schedule.take_due()
        await asyncio.sleep(4.999)
        assert not harness.schedule.take_due()
        await asyncio.sleep(0.002)
        assert [harness.schedule.take_due(), harness.schedule.take_due()] == [True, False]
        await asyncio.sleep(11)
        assert harness.told == [5.0, 10.0, 15.0]

    play(scenario)


def test_an_interval_of_nothing_leaves_the_loop_time_for_others() -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        schedule = AutoCommitSchedule(0, Backoff(1_000, 60_000), harness._tell)
        schedule.start()
        await asyncio.sleep(0.25)
        schedule.failed(RetriableCommitFailedError("once"), 1)
        await asyncio.sleep(0.2)
        assert harness.told == [0.1, 0.2, 0.35, 0.45]

    play(scenario)


def test_an_interval_may_be_shorter_than_the_substitute_for_0() -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        AutoCommitSchedule(20, Backoff(1_000, 60_000), harness._tell).start()
        await asyncio.sleep(0.05)
        assert harness.told == [0.02, 0.04]

    play(scenario)


def test_none_is_due_before_the_start_and_after_the_end() -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        harness.schedule.failed(RetriableCommitFailedError("early"), 1)
        await asyncio.sleep(60)
        assert harness.told == []
        harness.schedule.start()
        await asyncio.sleep(1)
        harness.schedule.stop()
        harness.schedule.failed(RetriableCommitFailedError("late"), 1)
        await asyncio.sleep(60)
        assert harness.told == []

    play(scenario)


def test_one_that_failed_and_may_pass_is_due_again_after_a_pause_no_longer_than_the_interval() -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        harness.schedule.start()
        harness.schedule.failed(RetriableCommitFailedError("once"), 1)
        await asyncio.sleep(2)
        (first,) = harness.told
        assert 0.8 <= first <= 1.2
        for _ in range(20):
            harness.schedule.failed(RetriableCommitFailedError("again"), 1)
        await asyncio.sleep(5.001)
        assert harness.told == [first, 7.0]

    play(scenario)


def test_one_that_failed_for_good_waits_for_the_interval() -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        harness.schedule.start()
        await asyncio.sleep(1)
        harness.schedule.failed(CommitFailedError(), 1)
        await asyncio.sleep(9.5)
        assert harness.told == [5.0, 10.0]

    play(scenario)


def test_success_resets_the_pause_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def scenario(harness: ScheduleHarness) -> None:
        harness.schedule.start()
        for _ in range(4):
            harness.schedule.failed(RetriableCommitFailedError("again"), 1)
        for _ in range(2):
            harness.schedule.succeeded()
        harness.schedule.failed(RetriableCommitFailedError("once"), 1)
        await asyncio.sleep(2)
        assert len(harness.told) == 1
        assert harness.told[0] <= 1.2

    play(scenario)
    warning, over = caplog.messages
    assert warning.startswith("auto commit of 1 offsets failed: ")
    assert over == "automatic commits work again after RetriableCommitFailedError"


def test_one_that_fails_for_good_is_in_the_health_and_the_last_one_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: ScheduleHarness) -> None:
        backoff = Backoff(1_000, 60_000)
        schedule = AutoCommitSchedule(5_000, backoff, harness._tell)
        for _ in range(3):
            schedule.failed(CommitFailedError("others subscribe"), 1)
        (failing,) = backoff.current_failures.failing()
        assert (failing.what, failing.text, failing.in_a_row) == ("automatic commits", "others subscribe", 3)
        assert len(caplog.records) == 1
        schedule.failed(CommitFailedError("others subscribe"), 1, is_last=True)
        assert len(caplog.records) == 2
        schedule.succeeded()
        assert not backoff.current_failures.failing()

    play(scenario)
