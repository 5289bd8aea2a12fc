"""The transactions of one producer: its calls, and how failures affect the open transaction.

A call starts a task and waits for it. If the call is interrupted or times out, the task continues, and repeating the
call resumes waiting: whether a transaction is committed does not depend on its waiters. The state `FAILED` and the ways
to leave it are the same as in Kafka's Java client, with one exception. If a version 2 transaction has timed out, the
Java client gives up although the coordinator allows the producer to continue; here, the transaction can be aborted.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from kafka.errors import (
    IllegalStateError,
    InvalidProducerIdMappingError,
    InvalidTxnStateError,
    KafkaError,
    KafkaTimeoutError,
    TransactionAbortedError,
    UnknownProducerIdError,
    UnknownTopicIdError,
)
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.idempotence import Idempotence
from kafka.producer.send.batch_results import BatchResults
from kafka.producer.send.outgoing_batches import OutgoingBatches
from kafka.producer.transactions.state_machine import (
    MAY_SEND,
    Step,
    TransactionIdentity,
    TransactionState,
    TransactionStateMachine,
    failure_of,
    fatal_in_a_batch,
)
from kafka.producer.transactions.transaction_partitions import TransactionPartitions
from kafka.producer.transactions.transaction_requests import Offsets, TransactionRequests
from kafka.structs import ConsumerGroupMetadata, TopicPartition

log = logging.getLogger(__name__)

_ID_IS_LOST = (InvalidProducerIdMappingError, UnknownProducerIdError)
"""Errors that mean that the coordinator has forgotten the id, so there is nothing to end, and a new id is needed."""

_MEASURED = {
    "init_transactions": "txn-init",
    "send_offsets_to_transaction": "txn-send-offsets",
    "commit_transaction": "txn-commit",
    "abort_transaction": "txn-abort",
}
"""The names of the metrics for calls."""


@dataclass(slots=True)
class _Operation:
    """A call in progress."""

    call: str
    task: asyncio.Task[Any]


class TransactionManager:
    """The transactions of one producer. Runs on the loop.

    Arguments:
        transactional_id: the producer's transactional id.
        requests: sends requests to the coordinator.
        buffer: accepts records only while a transaction is open.
        idempotence: numbers batches with the transaction's id and epoch.
        outcomes: reports failed batches.
        max_block_s: maximum wait of a call in seconds.
        on_change: called when batches may be sent that could not be sent before.
        on_called: receives the name of a successful call and its duration in seconds.
    """

    def __init__(
        self,
        transactional_id: str,
        requests: TransactionRequests,
        buffer: RecordBuffer,
        idempotence: Idempotence,
        outcomes: BatchResults,
        max_block_s: float,
        on_change: Callable[[], object],
        on_called: Callable[[str, float], object],
    ) -> None:
        self.transactional_id = transactional_id
        self.version = 1
        self._requests = requests
        self._buffer = buffer
        self._outgoing = OutgoingBatches(buffer)
        self._idempotence = idempotence
        self._outcomes = outcomes
        self._max_block_s = max_block_s
        self._on_change = on_change
        self._on_called = on_called
        self._loop = asyncio.get_running_loop()
        self._machine = TransactionStateMachine()
        self._partitions = TransactionPartitions(requests, self)
        self._operation: _Operation | None = None
        self._offsets: asyncio.Task[None] | None = None
        self._needs_epoch = False
        """Whether batches with sequence numbers have failed, so that later batches need a new epoch (KIP-360)."""
        self._topics_written: set[str] = set()
        """Topics to which batches of the open transaction were written."""
        self._is_settled = False
        """Whether all records are known to be written, so that only the coordinator or the preparing program
        decides.
        """
        idempotence.may_write = self._may_write
        outcomes.transactions = self
        self._refuse_records()

    @property
    def error(self) -> KafkaError | None:
        """The error of the transaction or the producer."""
        return self._machine.error

    @property
    def state(self) -> TransactionState:
        """The producer's state; any thread may read it."""
        return self._machine.state

    @property
    def identity(self) -> TransactionIdentity:
        """The identity of the open transaction, or of the next one."""
        producer_id, epoch = self._idempotence.producer_id, self._idempotence.producer_epoch
        return TransactionIdentity(self.transactional_id, producer_id, epoch, self.version)

    # Called by the program

    async def init(self) -> None:
        """Request an id and epoch; this fences earlier producers with this name, and aborts their open transactions."""

        def begin() -> Coroutine[Any, Any, None]:
            self._machine.check("init_transactions")
            self._move(TransactionState.INITIALIZING)
            return self._init()

        await self._join("init_transactions", begin)

    async def begin(self) -> None:
        """Begin a transaction, so that records may be sent."""
        began = self._loop.time()
        self._machine.check("begin_transaction")
        self._buffer.check_open()
        self._operation = None
        self._partitions.begin()
        self._topics_written.clear()
        self._is_settled = False
        self._move(TransactionState.OPEN)
        self._on_called("txn-begin", self._loop.time() - began)

    async def send_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata) -> None:
        """Commit a group's offsets as part of the transaction."""
        self._machine.check("send_offsets_to_transaction")
        if not offsets:
            return
        self._offsets = self._spawn(self._send_offsets(self._offsets, offsets, group))
        await self._wait(self._offsets, "send_offsets_to_transaction")

    async def prepare(self) -> TransactionIdentity | None:
        """Flush the transaction and accept no more records. Return its identity, or None if it is empty."""

        def begin() -> Coroutine[Any, Any, TransactionIdentity | None]:
            self._machine.check("prepare_transaction")
            if self.state is TransactionState.OPEN:
                self._move(TransactionState.PREPARED)
            return self._prepare()

        found: TransactionIdentity | None = await self._join("prepare_transaction", begin)
        return found

    async def commit(self) -> None:
        """Flush the transaction and commit it."""

        def begin() -> Coroutine[Any, Any, None]:
            self._machine.check("commit_transaction")
            self._move(TransactionState.COMMITTING)
            return self._commit()

        await self._join("commit_transaction", begin)

    async def abort(self) -> None:
        """Drop unsent records and abort the transaction."""

        def begin() -> Coroutine[Any, Any, None]:
            self._machine.check("abort_transaction")
            self._move(TransactionState.ABORTING)
            self._abandon()
            return self._abort()

        await self._join("abort_transaction", begin)

    async def close(self) -> None:
        """Abort an open transaction, or wait for one that is already ending. A prepared transaction stays open."""
        operation = self._operation
        try:
            if self.state in (TransactionState.OPEN, TransactionState.FAILED):
                log.info("the producer is closed: aborting the open transaction of %r", self.transactional_id)
                await self.abort()
            elif operation is not None and operation.call != "init_transactions":
                await self._wait(operation.task, operation.call)
        except KafkaError as error:
            log.warning("closing the transactional producer %r: %s", self.transactional_id, error)

    async def stop(self) -> None:
        """Cancel all requests."""
        tasks = [self._operation.task if self._operation is not None else None, self._offsets]
        left = [task for task in tasks if task is not None] + self._partitions.tasks()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    # Results of batches

    def batch_failed(self, batch: ProducerBatch, error: KafkaError) -> None:
        """Handle the failure of a batch in the transaction."""
        if batch.base_sequence >= 0:
            self._needs_epoch = True
        self.record_failed(error)

    def batch_written(self, batch: ProducerBatch) -> None:
        """Record that a batch in the transaction was written."""
        self._topics_written.add(batch.topic_partition.topic)

    def topic_recreated(self, topic: str, partitions: int, waiting: bool, doubtful: bool) -> None:
        """Handle the recreation of a topic. A transaction that wrote to it fails, because those records are gone."""
        self._partitions.forget(topic, partitions)
        if doubtful or (topic in self._topics_written and (waiting or not self._is_settled)):
            self.record_failed(
                UnknownTopicIdError(
                    f"topic {topic!r} was deleted and recreated while the transaction was open: what it had written "
                    "there is gone"
                )
            )

    def record_failed(self, error: KafkaError) -> None:
        """Mark the transaction as failed: part of it cannot be written, so it can only be aborted."""
        if self.state not in MAY_SEND:
            return
        fatal = fatal_in_a_batch(error)
        if fatal is not None:
            self._move(TransactionState.FATAL, fatal)
        else:
            self._move(TransactionState.FAILED, error)
            self._loop.call_soon(self._abandon)

    def why_not_again(self) -> KafkaError | None:
        """Return the reason why a batch must not be retried, or None if retries are allowed."""
        if self.state in MAY_SEND:
            return None
        if self.state is TransactionState.FATAL:
            return self._refusal()
        return self._aborted()

    def _may_write(self, partition: TopicPartition) -> bool:
        return self.state in MAY_SEND and self._partitions.may_write(partition)

    def may_send(self) -> bool:
        """See `PartitionsListener`."""
        return self.state in MAY_SEND

    def partitions_added(self) -> None:
        """See `PartitionsListener`."""
        self._on_change()

    def adding_failed(self, error: KafkaError) -> None:
        """See `PartitionsListener`."""
        self._take_failure(error)

    def _aborted(self) -> TransactionAbortedError:
        error = TransactionAbortedError("not sent, as its transaction is aborted")
        error.__cause__ = self._machine.error
        return error

    def _abandon(self) -> None:
        """Fail all batches that are waiting to be sent."""
        if self.state in (TransactionState.FAILED, TransactionState.ABORTING):
            for queue in list(self._buffer.queues()):
                for batch in self._outgoing.take_expired(queue, math.inf):
                    self._outcomes.fail(queue, batch, self._aborted())

    # Tasks

    async def _init(self) -> None:
        try:
            granted = await self._requests.init()
        except KafkaError as error:
            failure, is_fatal = failure_of(error, "init")
            self._move(TransactionState.FATAL if is_fatal else TransactionState.UNINITIALIZED, failure)
            raise failure from failure.__cause__
        self.version = self._requests.transaction_version()
        self._idempotence.grant(*granted)
        self._needs_epoch = False
        self._move(TransactionState.READY)

    async def _send_offsets(
        self, before: asyncio.Task[None] | None, offsets: Offsets, group: ConsumerGroupMetadata
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        await self._partitions.ready()
        in_doubt, self._partitions.in_doubt = self._partitions.in_doubt, True
        try:
            await self._requests.commit_offsets(self.identity, group, offsets, self.may_send)
        except KafkaError as error:
            if not isinstance(error, TransactionAbortedError):
                self._take_failure(error)
            if self.state not in (TransactionState.FAILED, TransactionState.FATAL):
                raise  # another caller has aborted the transaction
            refusal = self._refusal()
            raise refusal from refusal.__cause__  # the first failure, as in Java
        self._partitions.started, self._partitions.in_doubt = True, in_doubt

    async def _prepare(self) -> TransactionIdentity | None:
        await self._drain()
        if self.state is not TransactionState.PREPARED:
            raise self._refusal()
        self._is_settled = True
        return self.identity if self._partitions.started or self._partitions.in_doubt else None

    async def _commit(self) -> None:
        await self._drain()
        if self.state is not TransactionState.COMMITTING:
            raise self._refusal()
        self._is_settled = True
        await self._end(commit=True)

    async def _abort(self) -> None:
        await self._drain()
        if self.state is not TransactionState.ABORTING:
            raise self._refusal()
        await self._end(commit=False)

    async def _drain(self) -> None:
        """Wait until all records of the transaction are written or have failed, and nothing is being added to it."""
        await self._outcomes.settled(list(self._buffer.incomplete))
        await self._partitions.settled()
        if self._offsets is not None:
            await asyncio.wait({self._offsets})

    async def _end(self, *, commit: bool) -> None:
        """End the transaction at the coordinator, if it may be open there."""
        try:
            if self._partitions.started or self._partitions.in_doubt:
                self._idempotence.grant(*await self._requests.end(self.identity, commit))
                self._partitions.ended()
                self._needs_epoch = self._needs_epoch and self.version < 2
        except KafkaError as error:
            if commit or not self._is_over(error):
                self._take_failure(error, "commit" if commit else "abort")
                raise self._refusal() from error
            self._needs_epoch = True
        try:
            await self._next_epoch()
        except KafkaError as error:
            failure, _ = failure_of(error, "epoch")
            self._move(TransactionState.FATAL, failure)
            if not commit:
                raise failure from error
            return  # the transaction is committed; the next call raises the error
        self._move(TransactionState.READY)

    def _is_over(self, error: KafkaError) -> bool:
        """Return whether a response to EndTxn means that there is nothing (left) to abort."""
        if isinstance(error, InvalidTxnStateError):
            return not self._partitions.started
        return isinstance(error, _ID_IS_LOST)

    async def _next_epoch(self) -> None:
        """Request a new epoch if necessary, and always before the first version 2 transaction (KIP-360, KIP-890)."""
        version = self._requests.transaction_version()
        if self._needs_epoch or version > self.version:
            self._idempotence.grant(*await self._requests.init(self.identity))
            self._needs_epoch = False
        self.version = version

    # Internals

    def _take_failure(self, error: KafkaError, step: Step = "add") -> None:
        """Change to the state that an error from the coordinator requires."""
        failure, is_fatal = failure_of(error, step)
        if self.state is TransactionState.FATAL or (step == "add" and not is_fatal and self.state not in MAY_SEND):
            return
        self._move(TransactionState.FATAL if is_fatal else TransactionState.FAILED, failure)
        self._loop.call_soon(self._abandon)

    def _move(self, state: TransactionState, error: KafkaError | None = None) -> None:
        self._machine.move(state, error)
        if state is TransactionState.OPEN:
            self._buffer.resume()
        else:
            self._refuse_records()
        if state is TransactionState.FATAL:
            assert error is not None
            self._idempotence.refuse(error)
            self._loop.call_soon(self._on_change)

    def _refuse_records(self) -> None:
        self._buffer.suspend(self._refusal())

    def _refusal(self) -> KafkaError:
        """Return the error that explains why no records are accepted, such as the failure of the transaction."""
        refusal = self._machine.refusal("send")
        assert refusal is not None, "a transaction is open"
        return refusal

    async def _join(self, call: str, begin: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Wait for an earlier call with this name that is still in progress, or start one."""
        operation = self._operation
        if operation is None or operation.call != call or _has_failed(operation.task):
            operation = self._operation = _Operation(call, self._spawn(begin()))
        return await self._wait(operation.task, call)

    async def _wait(self, task: asyncio.Task[Any], call: str) -> Any:
        """Wait for a task, which continues if the caller is cancelled."""
        began = self._loop.time()
        done, _ = await asyncio.wait({task}, timeout=self._max_block_s)
        if not done:
            cause, why = self._obstacle()
            raise KafkaTimeoutError(
                f"{call}() was not done within max_block_ms ({self._max_block_s * 1000:g}){why}; it continues: call it "
                "again to wait for it"
            ) from cause
        if task.cancelled():
            raise IllegalStateError("the producer was closed meanwhile")
        result = task.result()
        if call in _MEASURED:
            self._on_called(_MEASURED[call], self._loop.time() - began)
        return result

    def _obstacle(self) -> tuple[Exception | None, str]:
        """Return the error that prevents progress, and a description of it as part of a sentence."""
        for api, error in self._requests.failing.items():
            return error, f"; {api} failed with: {error}"
        for batch in list(self._buffer.incomplete):
            found = self._buffer.obstacle(batch)
            if found is not None:
                return found, f"; a batch for {batch.name} is not written: {found}"
        return None, ""

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = self._loop.create_task(coroutine)
        task.add_done_callback(_has_failed)  # the exception is retrieved even if every caller has given up
        return task


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
