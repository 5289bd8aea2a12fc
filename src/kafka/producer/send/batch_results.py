"""Applies the results of batches: a batch is delivered, failed, split, or queued again.

`RetryPolicy` decides what is fatal, how long to pause and what to log. Its loop of `Attempts` does not fit here: each
batch has its own deadline and number of attempts, pauses and log lines are specific to a partition, and nothing is
awaited.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from kafka.cluster.backoff import Backoff
from kafka.cluster.protocols import MetadataAccess
from kafka.cluster.retry import RetryPolicy
from kafka.errors import (
    ConcurrentTransactionsError,
    KafkaError,
    KafkaTimeoutError,
    NoError,
    NotEnoughReplicasAfterAppendError,
    RequestTimedOutError,
)
from kafka.net.own_loop import clock_of
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch, Run
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.batch.reencode import split
from kafka.producer.delivery.batch_action import COMPLETE, BatchAction, action_for
from kafka.producer.delivery.unseen_failures import FailureReport, UnseenFailures
from kafka.producer.idempotence import Idempotence
from kafka.producer.producer_statistics import ProducerStatistics
from kafka.producer.send.produce_requests import Answer

log = logging.getLogger(__name__)

_FIRST_MS, _LAST_MS = 2, 50


def concurrent_backoff() -> Backoff:
    """Return the backoff for CONCURRENT_TRANSACTIONS errors.

    The coordinator is still completing the previous transaction, which takes a few milliseconds.
    """
    return Backoff(_FIRST_MS, _LAST_MS)


_AFTER_APPEND = (RequestTimedOutError, NotEnoughReplicasAfterAppendError)
"""Errors from a leader that has appended the batch, but may lose it."""


class TransactionOfBatches(Protocol):
    """The part of a transaction's interface that its batches use."""

    def batch_failed(self, batch: ProducerBatch, error: KafkaError) -> None:
        """Handle the failure of a batch."""

    def record_failed(self, error: KafkaError) -> None:
        """Handle a record that was rejected before it was added to a batch."""

    def why_not_again(self) -> KafkaError | None:
        """Return the reason why a batch must not be retried, or None if retries are allowed."""

    def batch_written(self, batch: ProducerBatch) -> None:
        """Handle a written batch."""

    def topic_recreated(self, topic: str, partitions: int, waiting: bool, doubtful: bool) -> None:
        """Handle the recreation of a topic.

        Arguments:
            partitions: number of partitions of the new topic.
            waiting: whether records are waiting to be written to the new topic.
            doubtful: whether some of these records may already have been written.
        """


