"""`SubscriptionState` of 1.0 to 2.x."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kafka.consumer.subscription_state import (
    ConsumerRebalanceListener,
    SubscriptionState,
    SubscriptionType,
    TopicPartitionState,
)
from kafka.errors import IllegalStateError, NoOffsetForPartitionError
from kafka.protocol.list_offsets import OffsetResetStrategy
from kafka.structs import OffsetAndMetadata, TopicPartition

pytestmark = pytest.mark.once

ONE, TWO, THREE = TopicPartition("one", 0), TopicPartition("one", 1), TopicPartition("two", 0)


class Listener(ConsumerRebalanceListener):
    def on_partitions_revoked(self, revoked: Any) -> None: ...
    def on_partitions_assigned(self, assigned: Any) -> None: ...


def test_subscription_and_group_assignment() -> None:
    state, listener = SubscriptionState(), Listener()
    assert state.subscription is None
    assert not state.partitions_auto_assigned()
    state.subscribe(["one", "two"], listener=listener)
    assert state.partitions_auto_assigned()
    assert (state.subscription, state.subscription_type) == ({"one", "two"}, SubscriptionType.AUTO_TOPICS)
    assert state.listener is state.rebalance_listener is listener
    assert state.needs_partition_assignment
    state.assign_from_subscribed([ONE, THREE, TWO])
    assert state.assigned_partitions() == {ONE, TWO, THREE}
    assert [each.topic for each in state.assignment] in (["one", "one", "two"], ["two", "one", "one"])
    assert not state.needs_partition_assignment
    with pytest.raises(ValueError, match="non-subscribed"):
        state.assign_from_subscribed([TopicPartition("three", 0)])
    state.change_subscription(["two"])
    assert state.assigned_partitions() == {THREE}
    state.group_subscribe(["three"])
    assert state.group_subscription() == {"one", "two", "three"}
    state.mark_for_reassignment()
    assert state.group_subscription() == {"two"}
    assert state.needs_partition_assignment
    with pytest.raises(IllegalStateError, match="only one way"):
        state.assign_from_user([ONE])
    state.unsubscribe()
    assert (state.subscription, state.assigned_partitions()) == (None, set())
    state.assign_from_user([ONE])


def test_pattern_and_manual_assignment() -> None:
    state = SubscriptionState()
    state.subscribe(pattern="on.")
    assert state.subscription == set()
    assert state.subscribed_pattern is not None
    assert state.subscribed_pattern.match("one")
    assert state.subscription_type == SubscriptionType.AUTO_PATTERN
    state.unsubscribe()
    state.assign_from_user([ONE, TWO])
    state.seek(TWO, 5)
    state.assign_from_user([TWO, THREE])
    assert state.assigned_partitions() == {TWO, THREE}
    assert state.position(TWO) == 5
    for change in (state.group_subscribe, state.change_subscription, state.assign_from_subscribed):
        with pytest.raises(IllegalStateError):
            change([])
    with pytest.raises(IllegalStateError):
        state.subscribe(["one"])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, AssertionError),
        ({"topics": ["one"], "pattern": "one"}, IllegalStateError),
        ({"topics": "one"}, TypeError),
        ({"topics": ["one two"]}, ValueError),
        ({"topics": ["one"], "listener": print}, TypeError),
    ],
)
def test_invalid_subscriptions(arguments: dict[str, Any], error: type[Exception]) -> None:
    state = SubscriptionState()
    with pytest.raises(error):
        state.subscribe(**arguments)
    assert state.subscription_type == SubscriptionType.NONE


def test_positions() -> None:
    state = SubscriptionState()
    state.assign_from_user([ONE, TWO, THREE])
    assert state.missing_fetch_positions() == {ONE, TWO, THREE}
    state.seek(ONE, 1)
    state.seek(TWO, OffsetAndMetadata(2, "text", 7))
    assert state.all_consumed_offsets() == {ONE: OffsetAndMetadata(1, "", -1), TWO: OffsetAndMetadata(2, "text", 7)}
    assert state.position(TWO) == 2  # as in 1.x
    assert state.assignment[TWO].position.offset == 2  # as in 2.x
    assert state.assignment[TWO].position.leader_epoch == 7
    assert (state.has_valid_position(ONE), state.has_valid_position(THREE)) == (True, False)
    assert not state.has_all_fetch_positions()
    assert state.fetchable_partitions() == [ONE, TWO]
    state.pause(ONE)
    assert (state.is_paused(ONE), state.is_fetchable(ONE), state.paused_partitions()) == (True, False, {ONE})
    state.resume(ONE)
    state.move_partition_to_end(ONE)
    assert state.fetchable_partitions() == [TWO, ONE]
    state.assignment[ONE].position = 9
    assert state.position(ONE) == 9
    with pytest.raises(AssertionError):
        state.assignment[THREE].position = 9
    with pytest.raises(TypeError):
        state.seek(ONE, "1")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        state.seek(TopicPartition("other", 0), 1)


def test_resets() -> None:
    state = SubscriptionState("latest")
    assert state.has_default_offset_reset_policy()
    state.assign_from_user([ONE, TWO])
    state.seek(ONE, 1)
    state.reset_missing_positions()
    assert state.is_offset_reset_needed(TWO)
    assert state.assignment[TWO].reset_strategy == OffsetResetStrategy.LATEST
    state.need_offset_reset(ONE, OffsetResetStrategy.EARLIEST)
    assert state.position(ONE) is None
    assert state.partitions_needing_reset() == {ONE, TWO}
    state.set_reset_pending([ONE], time.time() + 1000)
    assert state.partitions_needing_reset() == {TWO}
    state.reset_failed([ONE], time.time() - 1)
    assert state.partitions_needing_reset() == {ONE, TWO}
    state.seek(ONE, 3)
    assert not state.is_offset_reset_needed(ONE)
    none = SubscriptionState("unheard of")
    assert not none.has_default_offset_reset_policy()
    none.assign_from_user([ONE])
    with pytest.raises(NoOffsetForPartitionError):
        none.reset_missing_positions()


def test_the_state_of_one_partition() -> None:
    state = TopicPartitionState()
    assert (state.position, state.committed, state.paused, state.awaiting_reset) == (None, None, False, False)
    assert state.is_missing_position()
    state.await_reset(-2)
    assert state.awaiting_reset
    assert not state.is_missing_position()
    state.seek(4)
    assert state.drop_pending_message_set
    assert state.is_fetchable()
