"""Which topics were created again, and which partitions came to be, while a consumer looked."""

from __future__ import annotations

import logging
import uuid

import pytest

from kafka.cluster.metadata_snapshot import ClusterMetadata, TopicMetadata
from kafka.consumer.buffer.partition_state import FetchPosition
from kafka.consumer.position.topic_history import TopicHistory
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import TopicRecreatedError, UnknownTopicOrPartitionError
from kafka.structs import PartitionMetadata, TopicPartition

OLD, NEW = uuid.UUID(int=1), uuid.UUID(int=2)


class HistoryHarness:
    """A history, fed with metadata by hand."""

    def __init__(self, policy: str = "reset", pattern: str | None = None, reassigned: bool = False) -> None:
        self.subscription = SubscriptionState()
        self.subscription.subscribe(() if pattern else ["t"], pattern)
        self.errors: list[Exception] = []
        self.count = 0
        self.now = 0.0
        self.reassigned = reassigned
        self.history = TopicHistory(policy, self.subscription, self, lambda: self.now)

    def is_reassigned(self) -> bool:
        return self.reassigned

    def topics_recreated(self, error: Exception) -> None:
        self.errors.append(error)

    def see(
        self, partitions: int | None, topic_id: uuid.UUID | None = OLD, topic: str = "t", *, is_complete: bool = False
    ) -> ClusterMetadata:
        """The newest metadata have a topic with so many partitions; None: it does not exist."""
        self.count = partitions or 0
        numbers = range(partitions or 0)
        known = {number: PartitionMetadata(topic, number, 1, 0, [1], [1], []) for number in numbers}
        metadata = ClusterMetadata(
            topics=[] if partitions is None else [TopicMetadata(topic, topic_id, False, known)],
            topic_errors={topic: UnknownTopicOrPartitionError} if partitions is None else {},
            is_complete=is_complete,
        )
        self.subscription.match(metadata.topics())
        self.history.metadata_changed(metadata)
        return metadata

    def added(self, count: int | None = None, topic: str = "t") -> list[int]:
        numbers = range(self.count if count is None else count)
        return [number for number in numbers if self.history.is_added(TopicPartition(topic, number))]

    def recreated(self, count: int = 5) -> list[int]:
        return [number for number in range(count) if self.history.is_recreated(TopicPartition("t", number))]


def test_topics_present_at_first_are_not_new() -> None:
    setup = HistoryHarness()
    setup.see(2)
    assert setup.added() == setup.recreated() == []


def test_partitions_that_come_later_are_new_until_they_have_a_position() -> None:
    setup = HistoryHarness()
    setup.see(2)
    setup.see(4)
    assert setup.added() == [2, 3]
    setup.see(4)
    setup.history.located(TopicPartition("t", 2))
    assert setup.added() == [3]
    assert setup.recreated() == []


def test_a_partition_that_a_coordinator_assigns_before_the_metadata_have_it_is_new() -> None:
    setup = HistoryHarness()
    setup.see(2)
    assert setup.added(3) == [2]
    setup.history.located(TopicPartition("t", 2))
    setup.see(3)
    assert setup.added(3) == []


def test_a_topic_that_did_not_exist_when_it_was_looked_for_is_new() -> None:
    setup = HistoryHarness()
    setup.see(None)
    setup.see(2)
    assert setup.added() == [0, 1]


def test_a_topic_that_matches_a_pattern_later_is_new_once_all_topics_were_seen() -> None:
    setup = HistoryHarness(pattern="^t")
    setup.see(1)
    setup.see(1, NEW, "t2", is_complete=True)
    assert setup.added(topic="t2") == []
    setup.see(1, uuid.UUID(int=3), "t3", is_complete=True)
    assert setup.added(topic="t3") == [0]


def test_stale_metadata_do_not_revoke_partitions() -> None:
    setup = HistoryHarness()
    setup.see(2)
    setup.see(3)
    metadata = setup.see(2)
    third, fourth = TopicPartition("t", 2), TopicPartition("t", 3)
    assert setup.history.is_still_there(third, metadata)
    assert not setup.history.is_still_there(fourth, metadata)
    assert not setup.history.is_still_there(third, setup.see(2, NEW))


def test_a_broker_that_still_has_the_deleted_topic_is_not_believed() -> None:
    setup = HistoryHarness()
    setup.see(1)
    setup.see(1, NEW)
    setup.history.located(TopicPartition("t", 0))
    setup.see(1)
    assert not setup.history.is_believed("t")
    setup.see(1, NEW)
    assert setup.recreated() == []


