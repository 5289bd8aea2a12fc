"""Classic groups on virtual time: rebalances, sessions, static members, and rejected requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka.broker.error_codes import ErrorCode
from kafka.broker.groups.classic_group import FOLLOWERS, GroupState, Protocol, StateMachine
from unit.broker.grouped import GROUP, RANGE, STICKY, GroupCoordinatorHarness

pytestmark = pytest.mark.once


@pytest.fixture
def group(tmp_path: Path) -> GroupCoordinatorHarness:
    return GroupCoordinatorHarness(tmp_path)


def test_the_table_contains_every_state() -> None:
    assert set(FOLLOWERS) == set(GroupState)
    for state, followers in FOLLOWERS.items():
        assert state not in followers
        assert (GroupState.DEAD in followers) is (state is not GroupState.DEAD)


def test_an_unlisted_transition_raises() -> None:
    machine = StateMachine()
    with pytest.raises(RuntimeError, match="cannot become Stable"):
        machine.move(GroupState.STABLE)


# -- rebalances -------------------------------------------------------------------------------------------------------


def test_a_single_member_becomes_leader_and_gets_its_assignment(group: GroupCoordinatorHarness) -> None:
    (joined,) = group.join()
    assert joined.error is ErrorCode.NONE
    assert joined.generation_id == 1
    assert joined.leader == joined.member_id
    assert [one.metadata for one in joined.members] == [RANGE.metadata]
    assert group.state is GroupState.COMPLETING_REBALANCE
    (synced,) = group.sync(joined, {joined.member_id: b"all"})
    assert (synced.error, synced.assignment) == (ErrorCode.NONE, b"all")
    assert group.state is GroupState.STABLE


def test_a_second_member_waits_until_the_first_rejoins(group: GroupCoordinatorHarness) -> None:
    (first,) = group.stable(1)
    second = group.join()
    assert not second
    assert group.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    (again,) = group.join(first.member_id)
    assert again.generation_id == second[0].generation_id == 2
    assert again.leader == second[0].leader == first.member_id
    assert [one.member_id for one in again.members] == [first.member_id, second[0].member_id]
    assert not second[0].members, "only the leader gets the members"


def test_followers_wait_for_the_leaders_assignment(group: GroupCoordinatorHarness) -> None:
    (first,) = group.stable(1)
    second = group.join()
    (first,) = group.join(first.member_id)
    waiting = group.sync(second[0])
    assert not waiting
    group.sync(first, {first.member_id: b"1", second[0].member_id: b"2"})
    assert waiting[0].assignment == b"2"
    (once_more,) = group.sync(second[0])
    assert once_more.assignment == b"2"


def test_a_member_that_does_not_rejoin_in_time_is_removed(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    again = group.join(first.member_id)
    assert not again
    for _ in range(11):
        group.clock.advance(5)
        group.heartbeat(second)
    assert not again
    group.clock.advance(5)
    assert [one.member_id for one in again[0].members] == [first.member_id]
    assert group.heartbeat(second) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_missing_leader_is_replaced(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    again = group.join(second.member_id, protocols=(RANGE, STICKY))
    group.clock.advance(60)
    assert again[0].leader == second.member_id
    assert group.heartbeat(first) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_never_syncs_is_removed(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join(session_ms=300_000)
    second = group.join(session_ms=300_000)
    (first,) = group.join(first.member_id, session_ms=300_000)
    waiting = group.sync(second[0])
    group.clock.advance(60)
    assert waiting[0].error is ErrorCode.REBALANCE_IN_PROGRESS
    (alone,) = group.join(second[0].member_id)
    assert [one.member_id for one in alone.members] == [second[0].member_id]
    assert group.heartbeat(first) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_repeated_request_gets_the_same_response(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    (again,) = group.join(second.member_id)
    assert (again.generation_id, again.leader) == (second.generation_id, first.member_id)
    assert group.state is GroupState.STABLE


def test_a_rejoining_leader_starts_a_rebalance(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    assert not group.join(first.member_id)
    assert group.heartbeat(second) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_changed_subscription_starts_a_rebalance(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    assert not group.join(second.member_id, protocols=(Protocol("range", b"more topics"),))
    (again,) = group.join(first.member_id)
    assert b"more topics" in [one.metadata for one in again.members]


def test_a_new_member_interrupts_a_pending_assignment(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join()
    second = group.join()
    assert group.state is GroupState.PREPARING_REBALANCE
    (late,) = group.sync(first)
    assert late.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert not second


def test_the_first_rebalance_can_wait_for_more_members(tmp_path: Path) -> None:
    group = GroupCoordinatorHarness(tmp_path, group_initial_rebalance_delay_ms=3000)
    first, second = group.join(), group.join()
    group.clock.advance(2.9)
    assert not first
    group.clock.advance(0.2)
    assert first[0].generation_id == second[0].generation_id == 1
    assert len(first[0].members) == 2


# -- protocols --------------------------------------------------------------------------------------------------------


def test_the_most_preferred_common_protocol_is_selected(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join(protocols=(RANGE, STICKY))
    second = group.join(protocols=(STICKY, RANGE))
    third = group.join(protocols=(STICKY,))
    (first,) = group.join(first.member_id, protocols=(RANGE, STICKY))
    assert {first.protocol_name, second[0].protocol_name, third[0].protocol_name} == {"sticky"}
    assert {one.metadata for one in first.members} == {STICKY.metadata}


def test_members_without_a_common_protocol_are_rejected(group: GroupCoordinatorHarness) -> None:
    group.stable(1)
    assert group.join(protocols=(STICKY,))[0].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert group.join(protocol_type="connect")[0].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert group.join(protocols=())[0].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_sync_for_another_protocol_is_rejected(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join()
    (answer,) = group.sync(first._replace(protocol_name="sticky"))
    assert answer.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


# -- ids and generations ----------------------------------------------------------------------------------------------


def test_version_4_assigns_a_member_id_first(group: GroupCoordinatorHarness) -> None:
    (refused,) = group.join(version=4, client="me")
    assert refused.error is ErrorCode.MEMBER_ID_REQUIRED
    assert refused.member_id.startswith("me-")
    assert group.state is GroupState.EMPTY
    (joined,) = group.join(refused.member_id, version=4)
    assert (joined.error, joined.member_id) == (ErrorCode.NONE, refused.member_id)


def test_an_unused_member_id_expires(group: GroupCoordinatorHarness) -> None:
    (refused,) = group.join(version=4)
    group.clock.advance(10.1)
    assert group.join(refused.member_id, version=4)[0].error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_members_with_assigned_ids(group: GroupCoordinatorHarness) -> None:
    (first,) = group.stable(1)
    (given,) = group.join(version=4)
    again = group.join(first.member_id)
    assert not again
    second = group.join(given.member_id, version=4)
    assert len(again[0].members) == 2
    assert second


def test_unknown_members_and_groups_are_rejected(group: GroupCoordinatorHarness) -> None:
    assert group.join("nobody")[0].error is ErrorCode.UNKNOWN_MEMBER_ID
    (first,) = group.stable(1)
    assert group.join("nobody")[0].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.heartbeat(first._replace(member_id="nobody")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.sync(first._replace(member_id="nobody"))[0].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.leave("nobody") is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_old_generation_is_rejected(group: GroupCoordinatorHarness) -> None:
    (first,) = group.stable(1)
    old = first._replace(generation_id=0)
    assert group.heartbeat(old) is ErrorCode.ILLEGAL_GENERATION
    assert group.sync(old)[0].error is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize("session_ms", [1, 99, 1_800_001])
def test_a_session_timeout_out_of_bounds_is_rejected(group: GroupCoordinatorHarness, session_ms: int) -> None:
    assert group.join(session_ms=session_ms)[0].error is ErrorCode.INVALID_SESSION_TIMEOUT


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_an_expired_members_partitions_go_to_the_others(group: GroupCoordinatorHarness) -> None:
    first, _ = group.stable(2)
    group.clock.advance(9)
    assert group.heartbeat(first) is ErrorCode.NONE
    group.clock.advance(2)
    assert group.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    (again,) = group.join(first.member_id)
    assert [one.member_id for one in again.members] == [first.member_id]


def test_heartbeats_keep_a_member_alive(group: GroupCoordinatorHarness) -> None:
    (first,) = group.stable(1)
    for _ in range(24 * 3600 // 8):
        group.clock.advance(8)
        assert group.heartbeat(first) is ErrorCode.NONE


def test_a_group_is_empty_after_the_last_member_leaves(group: GroupCoordinatorHarness) -> None:
    group.stable(1)
    group.clock.advance(10.1)
    assert group.state is GroupState.EMPTY
    assert group.join()[0].generation_id == 3


def test_a_member_that_waits_for_a_rebalance_does_not_expire(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    again = group.join(first.member_id)
    for _ in range(5):
        group.clock.advance(9)
        group.heartbeat(second)
    group.join(second.member_id)
    assert again[0].error is ErrorCode.NONE


def test_leaving_starts_a_rebalance(group: GroupCoordinatorHarness) -> None:
    first, second = group.stable(2)
    assert group.leave(second.member_id) is ErrorCode.NONE
    assert group.heartbeat(second) is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    assert group.leave(first.member_id) is ErrorCode.NONE
    assert group.state is GroupState.EMPTY


def test_a_member_may_leave_before_it_has_joined(group: GroupCoordinatorHarness) -> None:
    (given,) = group.join(version=4)
    assert group.leave(given.member_id) is ErrorCode.NONE
    assert group.join(given.member_id, version=4)[0].error is ErrorCode.UNKNOWN_MEMBER_ID


# -- static members ---------------------------------------------------------------------------------------------------


def test_a_static_member_returns_without_a_rebalance(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join(instance="i1", version=9)
    group.sync(first, {first.member_id: b"mine"}, instance="i1")
    (again,) = group.join(instance="i1", version=9)
    assert again.member_id != first.member_id
    assert again.generation_id == first.generation_id
    assert again.skip_assignment
    assert group.state is GroupState.STABLE
    assert group.sync(again, instance="i1")[0].assignment == b"mine"


def test_before_version_9_a_returning_static_leader_is_a_follower(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join(instance="i1", version=5)
    group.sync(first, {first.member_id: b"mine"}, instance="i1")
    (again,) = group.join(instance="i1", version=5)
    assert again.leader == first.member_id
    assert not again.members
    assert not again.skip_assignment


def test_the_previous_member_with_an_instance_id_is_fenced(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join(instance="i1")
    group.sync(first, {first.member_id: b"mine"}, instance="i1")
    group.join(instance="i1")
    assert group.heartbeat(first, instance="i1") is ErrorCode.FENCED_INSTANCE_ID
    assert group.sync(first, instance="i1")[0].error is ErrorCode.FENCED_INSTANCE_ID
    assert group.leave(first.member_id, instance="i1") is ErrorCode.FENCED_INSTANCE_ID


def test_a_static_member_with_a_new_subscription_starts_a_rebalance(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join(instance="i1")
    group.sync(first, {first.member_id: b"mine"}, instance="i1")
    (again,) = group.join(instance="i1", protocols=(Protocol("range", b"other"),))
    assert again.generation_id == first.generation_id + 1


def test_a_static_member_keeps_its_place_after_a_missed_rebalance(group: GroupCoordinatorHarness) -> None:
    (static,) = group.join(instance="i1", session_ms=300_000)
    group.sync(static, {static.member_id: b"mine"}, instance="i1")
    second = group.join()
    group.clock.advance(60)
    members = [one.member_id for one in second[0].members]
    assert sorted(members) == sorted([static.member_id, second[0].member_id])
    assert second[0].leader == second[0].member_id


def test_a_static_member_leaves_by_its_instance_id(group: GroupCoordinatorHarness) -> None:
    (static,) = group.join(instance="i1")
    group.sync(static, {static.member_id: b"mine"}, instance="i1")
    assert group.leave("", instance="i1") is ErrorCode.NONE
    assert group.leave("", instance="i1") is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.state is GroupState.EMPTY


# -- offsets ----------------------------------------------------------------------------------------------------------


def committed(group: GroupCoordinatorHarness) -> dict[tuple[str, int], int]:
    return {key: one.offset for key, one in group.coordinator.groups[GROUP].offsets.items()}


def test_members_of_the_current_generation_may_commit(group: GroupCoordinatorHarness) -> None:
    (first,) = group.join()
    assert group.commit(first.member_id, 1, 5) is ErrorCode.REBALANCE_IN_PROGRESS
    group.settle([first])
    assert group.commit(first.member_id, 1, 5) is ErrorCode.NONE
    assert group.commit(first.member_id, 0, 9) is ErrorCode.ILLEGAL_GENERATION
    assert group.commit("nobody", 1, 9) is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.commit("", -1, 9) is ErrorCode.UNKNOWN_MEMBER_ID
    assert committed(group) == {("t", 0): 5}


def test_a_member_may_commit_while_others_join(group: GroupCoordinatorHarness) -> None:
    (first,) = group.stable(1)
    group.join()
    assert group.commit(first.member_id, 1, 7) is ErrorCode.NONE


def test_anyone_may_commit_for_an_empty_group(group: GroupCoordinatorHarness) -> None:
    assert group.commit("", -1, 3) is ErrorCode.NONE
    assert committed(group) == {("t", 0): 3}
    assert group.commit("someone", 4, 3) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_commit_to_an_unknown_group_is_rejected(group: GroupCoordinatorHarness) -> None:
    assert group.commit("someone", 4, 3) is ErrorCode.ILLEGAL_GENERATION
