"""The states of a member of a classic group."""

from __future__ import annotations

import itertools

import pytest

from kafka.coordinator.classic.state import (
    CALLERS_TURN,
    SENDS_HEARTBEATS,
    TRANSITIONS,
    MemberState,
    MemberStateMachine,
)
from kafka.coordinator.membership import Generation
from kafka.errors import IllegalStateError

pytestmark = pytest.mark.once

# A table of its own: Unjoined, Joining, assiGning, Syncing, Adopting, sTable, Rebalancing, Fenced, Closed.
LETTERS = dict(zip("UJGSATRFC", MemberState, strict=True))
MOVES = """
UJ UC
JG JS JU JF JC
GS GJ GU GF GC
SA SJ SU SF SC
AT AR AU AF AC
TR TU TF TC
RJ RU RF RC
FU FC
"""
ALLOWED = {(LETTERS[move[0]], LETTERS[move[1]]) for move in MOVES.split()}
WAYS = {"U": "", "J": "J", "G": "JG", "S": "JS", "A": "JSA", "T": "JSAT", "R": "JSATR", "F": "JF", "C": "C"}


def machine_in(state: MemberState) -> MemberStateMachine:
    """A machine that has been led to `state`."""
    machine = MemberStateMachine()
    for letter in next(way for to, way in WAYS.items() if LETTERS[to] is state):
        machine.move(LETTERS[letter])
    return machine


@pytest.mark.parametrize(("old", "new"), list(itertools.product(MemberState, MemberState)))
def test_only_moves_of_the_protocol_are_possible(old: MemberState, new: MemberState) -> None:
    machine = machine_in(old)
    assert machine.state is old
    if (old, new) in ALLOWED:
        machine.move(new)
        assert machine.state is new
    else:
        with pytest.raises(IllegalStateError, match=f"from {old.name} to {new.name}"):
            machine.move(new)
        assert machine.state is old


def test_every_state_has_its_moves_in_the_table() -> None:
    assert set(TRANSITIONS) == set(MemberState)


def test_heartbeats_go_out_while_the_coordinator_counts_on_them() -> None:
    assert {LETTERS[letter] for letter in "GATR"} == SENDS_HEARTBEATS


def test_callbacks_and_errors_require_a_poll() -> None:
    assert {LETTERS[letter] for letter in "UARF"} == CALLERS_TURN


def test_a_group_may_count_its_generations_from_0() -> None:
    assert Generation(0, "me").is_valid
    assert not Generation(-1, "me").is_valid