def test_a_doubt_ends_if_the_topic_is_recreated_or_unsubscribed() -> None:
    for ends in (lambda setup: setup.see(2, uuid.UUID(int=3)), unsubscribe):
        setup = HistoryHarness()
        for topic_id in (OLD, NEW, OLD):
            setup.see(2, topic_id)
        assert not setup.history.is_believed("t")
        ends(setup)
        assert setup.history.is_believed("t")


def unsubscribe(setup: HistoryHarness) -> None:
    setup.subscription.unsubscribe()
    setup.history.subscription_changed()


def test_a_topic_without_an_id_is_not_known_to_be_the_one_that_it_was() -> None:
    setup = HistoryHarness()
    place = TopicPartition("t", 0)
    assert setup.history.is_still_there(place, setup.see(2, OLD))
    assert not HistoryHarness().history.is_still_there(place, setup.see(2, OLD))
    setup = HistoryHarness()
    assert not setup.history.is_still_there(place, setup.see(2, None))


def test_it_is_believed_once_the_metadata_have_had_it_for_five_seconds() -> None:
    setup = HistoryHarness()
    setup.see(1)
    setup.see(1, NEW)
    assert setup.history.is_believed("t")
    setup.see(1)
    setup.now = 4.9
    setup.see(1)
    assert not setup.history.is_believed("t")
    setup.now = 5.0
    assert setup.history.is_believed("t")
    setup.see(1, uuid.UUID(int=3))
    assert setup.history.is_believed("t")


@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_all_partitions_of_a_topic_that_was_created_again_are_new(
    partitions: int, caplog: pytest.LogCaptureFixture
) -> None:
    setup = HistoryHarness()
    setup.see(2)
    setup.history.located(TopicPartition("t", 0))
    setup.see(None)
    with caplog.at_level(logging.WARNING):
        setup.see(partitions, NEW)
    assert setup.recreated() == setup.added() == list(range(partitions))
    (record,) = caplog.records
    assert record.getMessage() == (
        "topic 't' was deleted and recreated: reading continues at the beginning of the new topic"
    )
    assert setup.errors == []


def test_brokers_without_ids_tell_a_new_topic_by_its_having_been_away() -> None:
    setup = HistoryHarness()
    setup.see(2, None)
    setup.see(None)
    setup.see(2, None)
    assert setup.added() == [0, 1]
    assert setup.recreated() == []


def test_the_policy_raise_tells_the_caller_once_how_far_it_was(caplog: pytest.LogCaptureFixture) -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    setup.history.located(TopicPartition("t", 0))
    setup.see(2, NEW)
    setup.see(2, NEW)
    (error,) = setup.errors
    assert isinstance(error, TopicRecreatedError)
    assert error.topics == {"t"}
    assert "deleted and recreated while it was read: topic 't'" in str(error)
    assert setup.recreated() == [0, 1]


def test_the_error_contains_positions_even_if_partitions_were_given_up() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    first = TopicPartition("t", 0)
    setup.subscription.assign_from_membership([first])
    setup.subscription.assigned(first).go_to(FetchPosition(5), None)
    setup.history.located(first)
    setup.see(None)
    setup.history.given_up(setup.subscription.assign_from_membership([]))
    setup.see(2, NEW)
    (error,) = setup.errors
    assert isinstance(error, TopicRecreatedError)
    assert error.positions == {first: 5}


def test_a_partition_that_went_to_another_member_has_no_position_in_the_error() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    first = TopicPartition("t", 0)
    setup.subscription.assign_from_membership([first])
    setup.subscription.assigned(first).go_to(FetchPosition(5), None)
    setup.history.located(first)
    setup.history.given_up(setup.subscription.assign_from_membership([]))
    setup.see(None)
    setup.see(2, NEW)
    (error,) = setup.errors
    assert isinstance(error, TopicRecreatedError)
    assert error.positions == {}


def test_a_topic_that_was_not_read_is_no_error() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    setup.see(2, NEW)
    assert setup.errors == []


@pytest.mark.parametrize(
    ("reassigned", "text"),
    [(False, "may skip its first records"), (True, "at the group's committed offsets")],
)
def test_the_policy_continue_only_warns(reassigned: bool, text: str, caplog: pytest.LogCaptureFixture) -> None:
    setup = HistoryHarness("continue", reassigned=reassigned)
    setup.see(2)
    setup.history.located(TopicPartition("t", 0))
    with caplog.at_level(logging.WARNING):
        setup.see(2, NEW)
    assert text in caplog.text
    assert setup.recreated() == []
    assert setup.added() == [0, 1]


