"""The states of a transactional producer, the calls and transitions that each allows, and what errors mean (KIP-98).

One transaction is open at a time. The program's calls change the state, and so does the loop when a request is answered
or a record of the transaction cannot be delivered.

`failure_of` and `fatal_in_a_batch` decide after which errors a transaction must be aborted, and after which the
producer is unusable. They follow Kafka's Java client, but allow more errors to be aborted: the coordinator decides
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
    """A transaction, as another process can end it: plain values, which can be written down.

    Arguments:
        transactional_id: of the producer.
        producer_id, producer_epoch: that the coordinator gave to the producer.
        transaction_version: 1, or 2 where every transaction has an epoch of its own (KIP-890). It belongs to the
            transaction: what was begun as one cannot be ended as the other.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    transaction_version: int


class TransactionState(enum.Enum):
    """Where a transactional producer stands."""

    UNINITIALIZED = "the producer has no id yet"
    INITIALIZING = "an id is being asked for, and what an earlier producer left open is being aborted"
    READY = "no transaction is open"
    OPEN = "a transaction is open"
    PREPARED = "all of the transaction is written, and it takes no more: it waits to be committed or aborted"
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
"""The states that allow each call; a repeated call after an interruption finds the state that the first one led to."""

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
"""States in which records of the transaction may be on their way; only `OPEN` takes new ones."""


class TransactionStateMachine:
    """Holds the state, and why it is `FAILED` or `FATAL`; `move` is the only way to change it."""

    def __init__(self) -> None:
        self._state = TransactionState.UNINITIALIZED
        self.error: KafkaError | None = None
        """What made the transaction fail, or the producer unusable."""

    @property
    def state(self) -> TransactionState:
        """The present state; may be read from any thread."""
        return self._state

    def move(self, new: TransactionState, error: KafkaError | None = None) -> None:
        """Go over to ``new``; raises `IllegalStateError` where the table has no such move."""
        if new not in TRANSITIONS[self._state]:
            raise IllegalStateError(f"a transactional producer cannot go from {self._state.name} to {new.name}")
        self._state = new
        self.error = error

    def check(self, call: str) -> None:
        """Raise what `refusal` gives."""
        refusal = self.refusal(call)
        if refusal is not None:
            raise refusal

    def refusal(self, call: str) -> KafkaError | None:
        """Return why a call is not allowed now, or None if it is.

        This is a `TransactionAbortableError` if the transaction has to be aborted, or the error that made the producer
        unusable. Otherwise, it is an `IllegalStateError` that names the state and the call to make.
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
        """The error of a transaction that has failed."""
        error = TransactionAbortableError(f"the transaction has failed and must be aborted: {self.error}")
        error.__cause__ = self.error
        return error


def _again(error: KafkaError) -> KafkaError:
    """Copy an error, because raising it keeps the frames that it was raised in alive."""
    made = type(error)(*error.args)
    made.__cause__ = error.__cause__
    return made


Step = Literal["init", "add", "commit", "abort", "epoch"]
"""What was asked of the coordinator: an id; to add partitions or offsets; to end the transaction; another epoch."""

_FENCED = (ProducerFencedError, InvalidProducerEpochError)
_NO_ADDING = (TransactionalIdAuthorizationFailedError, InvalidTxnStateError)
_NO_COMMIT_BUT_ABORT = (
    InvalidProducerIdMappingError,
    InvalidTxnStateError,  # of version 2 it has timed out, and the coordinator takes an abort
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
    """The error to tell, and whether the producer cannot go on."""
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
    """The error to tell, if one of a batch is such that the producer cannot go on.

    A broker's INVALID_PRODUCER_EPOCH is not: the transaction may have timed out, which the coordinator knows (KIP-588).
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
