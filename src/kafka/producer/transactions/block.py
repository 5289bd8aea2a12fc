# Written by scripts/twins.py from kafka/producer/transactions/async_block.py: change that file, not this one.
"""A transaction as a block: committed where the block ends, aborted where it raises."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from kafka.errors import KafkaError, TransactionAbortableError
from kafka.producer.transactions.state import TransactionState

if TYPE_CHECKING:
    import types

log = logging.getLogger(__name__)

_OPEN = (TransactionState.OPEN, TransactionState.PREPARED)
_MAY_BE_ABORTED = (*_OPEN, TransactionState.FAILED)


class HasTransactions(Protocol):
    """What the block needs of its producer."""

    @property
    def transaction_state(self) -> TransactionState:
        """Where the producer stands."""

    def begin_transaction(self) -> None:
        """Open a transaction."""

    def commit_transaction(self) -> None:
        """Commit it."""

    def abort_transaction(self) -> None:
        """Abort it."""


class TransactionBlock:
    """What `KafkaProducer.transaction` returns.

    Arguments:
        producer: whose transaction.
    """

    def __init__(self, producer: HasTransactions) -> None:
        self._producer = producer

    def __enter__(self) -> TransactionBlock:
        self._producer.begin_transaction()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        producer = self._producer
        if error is None:
            if producer.transaction_state is TransactionState.READY:  # the block has ended it
                return
            try:
                producer.commit_transaction()
            except TransactionAbortableError:
                self._abort()
                raise
        else:
            self._abort()

    def _abort(self) -> None:
        """Abort; what fails meanwhile is logged, as the caller is told of what came before it."""
        if self._producer.transaction_state not in _MAY_BE_ABORTED:
            return
        try:
            self._producer.abort_transaction()
        except KafkaError as error:
            log.warning("aborting a transaction whose block has failed: %s", error)
