"""The states of a transactional id, and which may follow which.

EMPTY ──▶ ONGOING ──▶ PREPARE_COMMIT ──▶ COMPLETE_COMMIT
  │ ▲        ▲  │                            │
  │ │        │  └────▶ PREPARE_ABORT ──▶ COMPLETE_ABORT
  │ │        │            ▲                  │
  └─│────────│────────────┤                  │
    └────────┴────────────┴──────────────────┘
A producer that comes anew makes it EMPTY again; version 2 aborts what is empty, too (KIP-890).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final


class TransactionState(Enum):
    """A state; the value is Kafka's name for it, as responses spell it."""

    EMPTY = "Empty"
    """No transaction since a producer came with the id."""
    ONGOING = "Ongoing"
    """A transaction is open."""
    PREPARE_COMMIT = "PrepareCommit"
    """It is decided and on disk that the transaction is committed; markers are still to be written."""
    PREPARE_ABORT = "PrepareAbort"
    """The same, aborted."""
    COMPLETE_COMMIT = "CompleteCommit"
    """The transaction was committed, and all markers are written."""
    COMPLETE_ABORT = "CompleteAbort"
    """The same, aborted."""


_S = TransactionState
FOLLOWERS: Final[Mapping[TransactionState, frozenset[TransactionState]]] = {
    _S.EMPTY: frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT}),
    _S.ONGOING: frozenset({_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT}),
    _S.PREPARE_COMMIT: frozenset({_S.COMPLETE_COMMIT}),
    _S.PREPARE_ABORT: frozenset({_S.COMPLETE_ABORT}),
    _S.COMPLETE_COMMIT: frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT}),
    _S.COMPLETE_ABORT: frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT}),
}
PREPARED: Final = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
OTHER_NAMES: Final = frozenset({"Dead", "PrepareEpochFence"})
"""States that Kafka has beside these, and in which no id of this broker ever is."""
