"""The states of a transactional id and their transitions.

EMPTY ──▶ ONGOING ──▶ PREPARE_COMMIT ──▶ COMPLETE_COMMIT
  │ ▲        ▲  │                            │
  │ │        │  └────▶ PREPARE_ABORT ──▶ COMPLETE_ABORT
  │ │        │            ▲                  │
  └─│────────│────────────┤                  │
    └────────┴────────────┴──────────────────┘
A new producer makes it EMPTY again; version 2 can also abort an empty transaction (KIP-890).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final


class TransactionState(Enum):
    """A state; the value is Kafka's name for it in responses."""

    EMPTY = "Empty"
    """No transaction since a producer has initialized the id."""
    ONGOING = "Ongoing"
    """A transaction is open."""
    PREPARE_COMMIT = "PrepareCommit"
    """The decision to commit is on disk; markers are still to be written."""
    PREPARE_ABORT = "PrepareAbort"
    """The same, for an abort."""
    COMPLETE_COMMIT = "CompleteCommit"
    """The transaction was committed, and all markers are written."""
    COMPLETE_ABORT = "CompleteAbort"
    """The same, for an abort."""


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
"""Kafka's other states, which this broker never uses."""
