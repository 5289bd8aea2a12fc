"""Which topics were created again, and which partitions came to be, while a consumer looked."""

from __future__ import annotations

import logging
import uuid

import pytest

from kafka.cluster.metadata import ClusterMetadata, TopicMetadata
from kafka.consumer.buffer.partition_state import FetchPosition
from kafka.consumer.position.topic_history import TopicHistory
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import TopicRecreatedError, UnknownTopicOrPartitionError
from kafka.structs import PartitionMetadata, TopicPartition

OLD, NEW = uuid.UUID(int=1), uuid.UUID(int=2)


class Scene:
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


def test_what_is_there_at_first_is_not_new() -> None:
    scene = Scene()
    scene.see(2)
    assert scene.added() == scene.recreated() == []


def test_partitions_that_come_later_are_new_until_they_have_a_position() -> None:
    scene = Scene()
    scene.see(2)
    scene.see(4)
    assert scene.added() == [2, 3]
    scene.see(4)
    scene.history.located(TopicPartition("t", 2))
    assert scene.added() == [3]
    assert scene.recreated() == []


def test_a_partition_that_a_coordinator_assigns_before_the_metadata_have_it_is_new() -> None:
    scene = Scene()
    scene.see(2)
    assert scene.added(3) == [2]
    scene.history.located(TopicPartition("t", 2))
    scene.see(3)
    assert scene.added(3) == []


def test_a_topic_that_did_not_exist_when_it_was_looked_for_is_new() -> None:
    scene = Scene()
    scene.see(None)
    scene.see(2)
    assert scene.added() == [0, 1]


def test_a_topic_that_matches_a_pattern_later_is_new_once_all_topics_were_seen() -> None:
    scene = Scene(pattern="^t")
    scene.see(1)
    scene.see(1, NEW, "t2", is_complete=True)
    assert scene.added(topic="t2") == []
    scene.see(1, uuid.UUID(int=3), "t3", is_complete=True)
    assert scene.added(topic="t3") == [0]


def test_a_broker_that_lags_behind_takes_nothing_away() -> None:
    scene = Scene()
    scene.see(2)
    scene.see(3)
    metadata = scene.see(2)
    third, fourth = TopicPartition("t", 2), TopicPartition("t", 3)
    assert scene.history.is_still_there(third, metadata)
    assert not scene.history.is_still_there(fourth, metadata)
    assert not scene.history.is_still_there(third, scene.see(2, NEW))


def test_a_broker_that_still_has_the_deleted_topic_is_not_believed() -> None:
    scene = Scene()
    scene.see(1)
    scene.see(1, NEW)
    scene.history.located(TopicPartition("t", 0))
    scene.see(1)
    assert not scene.history.is_believed("t")
    scene.see(1, NEW)
    assert scene.recreated() == []


def test_a_doubt_ends_where_the_topic_is_created_once_more_or_no_longer_wanted() -> None:
    for ends in (lambda scene: scene.see(2, uuid.UUID(int=3)), unsubscribe):
        scene = Scene()
        for topic_id in (OLD, NEW, OLD):
            scene.see(2, topic_id)
        assert not scene.history.is_believed("t")
        ends(scene)
        assert scene.history.is_believed("t")


def unsubscribe(scene: Scene) -> None:
    scene.subscription.unsubscribe()
    scene.history.subscription_changed()


def test_a_topic_without_an_id_is_not_known_to_be_the_one_that_it_was() -> None:
    scene = Scene()
    place = TopicPartition("t", 0)
    assert scene.history.is_still_there(place, scene.see(2, OLD))
    assert not Scene().history.is_still_there(place, scene.see(2, OLD))
    scene = Scene()
    assert not scene.history.is_still_there(place, scene.see(2, None))


def test_it_is_believed_once_the_metadata_have_had_it_for_five_seconds() -> None:
    scene = Scene()
    scene.see(1)
    scene.see(1, NEW)
    assert scene.history.is_believed("t")
    scene.see(1)
    scene.now = 4.9
    scene.see(1)
    assert not scene.history.is_believed("t")
    scene.now = 5.0
    assert scene.history.is_believed("t")
    scene.see(1, uuid.UUID(int=3))
    assert scene.history.is_believed("t")


