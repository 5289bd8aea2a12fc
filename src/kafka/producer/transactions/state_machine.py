"""The states of a transactional producer, the calls and transitions that each allows, and what errors mean (KIP-98).

One transaction is open at a time. The program's calls change the state, and so does the loop when a request is answered
or a record in the transaction cannot be delivered.

`failure_of` and `fatal_in_a_batch` decide after which errors a transaction must be aborted, and after which the
producer is unusable. They follow Kafka's Java client, but allow an abort after more errors: the coordinator decides
whether the producer can continue when it is asked to abort.
"""

from __future__ import annotations

import enum
from typing import Literal, NamedTuple

from kafka.errors import (
    ClusterAuthorizationFailedError,
    IllegalStateError,
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    InvalidTxnStateError,
    KafkaError,
    ProducerFencedError,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailedError,
    TransactionFatalError,
    UnknownProducerIdError,
    UnsupportedVersionError,
)


class TransactionIdentity(NamedTuple):
    """The identity of a transaction, with which other processes can end it. It consists of plain values.

    Arguments:
        transactional_id: the producer's transactional id.
        producer_id, producer_epoch: id and epoch that the coordinator assigned to the producer.
        transaction_version: 1, or 2 if every transaction has a new epoch (KIP-890). A transaction must be ended with
            the version with which it was begun.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    transaction_version: int


class TransactionState(enum.Enum):
    """The state of a transactional producer: `KafkaProducer.transaction_state`. The values describe the states."""

    UNINITIALIZED = "the producer has no id yet"
    INITIALIZING = "an id is being requested, and an earlier producer's open transaction is being aborted"
    READY = "no transaction is open"
    OPEN = "a transaction is open"
    PREPARED = "the transaction is complete, accepts no more records, and waits to be committed or aborted"
    COMMITTING = "the transaction is being committed"
    ABORTING = "the transaction is being aborted"
    FAILED = "the transaction has failed: it can only be aborted"
    FATAL = "the producer cannot continue"


_UNINITIALIZED, _INITIALIZING, _READY, _OPEN, _PREPARED, _COMMITTING, _ABORTING, _FAILED, _FATAL = TransactionState

TRANSITIONS: dict[TransactionState, frozenset[TransactionState]] = {
    _UNINITIALIZED: frozenset({_INITIALIZING}),
    _INITIALIZING: frozenset({_READY, _UNINITIALIZED, _FATAL}),
    _READY: frozenset({_OPEN}),
    _OPEN: frozenset({_PREPARED, _COMMITTING, _ABORTING, _FAILED, _FATAL}),
    _PREPARED: frozenset({_INITIALIZING, _COMMITTING, _ABORTING, _FAILED, _FATAL}),
    _COMMITTING: frozenset({_READY, _FAILED, _FATAL}),
    _ABORTING: frozenset({_READY, _FAILED, _FATAL}),
    _FAILED: frozenset({_ABORTING, _FATAL}),
    _FATAL: frozenset(),
}

CALLS: dict[str, frozenset[TransactionState]] = {
    "init_transactions": frozenset({_UNINITIALIZED, _PREPARED}),
    "begin_transaction": frozenset({_READY}),
    "send": frozenset({_OPEN}),
    "send_offsets_to_transaction": frozenset({_OPEN}),
    "prepare_transaction": frozenset({_OPEN, _PREPARED}),
    "commit_transaction": frozenset({_OPEN, _PREPARED}),
    "abort_transaction": frozenset({_OPEN, _PREPARED, _FAILED}),
}
"""The states that allow each call. A call repeated after an interruption finds the state that the first call led to."""

_WHAT_TO_DO = {
    _UNINITIALIZED: "call init_transactions() first",
    _INITIALIZING: "call init_transactions() again to wait for it",
    _READY: "call begin_transaction() first",
    _OPEN: "commit_transaction() or abort_transaction() ends it",
    _PREPARED: "commit_transaction() or abort_transaction() ends it",
    _COMMITTING: "call commit_transaction() again to wait for it",
    _ABORTING: "call abort_transaction() again to wait for it",
}

MAY_SEND = frozenset({_OPEN, _PREPARED, _COMMITTING})
"""States in which records of the transaction may be in flight; only `OPEN` accepts new ones."""


class TransactionStateMachine:
    """Holds the state, and the reason for `FAILED` or `FATAL`. Only `move` changes the state."""

    def __init__(self) -> None:
        self._state = TransactionState.UNINITIALIZED
        self.error: KafkaError | None = None
        """Why the transaction has failed, or why the producer is unusable."""

    @property
    def state(self) -> TransactionState:
        """The current state; any thread may read it."""
        return self._state

    def move(self, new: TransactionState, error: KafkaError | None = None) -> None:
        """Change to the state ``new``; raises `IllegalStateError` if the table has no such transition."""
        if new not in TRANSITIONS[self._state]:
            raise IllegalStateError(f"a transactional producer cannot go from {self._state.name} to {new.name}")
        self._state = new
        self.error = error

    def check(self, call: str) -> None:
        """Raise the error that `refusal` returns, if any."""
        refusal = self.refusal(call)
        if refusal is not None:
            raise refusal

    def refusal(self, call: str) -> KafkaError | None:
        """Return the error that explains why a call is not allowed now, or None if the call is allowed.

        If the transaction must be aborted, this is a `TransactionAbortableError`. If the producer is unusable, it is
        the error that made it so. Otherwise, it is an `IllegalStateError` that names the state and the call to make.
        """
        if self._state in CALLS[call]:
            return None
        if self._state is TransactionState.FATAL:
            assert self.error is not None
            return _again(self.error)
        if self._state is TransactionState.FAILED and call != "begin_transaction":
            return self.abortable()
        if self._state is TransactionState.FAILED:
            what = "call abort_transaction() first"
        elif self._state is TransactionState.READY and call == "init_transactions":
            what = "init_transactions() was called before; begin_transaction() is next"
        else:
            what = _WHAT_TO_DO[self._state]
        return IllegalStateError(f"{call}() is not possible now: {self._state.value} ({self._state.name}); {what}")

    def abortable(self) -> TransactionAbortableError:
        """Return the error for calls in a failed transaction."""
        error = TransactionAbortableError(f"the transaction has failed and must be aborted: {self.error}")
        error.__cause__ = self.error
        return error


def _again(error: KafkaError) -> KafkaError:
    """Copy an error, because the traceback of a raised error keeps its frames alive."""
    made = type(error)(*error.args)
    made.__cause__ = error.__cause__
    return made


Step = Literal["init", "add", "commit", "abort", "epoch"]
"""Requests to the coordinator: request an id, add partitions or offsets, end the transaction, request a new epoch."""

_FENCED = (ProducerFencedError, InvalidProducerEpochError)
_NO_ADDING = (TransactionalIdAuthorizationFailedError, InvalidTxnStateError)
_NO_COMMIT_BUT_ABORT = (
    InvalidProducerIdMappingError,
    InvalidTxnStateError,  # a version 2 transaction has timed out, and the coordinator accepts an abort
    TransactionAbortableError,
    UnknownProducerIdError,
)
_NO_PRODUCING = (
    ClusterAuthorizationFailedError,
    ProducerFencedError,
    TransactionalIdAuthorizationFailedError,
    UnsupportedVersionError,
)


def failure_of(error: KafkaError, step: Step) -> tuple[KafkaError, bool]:
    """Return the error to raise, and whether the producer is unusable."""
    if isinstance(error, _FENCED):
        return _fenced(error), True
    if step == "init":
        return error, False
    if step == "add" and not isinstance(error, _NO_ADDING):
        return error, False
    if step == "commit" and isinstance(error, _NO_COMMIT_BUT_ABORT):
        return error, False
    if step == "abort" and isinstance(error, TransactionAbortableError):
        return error, False
    return _fatal(error), True


def fatal_in_a_batch(error: KafkaError) -> KafkaError | None:
    """Return the error to raise if a batch's error makes the producer unusable; otherwise return None.

    A broker's INVALID_PRODUCER_EPOCH does not make the producer unusable: the transaction may have timed out, which
    only the coordinator knows (KIP-588).
    """
    if isinstance(error, ProducerFencedError):
        return _fenced(error)
    return _fatal(error) if isinstance(error, _NO_PRODUCING) else None


def _fenced(error: KafkaError) -> ProducerFencedError:
    text = error.args[0] if error.args else error
    fenced = ProducerFencedError(
        f"another producer with this transactional_id has taken over, or a transaction has timed out: {text}"
    )
    fenced.__cause__ = error
    return fenced


def _fatal(error: KafkaError) -> TransactionFatalError:
    fatal = TransactionFatalError(f"the producer cannot continue, close it and create a new one: {error}")
    fatal.__cause__ = error
    return fatal
