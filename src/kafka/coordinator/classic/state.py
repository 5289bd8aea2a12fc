"""The states of a group member in the classic protocol, and the allowed transitions.

A member is driven from two sides. The loop communicates with the coordinator. The caller's thread, inside `poll()`,
runs the rebalance listener. `UNJOINED`, `REBALANCING` and `ADOPTING` wait for the caller, the other states for the
coordinator.
"""

import enum

from kafka.errors import IllegalStateError


class MemberState(enum.Enum):
    """The state of a member."""

    UNJOINED = "not a member: the next poll() gives up the assignment and joins"
    JOINING = "joining: the coordinator waits for the other members"
    ASSIGNING = "this member leads the group: its assignor computes the assignment"
    SYNCING = "SyncGroup was sent: the coordinator waits for the leader's assignment"
    ADOPTING = "an assignment has arrived: the next poll() adopts it"
    STABLE = "the assignment is in use"
    REBALANCING = "the group rebalances: the next poll() gives up the assignment and joins again"
    FENCED = "another consumer uses this group_instance_id: every poll() raises"
    CLOSED = "the consumer is closed"


TRANSITIONS: dict[MemberState, frozenset[MemberState]] = {
    MemberState.UNJOINED: frozenset({MemberState.JOINING, MemberState.CLOSED}),
    MemberState.JOINING: frozenset(
        {
            MemberState.ASSIGNING,
            MemberState.SYNCING,
            MemberState.UNJOINED,
            MemberState.FENCED,
            MemberState.CLOSED,
        }
    ),
    MemberState.ASSIGNING: frozenset(
        {MemberState.SYNCING, MemberState.JOINING, MemberState.UNJOINED, MemberState.FENCED, MemberState.CLOSED}
    ),
    MemberState.SYNCING: frozenset(
        {MemberState.ADOPTING, MemberState.JOINING, MemberState.UNJOINED, MemberState.FENCED, MemberState.CLOSED}
    ),
    MemberState.ADOPTING: frozenset(
        {MemberState.STABLE, MemberState.REBALANCING, MemberState.UNJOINED, MemberState.FENCED, MemberState.CLOSED}
    ),
    MemberState.STABLE: frozenset(
        {MemberState.REBALANCING, MemberState.UNJOINED, MemberState.FENCED, MemberState.CLOSED}
    ),
    MemberState.REBALANCING: frozenset(
        {MemberState.JOINING, MemberState.UNJOINED, MemberState.FENCED, MemberState.CLOSED}
    ),
    MemberState.FENCED: frozenset({MemberState.UNJOINED, MemberState.CLOSED}),
    MemberState.CLOSED: frozenset(),
}

SENDS_HEARTBEATS = frozenset({MemberState.ASSIGNING, MemberState.ADOPTING, MemberState.STABLE, MemberState.REBALANCING})
"""States in which the coordinator expects heartbeats.

The coordinator expects none while it delays the response to JoinGroup or SyncGroup, because brokers then read no
other request from that connection.
"""

IN_A_ROUND = frozenset({MemberState.JOINING, MemberState.ASSIGNING, MemberState.SYNCING})
"""States between revoking the old assignment and receiving the new one."""

CALLERS_TURN = frozenset({MemberState.UNJOINED, MemberState.ADOPTING, MemberState.REBALANCING, MemberState.FENCED})
"""States that only a `poll()` can end, or in which `poll()` raises an error."""


class MemberStateMachine:
    """Holds the state; only `move` changes it."""

    def __init__(self) -> None:
        self._state = MemberState.UNJOINED

    @property
    def state(self) -> MemberState:
        """The current state; may be read from any thread."""
        return self._state

    def move(self, new: MemberState) -> None:
        """Change to the state ``new``. Raises `IllegalStateError` if the table does not allow this transition."""
        if new not in TRANSITIONS[self._state]:
            raise IllegalStateError(f"a group member cannot go from {self._state.name} to {new.name}")
        self._state = new
