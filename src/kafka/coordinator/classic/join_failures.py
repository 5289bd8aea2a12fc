"""What to do after a round of joining has failed: tell the caller, or wait, and how long, before the next round."""

import logging

from kafka.cluster import Attempts, Backoff, RetryPolicy
from kafka.coordinator.classic.assignment import AssignorFailed
from kafka.errors import (
    CoordinatorLoadInProgressError,
    IllegalGenerationError,
    KafkaError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)

log = logging.getLogger(__name__)

_ABOUT_THE_MEMBER = (
    IllegalGenerationError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
"""Not retriable as they are, but the next round is another request."""


def ends_joining(error: Exception) -> bool:
    """Whether the caller has to hear of it, as joining again would fail alike."""
    if isinstance(error, KafkaError):
        return not error.retriable and not isinstance(error, _ABOUT_THE_MEMBER)
    return isinstance(error, AssignorFailed)


def leads_elsewhere(error: Exception) -> bool:
    """Whether another coordinator may do better."""
    return not isinstance(error, (CoordinatorLoadInProgressError, *_ABOUT_THE_MEMBER))


def error_for_caller(error: Exception) -> Exception:
    """What the caller is told: an assignor's own error as it is."""
    cause = error.__cause__
    return cause if isinstance(error, AssignorFailed) and isinstance(cause, Exception) else error


class JoinRetries:
    """Counts what fails between two memberships.

    Arguments:
        group_id: the group.
        backoff: pauses between attempts.
    """

    def __init__(self, group_id: str, backoff: Backoff) -> None:
        self._group_id = group_id
        self._backoff = backoff
        self._policy = RetryPolicy(backoff, log, quiet=1, fatal=ends_joining)
        self._refusals = 0

    def begin(self) -> tuple[Attempts, float]:
        """The attempts of a join, and the pause before its first round, for a caller that polls on after refusals."""
        return self._policy.attempts(f"joining group {self._group_id!r}"), self._backoff.seconds(self._refusals)

    def refused(self) -> None:
        """The join has failed for good; the next `poll()` may begin another."""
        self._refusals += 1

    def succeeded(self, attempts: Attempts) -> None:
        """This consumer is a member."""
        self._refusals = 0
        attempts.succeeded()

    def pause_after(self, error: Exception, attempts: Attempts) -> float:
        """How long to wait before the next round, in seconds; counts and logs the failure."""
        pause = attempts.note(error)
        if isinstance(error, RebalanceInProgressError) and attempts.failures == 1:
            return 0.0  # others have come at the same time, which is usual; only when it repeats something is wrong
        return pause
