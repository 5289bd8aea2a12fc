"""The states of a member in the protocol of KIP-848, and the allowed transitions.

They are those of Java's ``MemberState`` without ``PREPARE_LEAVING``: Java calls the listener in this state before a
member leaves; here the caller has called it before it asks to leave.
"""

import enum

from kafka.errors import IllegalStateError


class MemberState(enum.Enum):
    """The state of a member."""

    UNSUBSCRIBED = "not a member: the next poll() joins"
    JOINING = "a heartbeat with epoch 0 is out, or about to be"
    RECONCILING = "what the coordinator wants differs from what is held: the next poll() sees to it"
    ACKNOWLEDGING = "the caller has taken an assignment over: the next heartbeat says so, and goes out at once"
    STABLE = "the assignment is in use"
    LEAVING = "the coordinator is being told that the member leaves"
    FENCED = "the coordinator does not know this member any more: the next poll() loses what was assigned, and joins"
    STALE = "left for want of a poll(): the next one loses what was assigned, and joins"
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
        """Change to ``new``. Raises `IllegalStateError` if the table has no such transition."""
        if new not in TRANSITIONS[self._state]:
            raise IllegalStateError(f"a group member cannot go from {self._state.name} to {new.name}")
        self._state = new
