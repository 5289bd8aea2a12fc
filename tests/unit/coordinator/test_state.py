"""The table of a member's states."""

from __future__ import annotations

import itertools

import pytest

from kafka.coordinator.state import BEATING, CALLERS_TURN, TRANSITIONS, MemberState, MemberStateMachine
from kafka.errors import IllegalStateError


def machine_in(state: MemberState) -> MemberStateMachine:
    """A machine that has been led to `state` along allowed moves."""
    machine = MemberStateMachine(lambda _: None)
    paths: dict[MemberState, list[MemberState]] = {MemberState.UNJOINED: []}
    while state not in paths:
        for known, path in list(paths.items()):
            for new in TRANSITIONS[known]:
                paths.setdefault(new, [*path, new])
    for step in paths[state]:
        machine.move(step)
    return machine


@pytest.mark.parametrize(("old", "new"), list(itertools.product(MemberState, MemberState)))
def test_only_moves_in_the_table_are_possible(old: MemberState, new: MemberState) -> None:
    machine = machine_in(old)
    assert machine.state is old
    if new in TRANSITIONS[old]:
        machine.move(new)
        assert machine.state is new
    else:
        with pytest.raises(IllegalStateError, match=f"from {old.name} to {new.name}"):
            machine.move(new)
        assert machine.state is old


def test_each_change_is_told_after_it_has_happened() -> None:
    seen: list[tuple[MemberState, MemberState]] = []
    machine = MemberStateMachine(lambda state: seen.append((state, machine.state)))
    machine.move(MemberState.JOINING)
    machine.move(MemberState.UNJOINED)
    assert seen == [(MemberState.JOINING, MemberState.JOINING), (MemberState.UNJOINED, MemberState.UNJOINED)]


def test_a_closed_member_stays_closed_and_every_other_can_be_closed() -> None:
    assert TRANSITIONS[MemberState.CLOSED] == frozenset()
    assert all(MemberState.CLOSED in TRANSITIONS[state] for state in MemberState if state is not MemberState.CLOSED)


def test_a_lost_membership_leads_back_to_unjoined_from_everywhere() -> None:
    held = set(MemberState) - {MemberState.UNJOINED, MemberState.CLOSED}
    assert all(MemberState.UNJOINED in TRANSITIONS[state] for state in held)


def test_states_belong_either_to_the_caller_or_to_the_coordinator() -> None:
    assert {MemberState.JOINING, MemberState.SYNCING}.isdisjoint(CALLERS_TURN | BEATING)
    assert MemberState.REBALANCING in CALLERS_TURN & BEATING
