"""Which calls a transactional producer takes in which state, and what it says to the others."""

from __future__ import annotations

import itertools

import pytest

from kafka.errors import IllegalStateError, KafkaError, ProducerFencedError, TransactionAbortableError
from kafka.producer.transactions.state_machine import (
    CALLS,
    TRANSITIONS,
    Step,
    TransactionState,
    TransactionStateMachine,
    failure_of,
    fatal_in_a_batch,
)

pytestmark = pytest.mark.once

ALLOWED = """
UNINITIALIZED INITIALIZING
INITIALIZING READY UNINITIALIZED FATAL
READY OPEN
OPEN PREPARED COMMITTING ABORTING FAILED FATAL
PREPARED INITIALIZING COMMITTING ABORTING FAILED FATAL
COMMITTING READY FAILED FATAL
ABORTING READY FAILED FATAL
FAILED ABORTING FATAL
FATAL
"""
WAY_TO = {
    "UNINITIALIZED": "",
    "INITIALIZING": "INITIALIZING",
    "READY": "INITIALIZING READY",
    "OPEN": "INITIALIZING READY OPEN",
    "PREPARED": "INITIALIZING READY OPEN PREPARED",
    "COMMITTING": "INITIALIZING READY OPEN COMMITTING",
    "ABORTING": "INITIALIZING READY OPEN ABORTING",
    "FAILED": "INITIALIZING READY OPEN FAILED",
    "FATAL": "INITIALIZING FATAL",
}
NEXT_CALL = {
    "UNINITIALIZED": "init_transactions",
    "INITIALIZING": "init_transactions",
    "READY": "begin_transaction",
    "OPEN": "commit_transaction",
    "PREPARED": "commit_transaction",
    "COMMITTING": "commit_transaction",
    "ABORTING": "abort_transaction",
}


def machine_in(state: str) -> TransactionStateMachine:
    machine = TransactionStateMachine()
    for each in WAY_TO[state].split():
        error: KafkaError | None = None
        if each == "FAILED":
            error = KafkaError("a record was lost")
        elif each == "FATAL":
            error = ProducerFencedError("another one")
        machine.move(TransactionState[each], error)
    return machine


def test_the_table_contains_exactly_the_valid_transitions() -> None:
    rows = [line.split() for line in ALLOWED.strip().splitlines()]
    assert {row[0]: set(row[1:]) for row in rows} == {
        state.name: {each.name for each in moves} for state, moves in TRANSITIONS.items()
    }


@pytest.mark.parametrize("old", list(TransactionState))
@pytest.mark.parametrize("new", list(TransactionState))
def test_other_transitions_are_refused(old: TransactionState, new: TransactionState) -> None:
    machine = machine_in(old.name)
    if new in TRANSITIONS[old]:
        machine.move(new)
        assert machine.state is new
    else:
        with pytest.raises(IllegalStateError, match=f"from {old.name} to {new.name}"):
            machine.move(new)
        assert machine.state is old


@pytest.mark.parametrize(("call", "state"), list(itertools.product(CALLS, NEXT_CALL)))
def test_a_call_in_the_wrong_state_names_the_state_and_the_next_call(call: str, state: str) -> None:
    machine = machine_in(state)
    if machine.state in CALLS[call]:
        machine.check(call)
        return
    with pytest.raises(IllegalStateError, match=rf"{call}\(\) is not possible now: .*\({state}\)") as caught:
        machine.check(call)
    assert f"{NEXT_CALL[state]}()" in str(caught.value)


@pytest.mark.parametrize("call", sorted(set(CALLS) - {"abort_transaction", "begin_transaction"}))
def test_a_failed_transaction_can_only_be_aborted(call: str) -> None:
    machine = machine_in("FAILED")
    machine.check("abort_transaction")
    with pytest.raises(TransactionAbortableError, match="a record was lost") as caught:
        machine.check(call)
    assert caught.value.__cause__ is machine.error
    with pytest.raises(IllegalStateError, match=r"call abort_transaction\(\) first"):
        machine.check("begin_transaction")


@pytest.mark.parametrize("call", list(CALLS))
def test_an_unusable_producer_always_raises_the_reason(call: str) -> None:
    machine = machine_in("FATAL")
    with pytest.raises(ProducerFencedError, match="another one") as caught:
        machine.check(call)
    assert caught.value is not machine.error, "one that is raised keeps frames alive"


FATAL = {
    "init": set[str](),
    "add": {"TransactionalIdAuthorizationFailedError", "InvalidTxnStateError"},
    "commit": {"TransactionalIdAuthorizationFailedError", "TopicAuthorizationFailedError", "UnknownError"},
    "abort": {"TransactionalIdAuthorizationFailedError", "InvalidTxnStateError", "UnknownError"},
    "epoch": {"TransactionAbortableError", "InvalidTxnStateError", "UnknownError", "UnsupportedVersionError"},
}
NOT_FATAL = {
    "init": {"TransactionalIdAuthorizationFailedError", "InvalidTransactionTimeoutError"},
    "add": {"TopicAuthorizationFailedError", "GroupAuthorizationFailedError", "UnknownProducerIdError", "UnknownError"},
    "commit": {"InvalidTxnStateError", "InvalidProducerIdMappingError", "TransactionAbortableError"},
    "abort": {"TransactionAbortableError"},
    "epoch": set[str](),
}


@pytest.mark.parametrize("step", list(FATAL))
def test_errors_of_the_coordinator_are_fenced_fatal_or_abortable(step: Step) -> None:
    from kafka import errors

    for name in ("ProducerFencedError", "InvalidProducerEpochError"):
        failure, is_fatal = failure_of(getattr(errors, name)("why"), step)
        assert is_fatal
        assert type(failure) is ProducerFencedError
        assert "why" in str(failure)
        assert isinstance(failure, errors.TransactionFatalError)
    for name in FATAL[step]:
        failure, is_fatal = failure_of(getattr(errors, name)("why"), step)
        assert is_fatal, name
        assert type(failure) is errors.TransactionFatalError
        assert isinstance(failure.__cause__, getattr(errors, name))
    for name in NOT_FATAL[step]:
        error = getattr(errors, name)("why")
        assert failure_of(error, step) == (error, False)


def test_few_errors_of_a_batch_are_fatal() -> None:
    from kafka import errors

    assert type(fatal_in_a_batch(ProducerFencedError())) is ProducerFencedError
    for error in (errors.TransactionalIdAuthorizationFailedError(), errors.ClusterAuthorizationFailedError()):
        assert type(fatal_in_a_batch(error)) is errors.TransactionFatalError
    for error in (errors.InvalidProducerEpochError(), errors.OutOfOrderSequenceNumberError(), errors.KafkaError()):
        assert fatal_in_a_batch(error) is None
