"""The states of a group member (classic protocol), and the moves between them that are allowed.

A member is driven from two sides. The loop talks to the coordinator; the caller's thread, inside `poll()`, runs the
rebalance callbacks. `UNJOINED`, `REBALANCING` and `ADOPTING` wait for the caller, the others for the coordinator.
"""

import enum
from collections.abc import Callable

from kafka.errors import IllegalStateError


class MemberState(enum.Enum):
    """Where a member stands."""

    UNJOINED = "not a member: the next poll() gives up what was assigned and joins"
    JOINING = "JoinGroup is out: the coordinator gathers the members"
    SYNCING = "SyncGroup is out: the leader works out the assignment"
    ADOPTING = "an assignment is here: the next poll() takes it over"
    STABLE = "the assignment is in use"
    REBALANCING = "the group rebalances: the next poll() gives up what was assigned and joins again"
    CLOSED = "the consumer is closed"


TRANSITIONS: dict[MemberState, frozenset[MemberState]] = {
    MemberState.UNJOINED: frozenset({MemberState.JOINING, MemberState.CLOSED}),
    MemberState.JOINING: frozenset({MemberState.SYNCING, MemberState.UNJOINED, MemberState.CLOSED}),
    MemberState.SYNCING: frozenset(
        {MemberState.ADOPTING, MemberState.JOINING, MemberState.UNJOINED, MemberState.CLOSED}
    ),
    MemberState.ADOPTING: frozenset(
        {MemberState.STABLE, MemberState.REBALANCING, MemberState.UNJOINED, MemberState.CLOSED}
    ),
    MemberState.STABLE: frozenset({MemberState.REBALANCING, MemberState.UNJOINED, MemberState.CLOSED}),
    MemberState.REBALANCING: frozenset({MemberState.JOINING, MemberState.UNJOINED, MemberState.CLOSED}),
    MemberState.CLOSED: frozenset(),
}

BEATING = frozenset({MemberState.ADOPTING, MemberState.STABLE, MemberState.REBALANCING})
"""States in which the coordinator counts on heartbeats. While it holds JoinGroup or SyncGroup, it does not."""

CALLERS_TURN = frozenset({MemberState.UNJOINED, MemberState.ADOPTING, MemberState.REBALANCING})
"""States that only a `poll()` leads out of."""


class MemberStateMachine:
    """Holds the state; `move` is the only way to change it.

    Arguments:
        on_change: called with the new state after each change.
    """

    def __init__(self, on_change: Callable[[MemberState], None]) -> None:
        self._state = MemberState.UNJOINED
        self._on_change = on_change

    @property
    def state(self) -> MemberState:
        """The present state; may be read from any thread."""
        return self._state

    def move(self, new: MemberState) -> None:
        """Go over to ``new``; raises `IllegalStateError` where the table has no such move."""
        if new not in TRANSITIONS[self._state]:
            raise IllegalStateError(f"a group member cannot go from {self._state.name} to {new.name}")
        self._state = new
        self._on_change(new)
