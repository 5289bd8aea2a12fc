"""What a new leader is asked before a partition is fetched on (KIP-320). In virtual time."""

from __future__ import annotations

import asyncio
import logging
import uuid

import pytest

from kafka.consumer.buffer.partition_state import FetchPosition
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, TopicAuthorizationFailedError, UnsupportedVersionError
from unit.consumer.fake_leader import FetcherHarness, metadata
from unit.consumer.fetch.test_fetcher import play

FENCED, UNKNOWN_EPOCH, UNAUTHORIZED = 74, 75, 29


async def read_ten(harness: FetcherHarness) -> None:
    """Ten records of epoch 0 have been fetched from broker 1 and handed out."""
    harness.leaders.ends[0] = 10
    harness.assign(0)
    assert len(await harness.read(10)) == 10


def elect(harness: FetcherHarness, leader: int = 2, epoch: int = 1) -> None:
    """Another leader, as the metadata have it."""
    harness.leaders.metadata = metadata({0: leader}, epoch=epoch)
    harness.fetcher.refresh_all()


def fetched_from(harness: FetcherHarness) -> list[tuple[int, int, int]]:
    """Broker, offset and leader epoch of each request that names the partition."""
    return [
        (node, each.fetch_offset, each.current_leader_epoch)
        for node, _, request in harness.leaders.requests
        for topic in request.topics
        for each in topic.partitions
    ]


def test_a_new_leader_is_asked_before_it_is_fetched_from() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        assert harness.leaders.epochs_asked == []
        elect(harness)
        await asyncio.sleep(0)
        assert (2, 10, 1) not in fetched_from(harness)
        harness.leaders.ends[0] = 15
        assert await harness.read(5) == [(0, offset) for offset in range(10, 15)]
        assert harness.leaders.epochs_asked == [(2, {0: (1, 0)})]
        assert (2, 10, 1) in fetched_from(harness)
        assert harness.divergences == []

    play(scenario, {0: 1})


def test_a_leader_is_asked_once_for_all_partitions_and_once_an_epoch() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends.update({0: 10, 1: 10, 2: 10})
        harness.assign(0, 1, 2)
        await harness.read(30)
        harness.leaders.metadata = metadata({0: 2, 1: 2, 2: 1}, epoch=1)
        harness.fetcher.refresh_all()
        harness.fetcher.refresh_all()
        await asyncio.sleep(10)
        harness.fetcher.refresh_all()
        await asyncio.sleep(10)
        assert sorted(harness.leaders.epochs_asked) == [(1, {2: (1, 0)}), (2, {0: (1, 0), 1: (1, 0)})]

    play(scenario, {0: 1, 1: 1, 2: 1})


def test_a_position_without_an_epoch_is_not_asked_about() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 10
        harness.assign(0, offset=5)
        elect(harness, epoch=3)
        assert len(await harness.read(5)) == 5
        assert harness.leaders.epochs_asked == []

    play(scenario, {0: 1})


def test_a_committed_position_of_an_older_epoch_is_asked_about_before_the_first_fetch() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 10
        harness.leaders.metadata = metadata({0: 1}, epoch=4)
        (state,) = harness.assign(0)
        harness.seek(state, 5, leader_epoch=2)
        assert len(await harness.read(5)) == 5
        assert harness.leaders.epochs_asked == [(1, {0: (4, 2)})]

    play(scenario, {0: 1})


def test_a_position_of_the_leaders_own_epoch_is_not_asked_about() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 10
        harness.leaders.metadata = metadata({0: 1}, epoch=4)
        (state,) = harness.assign(0)
        harness.seek(state, 5, leader_epoch=4)
        assert len(await harness.read(5)) == 5
        assert harness.leaders.epochs_asked == []

    play(scenario, {0: 1})


@pytest.mark.parametrize(
    ("answer", "end"), [((0, 7), FetchPosition(7, 0)), ((-1, -1), None), ((-1, 7), None), ((0, -1), None)]
)
def test_a_truncated_log_is_reported_and_not_fetched(answer: tuple[int, int], end: FetchPosition | None) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_ends[0] = answer
        elect(harness)
        await asyncio.sleep(20)
        (told,) = harness.divergences
        assert (told.position, told.end) == (FetchPosition(10, 0), end)
        assert told.generation == told.state.generation
        assert [each for each in fetched_from(harness) if each[0] == 2] == []
        harness.leaders.ends[0] = 20
        harness.seek(told.state, 7)
        assert len(await harness.read(13)) == 13

    play(scenario, {0: 1})


def test_an_older_epoch_that_goes_as_far_as_the_position_is_no_truncation() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.ends[0] = 10
        harness.leaders.metadata = metadata({0: 1}, epoch=4)
        (state,) = harness.assign(0)
        harness.leaders.epoch_ends[0] = (1, 10)  # nothing was written in epoch 2, under which the end was looked up
        harness.seek(state, 10, leader_epoch=2)
        await asyncio.sleep(1)
        assert harness.divergences == []
        assert state.fetching.leader_epoch == 1
        named = [p for _, _, request in harness.leaders.requests for t in request.topics for p in t.partitions]
        assert named[-1].last_fetched_epoch == 1

    play(scenario, {0: 1})


