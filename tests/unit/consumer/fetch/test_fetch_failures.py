"""What goes wrong while fetching: pauses, words in the log, and what the caller hears of it. In virtual time."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

import pytest

from kafka.errors import (
    KafkaConnectionError,
    OffsetOutOfRangeError,
    SaslAuthenticationFailedError,
    UnsupportedVersionError,
    WireFormatError,
)
from unit.consumer.batches import at
from unit.consumer.fake_leader import FetcherHarness, metadata
from unit.consumer.fetch.test_fetcher import play

ID, OTHER_ID = uuid.UUID(int=1), uuid.UUID(int=2)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_topic_that_leaves_the_metadata_while_it_is_fetched_loses_no_answer() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.version, harness.leaders.topic_id = 13, ID
        harness.leaders.metadata = metadata({0: 1}, topic_id=ID)
        harness.leaders.hold = asyncio.Event()
        harness.leaders.ends[0] = 10
        harness.assign(0)
        await asyncio.sleep(0.1)
        assert harness.leaders.requests[0][2].topics[0].topic_id == ID
        harness.leaders.metadata = metadata({})  # a refresh found it deleted, or was given a part only
        harness.leaders.metadata._topics.pop("t", None)
        harness.leaders.hold.set()
        assert len(await harness.read(10)) == 10

    play(scenario, {0: 1})


def test_a_response_for_a_recreated_topic_is_dropped() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.version, harness.leaders.topic_id = 13, ID
        harness.leaders.metadata = metadata({0: 1}, topic_id=ID)
        harness.leaders.hold = asyncio.Event()
        harness.leaders.ends[0] = 10
        harness.assign(0)
        await asyncio.sleep(0.1)
        harness.leaders.metadata = metadata({0: 1}, topic_id=OTHER_ID)
        harness.fetcher.refresh_all()
        harness.leaders.hold.set()
        await asyncio.sleep(0.0005)
        assert harness.buffer.nbytes == 0
        harness.leaders.topic_id = OTHER_ID
        assert len(await harness.read(10)) == 10
        assert harness.leaders.requests[-1][2].topics[0].topic_id == OTHER_ID

    play(scenario, {0: 1})


@pytest.mark.parametrize("code", [70, 71, 106])
def test_sessions_refused_again_and_again_are_asked_for_with_pauses(
    code: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.always = code
        harness.assign(0)
        await asyncio.sleep(20)
        assert 10 < len(harness.leaders.requests) < 60
        harness.leaders.always = None
        harness.leaders.ends[0] = 5
        assert len(await harness.read(5)) == 5
        await asyncio.sleep(1)

    with caplog.at_level(logging.INFO):
        play(scenario, {0: 1})
    assert len(warnings(caplog)) == 1
    assert "fetching from broker 1 failed" in warnings(caplog)[0]
    assert "fetching from broker 1 works again" in caplog.text


def test_repeated_out_of_range_errors_are_reported_with_pauses() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = -1  # no offset is in range
        harness.assign(0, offset=50)
        told = 0
        deadline = asyncio.get_running_loop().time() + 20
        while asyncio.get_running_loop().time() < deadline:
            harness.buffer.take(1)  # which follows the policy
            told += 1
            harness.data.clear()
            await harness.data.wait()
        assert 10 < told < 60
        harness.leaders.ends[0] = 5
        assert len(await harness.read(5)) == 5

    play(scenario, {0: 1}, auto_offset_reset="earliest")


def test_a_seek_overrides_an_unraised_out_of_range_error() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = -1  # no offset is in range
        (state,) = harness.assign(0, offset=50)
        for _ in range(5):
            await harness.data.wait()
            harness.data.clear()
            harness.buffer.take(1)  # which follows the policy
        await asyncio.sleep(0.01)  # the next time is told after a pause
        assert state.fetching.offset is None
        harness.leaders.ends[0] = 5
        harness.seek(state, 0)
        await asyncio.sleep(20)
        harness.leaders.ends[0] = 10
        assert len(await harness.read(10)) == 10

    play(scenario, {0: 1}, auto_offset_reset="earliest")


def test_an_offset_out_of_range_is_reported_at_once_the_first_time() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        started = asyncio.get_running_loop().time()
        (state,) = harness.assign(0, offset=50)
        await harness.data.wait()
        assert asyncio.get_running_loop().time() - started < 0.05
        with pytest.raises(OffsetOutOfRangeError):
            harness.buffer.take(1)
        assert at(state) == 50

    play(scenario, {0: 1}, auto_offset_reset="none")


def named(harness: FetcherHarness, topic_id: uuid.UUID, version: int) -> None:
    """Have new metadata: brokers that are asked by name say in them which topic has the name."""
    harness.leaders.metadata = metadata({0: 1}, topic_id=topic_id)
    harness.leaders.metadata.version = version
    harness.fetcher.refresh_all()


def test_out_of_range_in_another_topic_of_the_same_name_is_ignored() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        named(harness, ID, 1)
        harness.leaders.ends[0] = 50
        (state,) = harness.assign(0, offset=40)
        assert len(await harness.read(10)) == 10
        harness.leaders.errors[0] = [(3, -1), (3, -1)]  # deleted, then created again
        harness.leaders.ends[0] = 3
        harness.fetcher.refresh_all()
        await asyncio.sleep(1)
        assert harness.stale >= 1
        named(harness, ID, 2)  # an answer that was on its way
        await asyncio.sleep(0.3)
        assert list(state.buffer.items) == []
        named(harness, OTHER_ID, 3)
        assert len(await harness.read(3)) == 3
        assert harness.replaced == [state]

    play(scenario, {0: 1}, auto_offset_reset="none")


@pytest.mark.parametrize("refreshed", [True, False])
def test_out_of_range_is_reported_once_the_topic_proves_unchanged_or_stays_unknown(refreshed: bool) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        named(harness, ID, 1)
        harness.leaders.ends[0] = 5
        harness.assign(0, offset=50)
        await asyncio.sleep(0.05)
        assert not harness.data.is_set()
        if refreshed:
            named(harness, ID, 3)
        started = asyncio.get_running_loop().time()
        await harness.data.wait()
        assert asyncio.get_running_loop().time() - started < (1 if refreshed else 20)
        with pytest.raises(OffsetOutOfRangeError):
            harness.buffer.take(1)

    play(scenario, {0: 1}, auto_offset_reset="none")


def test_out_of_range_in_a_topic_requested_by_id_is_reported_at_once() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.version, harness.leaders.topic_id = 13, ID
        named(harness, ID, 1)
        harness.leaders.ends[0] = 5
        started = asyncio.get_running_loop().time()
        harness.assign(0, offset=50)
        await harness.data.wait()
        assert asyncio.get_running_loop().time() - started < 0.05

    play(scenario, {0: 1}, auto_offset_reset="none")


@pytest.mark.parametrize("error", [KafkaConnectionError("gone"), WireFormatError("not a FetchResponse")])
def test_a_broker_that_cannot_be_read_from_is_in_the_log_at_once_and_then_rarely(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.always = error
        harness.assign(0)
        await asyncio.sleep(0.1)
        assert len(warnings(caplog)) == 1
        await asyncio.sleep(45)
        assert len(warnings(caplog)) == 2
        assert harness.failed == []

    play(scenario, {0: 1})
    assert str(error) in warnings(caplog)[0]


@pytest.mark.parametrize("error", [SaslAuthenticationFailedError("no"), UnsupportedVersionError("Fetch")])
def test_errors_that_retries_cannot_fix_reach_the_caller(error: Exception) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.failures = [error]
        harness.assign(0)
        await asyncio.sleep(1)
        assert harness.failed == [error]

    play(scenario, {0: 1})


def test_fetching_continues_if_handling_a_failure_fails_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        def broken(*args: object) -> None:
            raise ValueError("a fault")

        monkeypatch.setattr(harness.fetcher, "fetch_failed", broken)
        harness.leaders.failures = [KafkaConnectionError("gone")]
        harness.leaders.ends[0] = 3
        harness.assign(0)
        assert len(await harness.read(3)) == 3

    play(scenario, {0: 1})
    assert "could not handle the failure of a fetch" in caplog.text


def test_an_error_of_a_partition_that_stays_is_a_warning_and_tried_with_growing_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.errors[0] = [(6, -1)] * 1_000
        harness.assign(0)
        await asyncio.sleep(20)
        assert 10 < 1_000 - len(harness.leaders.errors[0]) < 60
        assert len(warnings(caplog)) == 1
        assert "partition 0 of topic 't' at offset 0 has failed 3 times" in warnings(caplog)[0]
        harness.leaders.errors[0].clear()
        harness.leaders.ends[0] = 3
        assert len(await harness.read(3)) == 3

    play(scenario, {0: 1})


def test_a_leader_that_moves_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.errors[0] = [(6, -1)]
        harness.leaders.ends[0] = 3
        harness.assign(0)
        assert len(await harness.read(3)) == 3

    play(scenario, {0: 1})
    assert warnings(caplog) == []


def test_a_failed_fetch_keeps_the_session_named_so_that_the_broker_replaces_it() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 5
        harness.assign(0)
        await harness.read(5)
        harness.leaders.failures = [KafkaConnectionError("gone")]
        await asyncio.sleep(3)
        new = [request.session_id for _, _, request in harness.leaders.requests if request.session_epoch == 0]
        assert new == [0, 7]

    play(scenario, {0: 1})


def test_a_throttled_client_sends_nothing_until_the_time_is_over() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.throttle_ms = 5_000
        harness.leaders.ends[0] = 100
        harness.assign(0)
        await asyncio.sleep(20)
        assert len(harness.leaders.requests) == 4
        assert len(await harness.read(40)) == 40

    play(scenario, {0: 1})


def test_nothing_evades_a_throttle_by_way_of_the_other_connection() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.throttle_ms = 5_000
        harness.leaders.ends[0] = 100
        (state,) = harness.assign(0)
        await asyncio.sleep(1)
        for offset in (20, 40, 60):
            harness.seek(state, offset)
            await asyncio.sleep(0.5)
        assert len(harness.leaders.requests) == 1
        await asyncio.sleep(5)
        assert [harness.named(index) for index in range(2)] == [{0: 0}, {0: 60}]

    play(scenario, {0: 1})


@pytest.mark.parametrize(("version", "seconds"), [(7, 0), (8, 45)])
def test_a_broker_that_has_waited_itself_is_not_waited_for_again(version: int, seconds: int) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.version = version
        harness.leaders.throttle_ms = 5_000
        harness.leaders.ends[0] = 100
        harness.assign(0)
        begun = asyncio.get_running_loop().time()
        await harness.read(100, patience_s=60)
        assert asyncio.get_running_loop().time() - begun == pytest.approx(seconds, abs=1)

    play(scenario, {0: 1})


def test_the_frame_of_an_answer_that_is_not_wanted_any_more_goes_back() -> None:
    class Frame:
        released = 0

        def release(self) -> None:
            self.released += 1

    async def scenario(harness: FetcherHarness) -> None:
        frame: Any = Frame()
        harness.leaders.frame = frame
        harness.leaders.ends[0] = 10
        harness.leaders.hold = asyncio.Event()
        (state,) = harness.assign(0)
        await asyncio.sleep(0.1)
        harness.subscription.assign_from_user([])
        harness.buffer.discard(state)
        harness.fetcher.forget(state)
        harness.leaders.hold.set()
        await asyncio.sleep(0.01)
        assert harness.buffer.nbytes == 0
        assert frame.released == 1

    play(scenario, {0: 1})


def test_failures_with_answers_between_them_are_not_counted_together(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.assign(0)
        for end in range(1, 6):
            harness.leaders.errors[0] = [(6, -1)]
            await asyncio.sleep(1)
            harness.leaders.ends[0] = end
            assert await harness.read(1) == [(0, end - 1)]

    play(scenario, {0: 1})
    assert warnings(caplog) == []


@pytest.mark.parametrize(("leader", "noted"), [(0, True), (-1, False)])
def test_a_leader_that_a_broker_names_is_noted(leader: int, noted: bool) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        (state,) = harness.assign(0)
        harness.leaders.errors[0] = [(6, leader)]
        await asyncio.sleep(1)
        assert harness.leaders.noted == ([(state.tp, leader, 9)] if noted else [])

    play(scenario, {0: 1})
