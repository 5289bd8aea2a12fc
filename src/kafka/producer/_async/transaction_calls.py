"""The calls of a transactional producer besides sending, and `producer.transaction()` as a block."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from kafka.coordinator.offset_arguments import check_group, check_offsets
from kafka.errors import IllegalStateError, KafkaError, TransactionAbortableError
from kafka.producer.core import ProducerCore
from kafka.producer.runners import LoopRunner
from kafka.producer.transactions.state_machine import TransactionIdentity, TransactionState
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    import types

log = logging.getLogger(__name__)

_OPEN = (TransactionState.OPEN, TransactionState.PREPARED)
_MAY_BE_ABORTED = (*_OPEN, TransactionState.FAILED)


class AsyncTransactionCalls:
    """The calls of a producer that has the option `transactional_id`, as in Kafka's Java producer.

    Three kinds of errors tell what to do. `TransactionAbortableError`: some of the transaction could not be written,
    and the error's cause says what. Call `abort_transaction()`; the producer can then be used again.
    `TransactionFatalError`, including `ProducerFencedError` (another producer of this name has taken over): close the
    producer. `KafkaTimeoutError`: `max_block_ms` have passed, and nothing is decided. Repeat the call to go on waiting.
    You can also repeat a call that was interrupted; it does nothing if it has succeeded in the meantime.
    """

    _core: ProducerCore | None
    _runner: LoopRunner

    async def init_transactions(self) -> None:
        """Get the producer an id and epoch: before the first transaction, and after a prepared one.

        Every earlier producer with this `transactional_id` is fenced, and what it left open is aborted (KIP-98). A
        producer whose prepared transaction was ended by its identity is ready for the next one; if it was not ended
        yet, it is aborted.

        Raises `TransactionalIdAuthorizationFailedError`, `InvalidTransactionTimeoutError` (`transaction_timeout_ms` is
        more than the broker allows), `UnsupportedVersionError` before Kafka 0.11, and see the class.
        """
        core = self._started()
        await self._runner.run(core, core.transactions.init())

    async def begin_transaction(self) -> None:
        """Open a transaction: what is sent from now on belongs to it. Raises `IllegalStateError` if one is open."""
        core = self._started()
        await self._runner.run(core, core.transactions.begin())

    async def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_metadata: ConsumerGroupMetadata | str | None = None,
        *,
        consumer_group_id: ConsumerGroupMetadata | str | None = None,
    ) -> None:
        """Commit offsets of a consumer group with the transaction (KIP-447).

        The consumer has ``enable_auto_commit=False``, and does not commit these offsets itself.

        Arguments:
            offsets: by partition, the offset of the next record to read.
            group_metadata: of the consumer, whose membership the coordinator checks then (Kafka 2.5); or only the name
                of the group, for a consumer whose partitions were assigned by hand.
            consumer_group_id: the same, by the name that it had in kafka-python 2.

        Raises `TransactionAbortableError`, from a `CommitFailedError` where the group has rebalanced meanwhile, and see
        the class.
        """
        core = self._started()
        transactions = core.transactions
        await self._runner.run(
            core, transactions.send_offsets(check_offsets(offsets), check_group(group_metadata, consumer_group_id))
        )

    async def commit_transaction(self) -> None:
        """Send what is buffered, wait for it, and commit the transaction; see the class for what it raises."""
        core = self._started()
        await self._runner.run(core, core.transactions.commit())

    async def abort_transaction(self) -> None:
        """Drop what is not sent, whose futures fail with `TransactionAbortedError`, and abort the transaction."""
        core = self._started()
        await self._runner.run(core, core.transactions.abort())

    async def prepare_transaction(self) -> TransactionIdentity | None:
        """Send what is buffered, wait for it, and return an identity by which any process can end it.

        For two-phase commits: the identity consists of plain values that the program can store. `end_transactions` of
        `kafka.producer.transactions` uses it to commit or abort. Until then this producer accepts no more records. It
        may be closed, which leaves the transaction open; the coordinator aborts it `transaction_timeout_ms` after it
        began. `commit_transaction()` and `abort_transaction()` end it, too.

        Returns None if nothing was sent, because there is nothing to end then. Raises as `commit_transaction`.
        """
        core = self._started()
        return await self._runner.run(core, core.transactions.prepare())

    def transaction(self) -> AsyncTransactionBlock:
        """A transaction as a block, ``async with producer.transaction():``.

        It is committed at the end of the block. An exception in the block aborts it and propagates; so does a
        `TransactionAbortableError` of the commit.
        """
        return AsyncTransactionBlock(self)

    @property
    def transaction_identity(self) -> TransactionIdentity:
        """The open transaction: transactional id, producer id, epoch and version of transactions.

        Raises `IllegalStateError` if none is open.
        """
        transactions = self._started().transactions
        state = transactions.state
        if state in (TransactionState.UNINITIALIZED, TransactionState.INITIALIZING, TransactionState.READY):
            raise IllegalStateError(f"no transaction is open: {state.value} ({state.name})")
        return transactions.identity

    @property
    def transaction_state(self) -> TransactionState:
        """The state of the producer. Raises `IllegalStateError` without `transactional_id`."""
        return self._started().transactions.state

    def _started(self) -> ProducerCore:
        """The core, of a producer that is started."""
        if self._core is None:
            raise IllegalStateError("the producer is not started: start() it first, or use it as a context manager")
        return self._core


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
        """Abort; errors meanwhile are logged, because the caller gets the error that came before them."""
        if self._producer.transaction_state not in _MAY_BE_ABORTED:
            return
        try:
            await self._producer.abort_transaction()
        except KafkaError as error:
            log.warning("aborting a transaction whose block has failed: %s", error)