@pytest.mark.parametrize("trouble", [FENCED, UNKNOWN_EPOCH, KafkaConnectionError("gone"), KafkaTimeoutError("late")])
def test_an_error_that_passes_is_followed_by_another_try_and_newer_metadata(
    trouble: int | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_errors = [trouble] * 20
        elect(harness)
        await asyncio.sleep(30)
        assert harness.leaders.epoch_errors == []
        assert harness.stale >= 20
        assert 20 < len(harness.leaders.epochs_asked) < 25
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2

    with caplog.at_level(logging.WARNING):
        play(scenario, {0: 1})
    assert 0 < len(caplog.records) < 5


def test_a_broker_too_old_to_be_asked_is_fetched_from() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_errors = [UnsupportedVersionError("1 to 2")]
        elect(harness)
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2

    play(scenario, {0: 1})


def test_brokers_too_old_are_asked_once_an_epoch() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_errors = [UnsupportedVersionError("1 to 2")] * 10
        elect(harness)
        await asyncio.sleep(5)
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2
        assert len(harness.leaders.epochs_asked) == 1

    play(scenario, {0: 1})


def test_no_leader_is_asked_again_while_a_response_is_outstanding() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        elect(harness)
        await asyncio.sleep(0.0005)
        harness.fetcher.refresh_all()
        await asyncio.sleep(5)
        assert len(harness.leaders.epochs_asked) == 1

    play(scenario, {0: 1})


def test_the_pauses_between_tries_grow() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_errors = [KafkaConnectionError("gone")] * 1000
        elect(harness)
        await asyncio.sleep(30)
        assert 20 < len(harness.leaders.epochs_asked) < 60

    play(scenario, {0: 1})


def test_failures_before_a_success_do_not_count_towards_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        for epoch in range(1, 6):
            harness.leaders.epoch_errors = [KafkaConnectionError("gone")]
            elect(harness, epoch=epoch)
            await asyncio.sleep(5)
        assert len(harness.leaders.epochs_asked) == 10

    with caplog.at_level(logging.WARNING):
        play(scenario, {0: 1})
    assert [each.getMessage() for each in caplog.records] == []


def test_a_partition_given_up_before_validation_is_not_queried() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        elect(harness)
        harness.assign()
        await asyncio.sleep(5)
        assert harness.leaders.epochs_asked == []

    play(scenario, {0: 1})


def test_an_answer_about_the_same_offset_before_a_seek_to_it_is_dropped() -> None:
    """A seek may be what the caller does about the divergence that the answer tells of."""

    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        (state,) = harness.subscription.states()
        harness.leaders.epoch_ends[0] = (0, 7)
        elect(harness)
        await asyncio.sleep(0.0005)
        harness.seek(state, 10, leader_epoch=0)
        await asyncio.sleep(0.0001)
        assert harness.divergences == []
        await asyncio.sleep(5)
        (told,) = harness.divergences
        assert told.generation == state.generation
        assert len(harness.leaders.epochs_asked) == 2

    play(scenario, {0: 1})


def test_questions_end_with_the_fetcher() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        elect(harness)
        await asyncio.sleep(0.0005)
        assert len(harness.leaders.epochs_asked) == 1
        harness.fetcher.close()
        await asyncio.sleep(0)
        assert [each for each in asyncio.all_tasks() if each.get_name() == "check positions"] == []

    play(scenario, {0: 1})


def test_an_authorization_error_reaches_the_caller() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_errors = [UNAUTHORIZED]
        elect(harness)
        with pytest.raises(TopicAuthorizationFailedError):
            await harness.read(1)
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2

    play(scenario, {0: 1})


def test_without_a_leader_nothing_is_sent_until_there_is_one() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        elect(harness, leader=-1)
        await asyncio.sleep(5)
        assert harness.leaders.epochs_asked == []
        assert harness.stale
        elect(harness, epoch=2)
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2
        assert harness.leaders.epochs_asked == [(2, {0: (2, 0)})]

    play(scenario, {0: 1})


def test_an_answer_that_a_seek_or_another_election_has_overtaken_is_dropped() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        (state,) = harness.subscription.states()
        harness.leaders.epoch_ends[0] = (0, 1)
        elect(harness)
        await asyncio.sleep(0.0005)
        harness.seek(state, 5)
        assert len(await harness.read(5)) == 5
        elect(harness, leader=1, epoch=2)
        await asyncio.sleep(0.0005)
        harness.leaders.epoch_ends.clear()
        elect(harness, leader=2, epoch=3)
        await asyncio.sleep(1)
        assert harness.divergences == []
        assert [asked for _, asked in harness.leaders.epochs_asked] == [{0: (1, 0)}, {0: (2, 0)}, {0: (3, 0)}]

    play(scenario, {0: 1})


def test_a_partition_that_is_given_up_is_not_looked_up_again() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.epoch_errors = [FENCED] * 100
        elect(harness)
        await asyncio.sleep(1)
        harness.assign()
        asked = len(harness.leaders.epochs_asked)
        await asyncio.sleep(10)
        assert len(harness.leaders.epochs_asked) == asked

    play(scenario, {0: 1})


def test_the_epoch_of_the_last_record_goes_along_with_the_fetch_to_a_newer_leader() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        elect(harness)
        await asyncio.sleep(2)
        epochs = [
            each.last_fetched_epoch
            for _, _, request in harness.leaders.requests
            for topic in request.topics
            for each in topic.partitions
        ]
        assert epochs == [-1, -1, 0]  # where nothing was read before, within the leader's own epoch, and after it

    play(scenario, {0: 1})


def test_versions_of_fetch_without_that_field_are_served() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.version = 11
        await read_ten(harness)
        elect(harness)
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2
        assert all(
            each.last_fetched_epoch == -1
            for _, _, request in harness.leaders.requests
            for topic in request.topics
            for each in topic.partitions
        )

    play(scenario, {0: 1})


def test_a_diverging_fetch_response_is_reported() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        harness.leaders.diverging[0] = (0, 4)
        elect(harness)
        await asyncio.sleep(5)
        (told,) = harness.divergences
        assert (told.position, told.end) == (FetchPosition(10, 0), FetchPosition(4, 0))

    play(scenario, {0: 1})


def test_a_broker_that_says_so_without_cause_is_asked_with_pauses() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        await read_ten(harness)
        before = len(harness.leaders.requests)
        harness.leaders.diverging[0] = (0, 10)
        elect(harness)
        await asyncio.sleep(10)
        assert harness.divergences == []
        assert before + 5 < len(harness.leaders.requests) < before + 150
        del harness.leaders.diverging[0]
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2

    play(scenario, {0: 1})


def test_epochs_of_a_deleted_topic_mean_nothing_to_another_one_of_its_name() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=1))
        await read_ten(harness)
        (state,) = harness.subscription.states()
        harness.leaders.metadata = metadata({0: 2}, epoch=3, topic_id=uuid.UUID(int=2))
        harness.fetcher.refresh_all()
        assert state.topic_id == uuid.UUID(int=1)  # until the new topic has answered
        harness.leaders.ends[0] = 12
        assert len(await harness.read(2)) == 2
        assert state.topic_id == uuid.UUID(int=2)
        assert harness.leaders.epochs_asked == []

    play(scenario, {0: 1}, on_topic_recreated="continue")


