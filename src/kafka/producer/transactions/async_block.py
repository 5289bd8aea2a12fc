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


class HasAsyncTransactions(Protocol):
    """What the block needs of its producer."""

    @property
    def transaction_state(self) -> TransactionState:
        """Where the producer stands."""

    async def begin_transaction(self) -> None:
        """Open a transaction."""

    async def commit_transaction(self) -> None:
        """Commit it."""

    async def abort_transaction(self) -> None:
        """Abort it."""


class AsyncTransactionBlock:
    """What `AsyncKafkaProducer.transaction` returns.

    Arguments:
        producer: whose transaction.
    """

    def __init__(self, producer: HasAsyncTransactions) -> None:
        self._producer = producer

    async def __aenter__(self) -> AsyncTransactionBlock:
        await self._producer.begin_transaction()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        producer = self._producer
        if error is None:
            if producer.transaction_state is TransactionState.READY:  # the block has ended it
                return
            try:
                await producer.commit_transaction()
            except TransactionAbortableError:
                await self._abort()
                raise
        else:
            await self._abort()

    async def _abort(self) -> None:
        """Abort; what fails meanwhile is logged, as the caller is told of what came before it."""
        if self._producer.transaction_state not in _MAY_BE_ABORTED:
            return
        try:
            await self._producer.abort_transaction()
        except KafkaError as error:
            log.warning("aborting a transaction whose block has failed: %s", error)
