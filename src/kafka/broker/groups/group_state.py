"""The states of a classic group and their transitions.

EMPTY ──────▶ PREPARING_REBALANCE ──────▶ COMPLETING_REBALANCE ──────▶ STABLE
  ▲                │  ▲      ▲                     │                      │
  └────────────────┘  │      └─────────────────────┘                      │
   (no member joined) └───────────────────────────────────────────────────┘
and from every state to DEAD.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final


class GroupState(Enum):
    """A state; the value is Kafka's name for it in requests and responses."""

    EMPTY = "Empty"
    """No members; there may be committed offsets."""
    PREPARING_REBALANCE = "PreparingRebalance"
    """Members are asked to rejoin; the phase ends when all have joined or on timeout."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """All members have joined; the leader's assignment is pending."""
    STABLE = "Stable"
    """Each member has its assignment."""
    DEAD = "Dead"
    """Deleted."""


_S = GroupState
FOLLOWERS: Final[Mapping[GroupState, frozenset[GroupState]]] = {
    _S.EMPTY: frozenset({_S.PREPARING_REBALANCE, _S.DEAD}),
    _S.PREPARING_REBALANCE: frozenset({_S.COMPLETING_REBALANCE, _S.EMPTY, _S.DEAD}),
    _S.COMPLETING_REBALANCE: frozenset({_S.STABLE, _S.PREPARING_REBALANCE, _S.DEAD}),
    _S.STABLE: frozenset({_S.PREPARING_REBALANCE, _S.DEAD}),
    _S.DEAD: frozenset(),
}


class StateMachine:
    """The one place where a group's state changes."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = GroupState.EMPTY

    @property
    def state(self) -> GroupState:
        """The current state."""
        return self._state

    def move(self, target: GroupState) -> None:
        """Change the state; a transition that is not in the table is a bug of the broker, not of a client."""
        if target not in FOLLOWERS[self._state]:
            raise RuntimeError(f"a group in state {self._state.value} cannot become {target.value}")
        self._state = target