def test_data_of_a_deleted_topic_are_returned_before_the_new_topic_is_read() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=1))
        harness.leaders.ends[0] = 10
        (state,) = harness.assign(0)
        await harness.read(4)
        asked = len(harness.leaders.requests)
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=2))
        harness.fetcher.refresh_all()
        assert harness.replaced == []
        assert await harness.read(6) == [(0, offset) for offset in range(4, 10)]
        await asyncio.sleep(5)
        assert len(harness.leaders.requests) <= asked + 1
        assert state.topic_id == uuid.UUID(int=1)
        assert not harness.buffer.take(1)
        assert harness.replaced == [state]
        assert state.topic_id is None
        assert len(await harness.read(10)) == 10
        assert state.topic_id == uuid.UUID(int=2)

    play(scenario, {0: 1})


def test_a_partition_that_the_coordinator_takes_away_itself_is_not_fetched_in_the_new_topic() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=1))
        await read_ten(harness)
        harness.is_reassigned = True
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=2))
        harness.fetcher.refresh_all()
        harness.leaders.ends[0] = 12
        with pytest.raises(TimeoutError):
            await harness.read(1)
        assert harness.replaced == []
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=1))
        harness.fetcher.refresh_all()  # a broker that lagged behind had told of another topic
        assert len(await harness.read(2)) == 2

    play(scenario, {0: 1})


def test_a_partition_rests_while_the_metadata_may_be_those_of_a_topic_that_was_deleted_before() -> None:
    async def scenario(harness: FetcherHarness) -> None:
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=2))
        await read_ten(harness)
        harness.is_believed = False
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=1))
        harness.fetcher.refresh_all()
        harness.leaders.ends[0] = 12
        with pytest.raises(TimeoutError):
            await harness.read(1, 1)
        assert harness.stale
        harness.leaders.metadata = metadata({0: 1}, epoch=0, topic_id=uuid.UUID(int=2))
        harness.fetcher.refresh_all()
        assert await harness.read(2) == [(0, 10), (0, 11)]
        assert harness.replaced == []

    play(scenario, {0: 1})
