# Written by scripts/twins.py from kafka/producer/_async/transaction_calls.py: change that file, not this one.
"""The transactional methods of a producer, and `producer.transaction()` as a context manager."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from kafka.coordinator.offset_arguments import check_group, check_offsets
from kafka.errors import IllegalStateError, KafkaError, TransactionAbortableError
from kafka.producer.core import ProducerCore
from kafka.producer.runners import ThreadRunner
from kafka.producer.transactions.state_machine import TransactionIdentity, TransactionState
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    import types

log = logging.getLogger(__name__)

_OPEN = (TransactionState.OPEN, TransactionState.PREPARED)
_MAY_BE_ABORTED = (*_OPEN, TransactionState.FAILED)


class TransactionCalls:
    """The methods for a producer with the option `transactional_id`, as in Kafka's Java producer.

    Three kinds of errors require different reactions. `TransactionAbortableError`: part of the transaction could not be
    written; the error's cause says why. Call `abort_transaction()`; the producer can then be used again.
    `TransactionFatalError`, including `ProducerFencedError` (another producer with this id has taken over): close the
    producer. `KafkaTimeoutError`: the outcome is still unknown after `max_block_ms`. Repeat the call to continue
    waiting. You can also repeat a call that was interrupted; it does nothing if it has succeeded in the meantime.
    """

    _core: ProducerCore | None
    _runner: ThreadRunner

    def init_transactions(self) -> None:
        """Request a producer id and epoch, before the first transaction and after a prepared one.

        Fences every earlier producer with this `transactional_id` and aborts its open transaction (KIP-98). If a
        prepared transaction has already been ended through its identity, the producer is then ready for the next
        transaction; otherwise the prepared transaction is aborted.

        Raises `TransactionalIdAuthorizationFailedError`, `InvalidTransactionTimeoutError` if `transaction_timeout_ms`
        is more than the broker allows, `UnsupportedVersionError` before Kafka 0.11, and `KafkaTimeoutError` after
        `max_block_ms`: call it again to continue waiting.
        """
        core = self._started()
        self._runner.run(core, core.transactions.init())

    def begin_transaction(self) -> None:
        """Begin a transaction for all records sent from now on. Raises `IllegalStateError` if a transaction is open."""
        core = self._started()
        self._runner.run(core, core.transactions.begin())

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_metadata: ConsumerGroupMetadata | str | None = None,
        *,
        consumer_group_id: ConsumerGroupMetadata | str | None = None,
    ) -> None:
        """Commit a consumer group's offsets as part of the transaction (KIP-447).

        The consumer must use ``enable_auto_commit=False`` and must not commit these offsets itself.

        Arguments:
            offsets: the offset of the next record to read, by partition.
            group_metadata: the consumer's group metadata, with which the coordinator checks the consumer's membership
                (Kafka 2.5); or just the group's name, for a consumer with manually assigned partitions.
            consumer_group_id: the same as `group_metadata`, under its name in kafka-python 2.

        Raises `TransactionAbortableError`, caused by a `CommitFailedError`, if the group has rebalanced in the
        meantime, and otherwise the same errors as `commit_transaction`.
        """
        core = self._started()
        transactions = core.transactions
        self._runner.run(
            core, transactions.send_offsets(check_offsets(offsets), check_group(group_metadata, consumer_group_id))
        )

    def commit_transaction(self) -> None:
        """Send all buffered records, wait for them, and commit the transaction.

        Raises `TransactionAbortableError` if part of the transaction could not be written: abort the transaction.
        Raises `TransactionFatalError`, or its subclass `ProducerFencedError`, if the producer cannot continue: close
        it. Raises `KafkaTimeoutError` after `max_block_ms`: call it again to continue waiting. See also
        docs/TRANSACTIONS.md.
        """
        core = self._started()
        self._runner.run(core, core.transactions.commit())

    def abort_transaction(self) -> None:
        """Abort the transaction. Unsent records are dropped; their futures fail with `TransactionAbortedError`.

        Raises `TransactionFatalError` and `KafkaTimeoutError`, as `commit_transaction` does.
        """
        core = self._started()
        self._runner.run(core, core.transactions.abort())

    def prepare_transaction(self) -> TransactionIdentity | None:
        """Send all buffered records, wait for them, and return the identity needed to end the transaction.

        For two-phase commits: the identity consists of plain values that the program can store. `end_transactions` of
        `kafka.producer.transactions` uses it to commit or abort. Until the transaction has ended, this producer accepts
        no more records. The producer may be closed, which leaves the transaction open; the coordinator aborts the
        transaction `transaction_timeout_ms` after it began. `commit_transaction()` and `abort_transaction()` can also
        end the transaction.

        Returns None if nothing was sent and there is nothing to end. Raises the same errors as `commit_transaction`.
        """
        core = self._started()
        return self._runner.run(core, core.transactions.prepare())

    def transaction(self) -> TransactionBlock:
        """Return a context manager for one transaction: ``with producer.transaction(): ...``

        The transaction is committed at the end of the block. An exception in the block aborts it and propagates; a
        `TransactionAbortableError` from the commit is handled in the same way.
        """
        return TransactionBlock(self)

    @property
    def transaction_identity(self) -> TransactionIdentity:
        """The open transaction's identity: transactional id, producer id, epoch and transaction version.

        Raises `IllegalStateError` if none is open.
        """
        transactions = self._started().transactions
        state = transactions.state
        if state in (TransactionState.UNINITIALIZED, TransactionState.INITIALIZING, TransactionState.READY):
            raise IllegalStateError(f"no transaction is open: {state.value} ({state.name})")
        return transactions.identity

    @property
    def transaction_state(self) -> TransactionState:
        """The producer's state. Raises `IllegalStateError` without `transactional_id`."""
        return self._started().transactions.state

    def _started(self) -> ProducerCore:
        """Return the core of a started producer."""
        if self._core is None:
            raise IllegalStateError("the producer is not started: start() it first, or use it as a context manager")
        return self._core


class HasTransactions(Protocol):
    """The producer's methods that the context manager calls."""

    @property
    def transaction_state(self) -> TransactionState:
        """The producer's state."""

    def begin_transaction(self) -> None:
        """Begin a transaction."""

    def commit_transaction(self) -> None:
        """Commit the transaction."""

    def abort_transaction(self) -> None:
        """Abort the transaction."""


class TransactionBlock:
    """The context manager returned by `KafkaProducer.transaction`.

    Arguments:
        producer: the transactional producer.
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
            if producer.transaction_state is TransactionState.READY:  # the block has already ended the transaction
                return
            try:
                producer.commit_transaction()
            except TransactionAbortableError:
                self._abort()
                raise
        else:
            self._abort()

    def _abort(self) -> None:
        """Abort the transaction. Errors are only logged, because the caller gets the error that came first."""
        if self._producer.transaction_state not in _MAY_BE_ABORTED:
            return
        try:
            self._producer.abort_transaction()
        except KafkaError as error:
            log.warning("aborting a transaction whose block has failed: %s", error)
