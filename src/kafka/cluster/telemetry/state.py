"""The states of a client's telemetry, and the moves between them that are allowed; Java: ``ClientTelemetryState``."""

import enum

from kafka.errors import IllegalStateError


class TelemetryState(enum.Enum):
    """Where it stands."""

    SUBSCRIPTION_NEEDED = "a broker is to be asked what it wants, when that is due"
    SUBSCRIPTION_IN_PROGRESS = "it was asked"
    PUSH_NEEDED = "metrics are to be pushed, when that is due"
    PUSH_IN_PROGRESS = "they were sent"
    TERMINATING_PUSH_IN_PROGRESS = "the client is being closed: the last ones were sent"
    DISABLED = "a broker refuses for good what this client sends: nothing more is sent"
    TERMINATED = "the client is closed"


_S = TelemetryState
TRANSITIONS: dict[TelemetryState, frozenset[TelemetryState]] = {
    _S.SUBSCRIPTION_NEEDED: frozenset({_S.SUBSCRIPTION_IN_PROGRESS, _S.TERMINATED}),
    _S.SUBSCRIPTION_IN_PROGRESS: frozenset({_S.PUSH_NEEDED, _S.SUBSCRIPTION_NEEDED, _S.DISABLED, _S.TERMINATED}),
    _S.PUSH_NEEDED: frozenset({_S.PUSH_IN_PROGRESS, _S.TERMINATING_PUSH_IN_PROGRESS, _S.TERMINATED}),
    _S.PUSH_IN_PROGRESS: frozenset(
        {_S.PUSH_NEEDED, _S.SUBSCRIPTION_NEEDED, _S.DISABLED, _S.TERMINATING_PUSH_IN_PROGRESS, _S.TERMINATED}
    ),
    _S.TERMINATING_PUSH_IN_PROGRESS: frozenset({_S.TERMINATED}),
    _S.DISABLED: frozenset({_S.TERMINATED}),
    _S.TERMINATED: frozenset(),
}


def check_move(before: TelemetryState, after: TelemetryState) -> None:
    """Raise `IllegalStateError` for a move that is not in the table."""
    if after not in TRANSITIONS[before]:
        raise IllegalStateError(f"telemetry cannot become {after.name} while it is {before.name}")
