"""What names a transaction; the states of a transactional producer, and which calls and moves each allows (KIP-98).

One transaction is open at a time. Calls of the program change the state; so does the loop, when a request is answered
or a record of the transaction could not be delivered.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from kafka.errors import IllegalStateError, KafkaError, TransactionAbortableError


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