def test_unsubscribed_topics_are_forgotten() -> None:
    setup = HistoryHarness()
    setup.see(2)
    setup.see(3)
    setup.subscription.subscribe(["u"])
    setup.history.subscription_changed()
    assert setup.added() == []
    setup.subscription.subscribe(["t"])
    setup.see(4, NEW)
    assert setup.added() == []


THIRD = uuid.UUID(int=3)
FIRST = TopicPartition("t", 0)


def give(setup: HistoryHarness, offset: int) -> None:
    """The first partition is assigned and has a position."""
    setup.subscription.assign_from_membership([FIRST])
    setup.subscription.assigned(FIRST).go_to(FetchPosition(offset), None)
    setup.history.located(FIRST)


def take(setup: HistoryHarness) -> None:
    setup.history.given_up(setup.subscription.assign_from_membership([]))


def positions(setup: HistoryHarness) -> dict[TopicPartition, int]:
    error = setup.errors[-1]
    assert isinstance(error, TopicRecreatedError)
    return dict(error.positions)


def test_a_topic_that_was_away_and_is_back_has_its_partitions_given_up_like_any_other() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    give(setup, 5)
    setup.see(None)
    setup.see(2)
    take(setup)
    setup.see(2, NEW)
    assert positions(setup) == {}


def test_a_position_of_a_topic_before_is_none_of_the_one_that_was_read_since() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    give(setup, 5)
    setup.see(None)
    take(setup)
    setup.see(2, NEW)
    assert positions(setup) == {FIRST: 5}
    give(setup, 7)
    take(setup)
    setup.see(2, THIRD)
    assert positions(setup) == {}


def test_the_error_has_positions_of_its_topics_alone() -> None:
    setup = HistoryHarness("raise")
    setup.subscription.subscribe(["t", "u"])
    setup.see(2)
    setup.see(2, THIRD, "u")
    give(setup, 5)
    setup.history.located(TopicPartition("u", 0))
    setup.see(None)
    take(setup)
    setup.see(2, uuid.UUID(int=4), "u")
    assert positions(setup) == {}


@pytest.mark.parametrize("policy", ["reset", "raise"])
def test_reassignment_matters_only_to_the_policy_continue(policy: str, caplog: pytest.LogCaptureFixture) -> None:
    setup = HistoryHarness(policy, reassigned=True)
    setup.see(2)
    setup.history.located(FIRST)
    setup.see(2, NEW)
    assert "reading continues at the beginning of the new topic" in caplog.text


def test_positions_from_before_an_unsubscription_are_forgotten() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    setup.history.located(FIRST)
    unsubscribe(setup)
    setup.subscription.subscribe(["t"])
    setup.see(2)
    setup.see(2, NEW)
    assert setup.errors == []


def test_an_assigned_topic_is_one_that_is_read_before_a_position_is_found() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    setup.subscription.assign_from_membership([FIRST])
    setup.see(2, NEW)
    assert positions(setup) == {}


def test_that_a_topic_was_missing_is_forgotten_with_its_subscription() -> None:
    setup = HistoryHarness()
    setup.see(None)
    unsubscribe(setup)
    setup.subscription.subscribe(["t"])
    setup.see(2)
    assert setup.added() == []


def test_that_a_topic_is_away_is_forgotten_with_its_subscription() -> None:
    setup = HistoryHarness("raise")
    setup.see(2)
    setup.see(None)
    unsubscribe(setup)
    setup.subscription.subscribe(["t"])
    give(setup, 5)
    take(setup)
    setup.see(2)
    setup.see(2, NEW)
    assert positions(setup) == {}


def test_without_ids_a_pattern_topic_that_was_missing_counts_as_recreated() -> None:
    """While it is away no topic matches, and nothing is wanted."""
    setup = HistoryHarness(pattern="^t")
    setup.see(2, None, is_complete=True)
    setup.see(None, None, is_complete=True)
    setup.see(2, None, is_complete=True)
    assert setup.added() == [0, 1]


def test_all_topics_that_another_pattern_matches_at_first_are_old() -> None:
    setup = HistoryHarness(pattern="^t")
    setup.see(2, is_complete=True)
    setup.subscription.subscribe((), "^u")
    setup.history.subscription_changed()
    setup.see(2, NEW, "u", is_complete=True)
    assert setup.added(topic="u") == []


def test_topics_that_match_after_a_full_listing_are_new() -> None:
    setup = HistoryHarness(pattern="^t")
    setup.see(None, topic="x", is_complete=True)
    setup.see(2, topic="x", is_complete=False)
    setup.see(2, is_complete=False)
    assert setup.added() == [0, 1]