class BatchResults:
    """Applies responses and failures to batches, their queues and the producer's id. Runs on the loop.

    Arguments:
        retries: maximum number of retries per batch.
        delivery_timeout: seconds after which a batch is no longer retried.
    """

    def __init__(
        self,
        buffer: RecordBuffer,
        cluster: MetadataAccess,
        idempotence: Idempotence,
        statistics: ProducerStatistics,
        backoff: Backoff,
        *,
        retries: float,
        delivery_timeout: float,
    ) -> None:
        self.failures = UnseenFailures()
        self.transactions: TransactionOfBatches | None = None
        """The producer's transactions; None without `transactional_id`."""
        buffer.on_refused = self.refused
        self._buffer = buffer
        self._cluster = cluster
        self._idempotence = idempotence
        self._statistics = statistics
        self._retry_policy = RetryPolicy(backoff, log, quiet=1)
        self._concurrent = concurrent_backoff()
        self._retries = retries
        self._delivery_timeout = delivery_timeout
        self._loop = asyncio.get_running_loop()
        self._now = clock_of(self._loop)
        self._watches: dict[ProducerBatch, dict[_Watch, None]] = {}
        """The waiters of each awaited batch, oldest first."""

    def answered(self, queue: PartitionQueue, batch: ProducerBatch, answer: Answer) -> None:
        """Handle a broker's response to a batch in flight."""
        queue.in_network.pop(batch, None)
        if batch.done:  # purged
            return
        action = COMPLETE
        if answer.error is not NoError:
            action = action_for(
                answer.error,
                records=batch.count,
                has_sequence=batch.producer_id >= 0,
                is_first=queue.is_first(batch),
                idempotence_required=self._idempotence.required,
                transactional=self._idempotence.transactional,
            )
        if action is COMPLETE:
            if queue.failures:
                queue.failures = 0
                self._retry_policy.tell_success(_sending_to(batch))
            queue.proven = True
            if self.transactions is not None:
                self.transactions.batch_written(batch)
            size = len(batch.data or b"")
            self._buffer.completed(batch)
            batch.succeed(answer.base_offset, answer.log_append_time)
            if self._watches:
                self._settled(batch)
            now = self._now()
            self._statistics.delivered(batch.records, size, now - batch.created, now)
            return
        error = answer.error(answer.text) if answer.text else answer.error()
        if isinstance(error, _AFTER_APPEND):
            batch.doubts |= {batch.sent_under}
        if action is BatchAction.FAIL:
            self.fail(queue, batch, error, answer.record_errors)
        elif self._is_over(queue, batch):
            pass
        elif action is BatchAction.SPLIT:
            self._split(queue, batch)
        elif action is BatchAction.RETRY_IN_ORDER:
            queue.retry(batch)
        elif action is BatchAction.BUMP_EPOCH and self._goes_behind_doubtful(queue, batch):
            pass
        else:
            if action is BatchAction.DISABLE_IDEMPOTENCE:
                self._idempotence.step_down(error)
            elif action is BatchAction.RESET_PRODUCER_ID:
                self._idempotence.renew(batch.producer_id)
            if action is not BatchAction.RETRY:
                queue.renumber = True
                log.info("%s: %s; renumbering batches", batch.name, error)
            self._again(queue, batch, error)

    def unanswered(self, queue: PartitionQueue, batch: ProducerBatch, error: KafkaError) -> None:
        """Handle the failure of a whole request; its batches may or may not have been written."""
        queue.in_network.pop(batch, None)
        if batch.done:  # purged
            return
        batch.doubts |= {batch.sent_under}
        if self._is_over(queue, batch):
            pass
        elif not self._retry_policy.is_fatal(error):
            self._again(queue, batch, error)
        else:
            self.fail(queue, batch, error)

    def fail(
        self,
        queue: PartitionQueue,
        batch: ProducerBatch,
        error: KafkaError,
        record_errors: Mapping[int, str | None] | None = None,
    ) -> None:
        """Fail a batch."""
        queue.in_network.pop(batch, None)
        if batch.done:  # purged
            return
        self._statistics.failed(batch, self._loop.time())
        self._buffer.completed(batch)
        if self.transactions is not None:
            batch.look()  # the commit will fail and report the error
            self.transactions.batch_failed(batch, error)
        batch.fail(error, record_errors)
        if batch.report is not None:
            self.failures.add(batch.report)
        self._settled(batch)

    def refused(self, report: FailureReport) -> None:
        """Handle a record that failed before it was added to a batch."""
        if self.transactions is not None:
            report.seen = True  # as above: the commit will report it
            self.transactions.record_failed(report.error)
        self.failures.add(report)

    def _is_over(self, queue: PartitionQueue, batch: ProducerBatch) -> bool:
        """Fail a batch instead of retrying it if its transaction is being aborted; return whether this was done."""
        why = None if self.transactions is None else self.transactions.why_not_again()
        if why is None:
            return False
        self.fail(queue, batch, why)
        return True

    async def settled(self, batches: Iterable[ProducerBatch], then: Callable[[], object] | None = None) -> None:
        """Wait until all of these batches, or the parts of split batches, have been delivered or have failed.

        Arguments:
            then: called as soon as this is the case, before later waiters resume.
        """
        remaining = {leaf for batch in batches for leaf in batch.leaves() if not leaf.done}
        watch = _Watch(remaining, self._loop.create_future(), then)
        if not remaining:
            watch.settle()
            return
        for batch in remaining:
            self._watches.setdefault(batch, {})[watch] = None
        try:
            await watch.future
        finally:
            for batch in remaining:
                self._watches[batch].pop(watch)

    def _again(self, queue: PartitionQueue, batch: ProducerBatch, error: KafkaError) -> None:
        """Queue a batch for another attempt, unless it has no retries left or has expired."""
        batch.attempts += 1
        batch.last_error = error
        now = self._loop.time()
        if error.invalid_metadata:
            self._cluster.request_refresh([batch.topic_partition.topic])
        if batch.attempts > self._retries:
            self.fail(queue, batch, _with_attempts(batch, error))
        elif now - batch.created >= self._delivery_timeout:
            self.fail(queue, batch, too_late(batch, self._delivery_timeout, None))
        else:
            queue.failures += 1
            concurrent = isinstance(error, ConcurrentTransactionsError)
            pause = self._concurrent.seconds if concurrent else self._retry_policy.pause_s
            queue.backoff_until = now + pause(queue.failures)
            queue.retry(batch)
            self._statistics.retried(batch, now)
            self._retry_policy.tell_failure(_sending_to(batch), error, queue.failures)

    def _goes_behind_doubtful(self, queue: PartitionQueue, batch: ProducerBatch) -> bool:
        """If a broker may have received later batches, send this batch after them; return whether such batches exist.

        Such batches exist if a topic was recreated while requests with its name were in flight: the broker refused one
        batch and accepted a later one. In a new epoch, the later batch would be written twice.
        """
        doubtful = next((at for at, each in enumerate(queue.retries) if each.doubts), None)
        if queue.proven or doubtful is None:
            return False
        behind = [batch, *queue.retries[:doubtful]]
        queue.retries = queue.retries[doubtful:]
        self._idempotence.take_numbers(behind)
        with self._buffer.lock:
            for each in behind:
                queue.put_back(each)
        return True

    def _split(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        parts = split(batch, self._buffer.options)
        log.info(
            "%s: the broker rejects a batch of %d records as too large; sending it in %d parts",
            batch.name,
            batch.count,
            len(parts),
        )
        self.replace(batch, parts, None)
        for part in parts:
            queue.retry(part)

    def replace(self, batch: ProducerBatch, parts: Sequence[ProducerBatch], runs: list[Run] | None) -> None:
        """Replace a batch with others that contain the same records. Its waiters then wait for the new batches.

        Arguments:
            runs: see `ProducerBatch.scatter_into`; None if the parts contain the records in order.
        """
        self._buffer.replace(batch, parts)
        if runs is None:
            batch.split_into(parts)
        else:
            batch.scatter_into(runs)
        watches = self._watches.pop(batch, {})
        for watch in watches:
            watch.remaining.discard(batch)
            watch.remaining.update(parts)
        for part in parts:
            self._watches[part] = dict(watches)

    def _settled(self, batch: ProducerBatch) -> None:
        for watch in self._watches.pop(batch, {}):
            watch.remaining.discard(batch)
            if not watch.remaining:
                watch.settle()


class _Watch:
    """A waiter for batches.

    Arguments:
        remaining: batches that have neither been delivered nor failed, updated as batches finish.
        future: completes when no batch remains.
        then: called when the future completes.
    """

    __slots__ = ("_then", "future", "remaining")

    def __init__(
        self, remaining: set[ProducerBatch], future: asyncio.Future[None], then: Callable[[], object] | None
    ) -> None:
        self.remaining = remaining
        self.future = future
        self._then = then

    def settle(self) -> None:
        """Complete the future because no batch remains."""
        if not self.future.done():
            self.future.set_result(None)
            if self._then is not None:
                self._then()


def too_late(batch: ProducerBatch, timeout: float, obstacle: Exception | None) -> KafkaTimeoutError:
    """Return the error of an expired batch.

    Arguments:
        timeout: `delivery_timeout_ms` in seconds.
        obstacle: the error that prevented the batch from being sent.
    """
    text = f"not acknowledged within delivery_timeout_ms ({timeout * 1000:g})"
    if batch.last_error is not None:
        text += f"; {_last_attempt(batch)}, failed with: {batch.last_error}"
        if obstacle is not None:
            text += f"; since then it could not be sent: {obstacle}"
    else:
        text += "; it could not be sent at all" + (f": {obstacle}" if obstacle is not None else "")
    error = KafkaTimeoutError(text)
    error.__cause__ = batch.last_error or obstacle
    return error


def _with_attempts(batch: ProducerBatch, error: KafkaError) -> KafkaError:
    """Return the error with the number of attempts and the broker added."""
    text = error.args[0] if error.args else getattr(error, "description", "")
    told = type(error)(f"{text} ({_last_attempt(batch)})")
    told.__cause__ = error.__cause__
    return told


def _sending_to(batch: ProducerBatch) -> str:
    """Return the name of the operation for log lines."""
    return f"sending to {batch.name}"


def _last_attempt(batch: ProducerBatch) -> str:
    which = "the only attempt" if batch.attempts == 1 else f"the last of {batch.attempts} attempts"
    return f"{which}, to broker {batch.sent_to}"