@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_all_partitions_of_a_topic_that_was_created_again_are_new(
    partitions: int, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene()
    scene.see(2)
    scene.history.located(TopicPartition("t", 0))
    scene.see(None)
    with caplog.at_level(logging.WARNING):
        scene.see(partitions, NEW)
    assert scene.recreated() == scene.added() == list(range(partitions))
    (record,) = caplog.records
    assert record.getMessage() == (
        "topic 't' was deleted and recreated: reading continues at the beginning of the new topic"
    )
    assert scene.errors == []


def test_brokers_without_ids_tell_a_new_topic_by_its_having_been_away() -> None:
    scene = Scene()
    scene.see(2, None)
    scene.see(None)
    scene.see(2, None)
    assert scene.added() == [0, 1]
    assert scene.recreated() == []


def test_the_policy_raise_tells_the_caller_once_how_far_it_was(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene("raise")
    scene.see(2)
    scene.history.located(TopicPartition("t", 0))
    scene.see(2, NEW)
    scene.see(2, NEW)
    (error,) = scene.errors
    assert isinstance(error, TopicRecreatedError)
    assert error.topics == {"t"}
    assert "deleted and recreated while it was read: topic 't'" in str(error)
    assert scene.recreated() == [0, 1]


def test_the_error_has_the_positions_also_where_the_topic_was_away_and_its_partitions_were_given_up() -> None:
    scene = Scene("raise")
    scene.see(2)
    first = TopicPartition("t", 0)
    scene.subscription.assign_from_membership([first])
    scene.subscription.assigned(first).go_to(FetchPosition(5), None)
    scene.history.located(first)
    scene.see(None)
    scene.history.given_up(scene.subscription.assign_from_membership([]))
    scene.see(2, NEW)
    (error,) = scene.errors
    assert isinstance(error, TopicRecreatedError)
    assert error.positions == {first: 5}


def test_a_partition_that_went_to_another_member_has_no_position_in_the_error() -> None:
    scene = Scene("raise")
    scene.see(2)
    first = TopicPartition("t", 0)
    scene.subscription.assign_from_membership([first])
    scene.subscription.assigned(first).go_to(FetchPosition(5), None)
    scene.history.located(first)
    scene.history.given_up(scene.subscription.assign_from_membership([]))
    scene.see(None)
    scene.see(2, NEW)
    (error,) = scene.errors
    assert isinstance(error, TopicRecreatedError)
    assert error.positions == {}


def test_a_topic_that_was_not_read_is_no_error() -> None:
    scene = Scene("raise")
    scene.see(2)
    scene.see(2, NEW)
    assert scene.errors == []


@pytest.mark.parametrize(
    ("reassigned", "text"),
    [(False, "may skip its first records"), (True, "at the group's committed offsets")],
)
def test_the_policy_continue_only_warns(reassigned: bool, text: str, caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene("continue", reassigned=reassigned)
    scene.see(2)
    scene.history.located(TopicPartition("t", 0))
    with caplog.at_level(logging.WARNING):
        scene.see(2, NEW)
    assert text in caplog.text
    assert scene.recreated() == []
    assert scene.added() == [0, 1]


def test_what_is_no_longer_subscribed_to_is_forgotten() -> None:
    scene = Scene()
    scene.see(2)
    scene.see(3)
    scene.subscription.subscribe(["u"])
    scene.history.subscription_changed()
    assert scene.added() == []
    scene.subscription.subscribe(["t"])
    scene.see(4, NEW)
    assert scene.added() == []


THIRD = uuid.UUID(int=3)
FIRST = TopicPartition("t", 0)


def give(scene: Scene, offset: int) -> None:
    """The first partition is assigned and has a position."""
    scene.subscription.assign_from_membership([FIRST])
    scene.subscription.assigned(FIRST).go_to(FetchPosition(offset), None)
    scene.history.located(FIRST)


def take(scene: Scene) -> None:
    scene.history.given_up(scene.subscription.assign_from_membership([]))


def positions(scene: Scene) -> dict[TopicPartition, int]:
    error = scene.errors[-1]
    assert isinstance(error, TopicRecreatedError)
    return dict(error.positions)


def test_a_topic_that_was_away_and_is_back_has_its_partitions_given_up_like_any_other() -> None:
    scene = Scene("raise")
    scene.see(2)
    give(scene, 5)
    scene.see(None)
    scene.see(2)
    take(scene)
    scene.see(2, NEW)
    assert positions(scene) == {}


def test_a_position_of_a_topic_before_is_none_of_the_one_that_was_read_since() -> None:
    scene = Scene("raise")
    scene.see(2)
    give(scene, 5)
    scene.see(None)
    take(scene)
    scene.see(2, NEW)
    assert positions(scene) == {FIRST: 5}
    give(scene, 7)
    take(scene)
    scene.see(2, THIRD)
    assert positions(scene) == {}


def test_the_error_has_positions_of_its_topics_alone() -> None:
    scene = Scene("raise")
    scene.subscription.subscribe(["t", "u"])
    scene.see(2)
    scene.see(2, THIRD, "u")
    give(scene, 5)
    scene.history.located(TopicPartition("u", 0))
    scene.see(None)
    take(scene)
    scene.see(2, uuid.UUID(int=4), "u")
    assert positions(scene) == {}


@pytest.mark.parametrize("policy", ["reset", "raise"])
def test_what_the_coordinator_does_matters_to_the_policy_continue_alone(
    policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(policy, reassigned=True)
    scene.see(2)
    scene.history.located(FIRST)
    scene.see(2, NEW)
    assert "reading continues at the beginning of the new topic" in caplog.text


def test_what_was_read_before_the_topic_was_unsubscribed_is_forgotten() -> None:
    scene = Scene("raise")
    scene.see(2)
    scene.history.located(FIRST)
    unsubscribe(scene)
    scene.subscription.subscribe(["t"])
    scene.see(2)
    scene.see(2, NEW)
    assert scene.errors == []


def test_an_assigned_topic_is_one_that_is_read_before_a_position_is_found() -> None:
    scene = Scene("raise")
    scene.see(2)
    scene.subscription.assign_from_membership([FIRST])
    scene.see(2, NEW)
    assert positions(scene) == {}


def test_that_a_topic_was_missing_is_forgotten_with_its_subscription() -> None:
    scene = Scene()
    scene.see(None)
    unsubscribe(scene)
    scene.subscription.subscribe(["t"])
    scene.see(2)
    assert scene.added() == []


def test_that_a_topic_is_away_is_forgotten_with_its_subscription() -> None:
    scene = Scene("raise")
    scene.see(2)
    scene.see(None)
    unsubscribe(scene)
    scene.subscription.subscribe(["t"])
    give(scene, 5)
    take(scene)
    scene.see(2)
    scene.see(2, NEW)
    assert positions(scene) == {}


def test_a_topic_of_a_pattern_that_was_away_is_told_by_that_where_there_are_no_ids() -> None:
    """While it is away no topic matches, and nothing is wanted."""
    scene = Scene(pattern="^t")
    scene.see(2, None, is_complete=True)
    scene.see(None, None, is_complete=True)
    scene.see(2, None, is_complete=True)
    assert scene.added() == [0, 1]


def test_all_topics_that_another_pattern_matches_at_first_are_old() -> None:
    scene = Scene(pattern="^t")
    scene.see(2, is_complete=True)
    scene.subscription.subscribe((), "^u")
    scene.history.subscription_changed()
    scene.see(2, NEW, "u", is_complete=True)
    assert scene.added(topic="u") == []


def test_once_all_topics_were_seen_those_that_match_later_are_new_whatever_metadata_name_them() -> None:
    scene = Scene(pattern="^t")
    scene.see(None, topic="x", is_complete=True)
    scene.see(2, topic="x", is_complete=False)
    scene.see(2, is_complete=False)
    assert scene.added() == [0, 1]
