"""The states of a group member in the protocol of KIP-848, and the allowed transitions.

The states are those of Java's ``MemberState`` without ``PREPARE_LEAVING``, in which Java calls the listener before a
member leaves; here, the caller calls the listener before it asks to leave.
"""

import enum

from kafka.errors import IllegalStateError


class MemberState(enum.Enum):
    """The state of a member."""

    UNSUBSCRIBED = "not a member: the next poll() joins"
    JOINING = "a heartbeat with epoch 0 was sent, or is about to be sent"
    RECONCILING = "the coordinator's target differs from the assignment: the next poll() adopts it"
    ACKNOWLEDGING = "the caller has adopted an assignment: an immediate heartbeat reports it"
    STABLE = "the assignment is in use"
    LEAVING = "the member is leaving the group"
    FENCED = "the coordinator no longer knows this member: the next poll() gives up the assignment and joins"
    STALE = "left because poll() was not called: the next one gives up the assignment and joins"
    FATAL = "the coordinator refuses this member: every poll() raises"


_S = MemberState
_AT_ANY_TIME = frozenset({_S.LEAVING, _S.FENCED, _S.FATAL})
TRANSITIONS: dict[MemberState, frozenset[MemberState]] = {
    _S.UNSUBSCRIBED: frozenset({_S.JOINING}),
    _S.JOINING: _AT_ANY_TIME | {_S.RECONCILING, _S.STABLE},
    _S.RECONCILING: _AT_ANY_TIME | {_S.RECONCILING, _S.ACKNOWLEDGING, _S.STABLE},
    _S.ACKNOWLEDGING: _AT_ANY_TIME | {_S.RECONCILING, _S.STABLE},
    _S.STABLE: _AT_ANY_TIME | {_S.RECONCILING},
    _S.LEAVING: frozenset({_S.UNSUBSCRIBED, _S.STALE}),
    _S.FENCED: frozenset({_S.JOINING, _S.UNSUBSCRIBED}),
    _S.STALE: frozenset({_S.JOINING, _S.UNSUBSCRIBED}),
    _S.FATAL: frozenset({_S.UNSUBSCRIBED}),
}

IN_GROUP = frozenset({_S.JOINING, _S.RECONCILING, _S.ACKNOWLEDGING, _S.STABLE})
"""States in which the member sends heartbeats and accepts assignments."""

JOINS_NEXT = frozenset({_S.UNSUBSCRIBED, _S.FENCED, _S.STALE})
"""States in which the next `poll()` joins the group."""


class MemberStateMachine:
    """Holds the state; only `move` changes it."""

    def __init__(self) -> None:
        self._state = MemberState.UNSUBSCRIBED

    @property
    def state(self) -> MemberState:
        """The current state; may be read from any thread."""
        return self._state

    def move(self, new: MemberState) -> None:
        """Change to the state ``new``. Raises `IllegalStateError` if the table does not allow this transition."""
        if new not in TRANSITIONS[self._state]:
            raise IllegalStateError(f"a group member cannot go from {self._state.name} to {new.name}")
        self._state = new
