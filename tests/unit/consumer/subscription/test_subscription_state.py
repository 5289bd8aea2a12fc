"""What a consumer is subscribed to, and what is assigned to it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.subscription.subscription_state import SubscriptionState, SubscriptionType
from kafka.errors import IllegalStateError, PartitionNotAssignedError
from kafka.structs import OffsetAndMetadata, TopicPartition

A, B, C = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_topics_patterns_and_hand_assignment_exclude_one_another() -> None:
    state = SubscriptionState()
    state.subscribe(["a"])
    assert (state.type, state.topics) == (SubscriptionType.AUTO_TOPICS, {"a"})
    state.subscribe(pattern="a.*")
    assert (state.type, state.topics) == (SubscriptionType.AUTO_PATTERN, frozenset())
    with pytest.raises(IllegalStateError):
        state.assign_from_user([A])
    state.unsubscribe()
    state.assign_from_user([A])
    assert state.type is SubscriptionType.USER_ASSIGNED
    with pytest.raises(IllegalStateError):
        state.subscribe(["a"])
    state.assign_from_user([])
    state.subscribe("a")
    assert state.topics == {"a"}


def test_the_subscription_is_known_if_the_group_assigns() -> None:
    state = SubscriptionState()
    assert state.subscription is None
    state.subscribe(["a", "b"])
    assert state.subscription == {"a", "b"}
    state.unsubscribe()
    state.assign_from_user([A])
    assert state.subscription is None


def test_subscribe_takes_either_topics_or_a_pattern() -> None:
    with pytest.raises(IllegalStateError):
        SubscriptionState().subscribe()
    with pytest.raises(IllegalStateError):
        SubscriptionState().subscribe(["a"], pattern="b")


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ä", "x" * 250, "a/b"])
def test_names_that_brokers_would_refuse_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="topic name"):
        SubscriptionState().subscribe([name])


def test_names_that_are_no_strings_are_refused() -> None:
    with pytest.raises(TypeError):
        SubscriptionState().subscribe([b"a"])  # type: ignore[list-item]


def test_a_pattern_matches_from_the_start_of_a_name() -> None:
    state = SubscriptionState()
    state.subscribe(pattern="ab")
    assert state.match({"ab", "abc", "cab"})
    assert state.topics == {"ab", "abc"}
    assert not state.match({"abc", "ab"})
    assert state.match({"abc"})


@pytest.mark.parametrize("then", [{"topics": ["named"]}, {"pattern": "other"}])
def test_pattern_matches_do_not_replace_a_newer_subscription(then: dict[str, Any]) -> None:
    state = SubscriptionState()
    state.subscribe(pattern="ab")

    def topics() -> Iterator[str]:
        yield "ab"
        state.subscribe(**then)  # as the caller's thread may while the loop looks at new metadata
        yield "abc"

    assert not state.match(topics())
    assert state.topics == set(then.get("topics", ()))
    if "topics" in then:
        assert not state.match({"ab"})
        assert state.topics == {"named"}


def test_partitions_that_stay_keep_their_state() -> None:
    by_hand, subscribed = SubscriptionState(), SubscriptionState()
    subscribed.subscribe(["a"])
    for state, assign in ((by_hand, by_hand.assign_from_user), (subscribed, subscribed.assign_from_membership)):
        assign([A, B])
        before = state.assigned(A)
        before.go_to(FetchPosition(5))
        gone = assign([A, C])
        assert [each.tp for each in gone] == [B]
        assert state.assigned(A) is before
        assign([])
        assign([A])
        assert state.assigned(A).position is None


def test_consumed_offsets_are_the_positions_known() -> None:
    state = SubscriptionState()
    state.assign_from_user([A, B])
    state.assigned(A).go_to(FetchPosition(7, leader_epoch=3))
    assert state.all_consumed_offsets() == {A: OffsetAndMetadata(7, "", 3)}


def test_a_partition_that_is_not_assigned_is_an_error() -> None:
    with pytest.raises(IllegalStateError, match="not assigned"):
        SubscriptionState().assigned(A)


class MovedMeanwhile(PartitionState):
    """Another thread turns to the topic that took the place of a deleted one, behind whoever asks for the position."""

    @property
    def position(self) -> FetchPosition | None:
        position, _ = super().position, self.go_to(None)
        return position


def test_a_position_is_never_taken_for_one_in_the_topic_that_came_after_its_own() -> None:
    moved, topic_id = MovedMeanwhile(A), uuid.UUID(int=1)
    moved.go_to(FetchPosition(7, 3))
    moved.fetching.begin(moved.generation, FetchPosition(7, 3), topic_id)
    state = SubscriptionState()
    state._states = {A: moved}
    assert state.all_consumed_offsets().topic_ids == {A: topic_id}


def test_the_error_for_an_unassigned_partition_gives_advice() -> None:
    state = SubscriptionState()

    def told() -> str:
        with pytest.raises(PartitionNotAssignedError) as raised:
            state.assigned(C)
        return raised.value.args[0]

    about = "TopicPartition(topic='b', partition=0) is not assigned to this consumer: "
    assert told() == about + "call assign() with it, or subscribe() to its topic"
    state.subscribe(["a"])
    assert told() == about + "nothing is assigned yet; call poll() until it is in assignment()"
    state.assign_from_membership([A])
    assert told() == about + "assignment() lists the assigned ones; this one may belong to another member, or not exist"
    state.unsubscribe()
    state.assign_from_user([A])
    assert told() == about + "assign() was called without it"
