"""What is done after a round of joining has failed."""

from __future__ import annotations

import logging

import pytest

from kafka.cluster import Backoff
from kafka.coordinator.classic.assignment import AssignorFailed
from kafka.coordinator.classic.join import (
    JoinRetries,
    ends_joining,
    error_for_caller,
    leads_elsewhere,
)
from kafka.errors import (
    CoordinatorLoadInProgressError,
    GroupAuthorizationFailedError,
    GroupMaxSizeReachedError,
    IllegalGenerationError,
    KafkaConnectionError,
    MemberIdRequiredError,
    NotCoordinatorError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)

ABOUT_THE_MEMBER = [
    IllegalGenerationError(),
    MemberIdRequiredError(),
    RebalanceInProgressError(),
    UnknownMemberIdError(),
]


@pytest.mark.parametrize("error", [*ABOUT_THE_MEMBER, KafkaConnectionError("x"), OSError("x")], ids=repr)
def test_another_round_may_mend_it(error: Exception) -> None:
    assert not ends_joining(error)


@pytest.mark.parametrize(
    "error", [GroupAuthorizationFailedError("g"), GroupMaxSizeReachedError("g"), AssignorFailed()], ids=repr
)
def test_the_caller_has_to_hear_of_it(error: Exception) -> None:
    assert ends_joining(error)


def test_another_coordinator_is_looked_up_if_that_may_help() -> None:
    assert not any(leads_elsewhere(error) for error in [*ABOUT_THE_MEMBER, CoordinatorLoadInProgressError()])
    assert all(leads_elsewhere(error) for error in [NotCoordinatorError(), KafkaConnectionError("x"), OSError("x")])


def test_the_caller_gets_an_assignors_own_error_and_others_as_they_are() -> None:
    cause = ValueError("of the assignor")
    failed, refused = AssignorFailed(), GroupAuthorizationFailedError("g")
    failed.__cause__ = refused.__cause__ = cause
    assert error_for_caller(failed) is cause
    assert error_for_caller(refused) is refused
    bare = AssignorFailed()
    assert error_for_caller(bare) is bare


async def test_a_caller_that_polls_on_after_refusals_waits_longer_each_time() -> None:
    retries = JoinRetries("g", Backoff(100, 10_000))
    attempts, pause = retries.begin()
    assert pause == 0
    retries.refused()
    assert 0.08 <= retries.begin()[1] <= 0.12
    retries.refused()
    assert 0.16 <= retries.begin()[1] <= 0.24
    retries.succeeded(attempts)
    assert retries.begin()[1] == 0


async def test_the_first_concurrent_rebalance_is_retried_at_once(caplog: pytest.LogCaptureFixture) -> None:
    retries = JoinRetries("g", Backoff(100, 10_000))
    attempts, _ = retries.begin()
    assert retries.pause_after(RebalanceInProgressError(), attempts) == 0
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert retries.pause_after(RebalanceInProgressError(), attempts) > 0
    (line,) = caplog.messages
    assert line.startswith("joining group 'g' failed: ")


async def test_other_failures_have_a_pause_from_the_first() -> None:
    retries = JoinRetries("g", Backoff(100, 10_000))
    attempts, _ = retries.begin()
    assert retries.pause_after(KafkaConnectionError("x"), attempts) >= 0.08
