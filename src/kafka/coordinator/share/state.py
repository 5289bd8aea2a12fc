"""The states of a share group's member, and the allowed transitions."""

import enum

from kafka.errors import IllegalStateError


class ShareMemberState(enum.Enum):
    """The state of a member."""

    UNSUBSCRIBED = "nothing is subscribed to: no member"
    JOINING = "the next heartbeat joins the group"
    STABLE = "a member: heartbeats keep it so"
    STALE = "it has left, as the caller does not poll: the next poll() joins again"
    FATAL = "the coordinator refuses it for good: every poll() raises"
    CLOSED = "the consumer is closed"


_S = ShareMemberState
TRANSITIONS: dict[ShareMemberState, frozenset[ShareMemberState]] = {
    _S.UNSUBSCRIBED: frozenset({_S.JOINING, _S.CLOSED}),
    _S.JOINING: frozenset({_S.JOINING, _S.STABLE, _S.UNSUBSCRIBED, _S.FATAL, _S.CLOSED}),
    _S.STABLE: frozenset({_S.STABLE, _S.JOINING, _S.STALE, _S.UNSUBSCRIBED, _S.FATAL, _S.CLOSED}),
    _S.STALE: frozenset({_S.JOINING, _S.UNSUBSCRIBED, _S.CLOSED}),
    _S.FATAL: frozenset({_S.UNSUBSCRIBED, _S.CLOSED}),
    _S.CLOSED: frozenset(),
}


def check_move(before: ShareMemberState, after: ShareMemberState) -> None:
    """Raise `IllegalStateError` for a transition that is not in the table."""
    if after not in TRANSITIONS[before]:
        raise IllegalStateError(f"a share group's member cannot become {after.name} while it is {before.name}")
