"""Appends records to batches and queues the batches, in the threads that call `send()`.

Waits for memory if necessary.
"""

from __future__ import annotations

import asyncio

from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.net.callback_thread import WorkerThread
from kafka.producer.appending.append import append_locked
from kafka.producer.appending.checks import NeedsMemory, PartitionGone, PreparedRecord
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.batch.producer_batch import CLOSED, ProducerBatch
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.batch.shared_queues import SharedQueues
from kafka.producer.future import FutureRecordMetadata, future_of
from kafka.record import BatchBuilder, Buffer
from kafka.structs import TopicPartition


class RecordBuffer(SharedQueues):
    """The unsent records of a producer. Takes the arguments of `SharedQueues`."""

    def open_batch(
        self,
        queue: PartitionQueue,
        record: PreparedRecord,
        full: ProducerBatch | None,
        granted: Reservation | None = None,
    ) -> FutureRecordMetadata:
        """Append a record to a new batch, which is created without the lock. Call `wake` afterwards, even after errors.

        Arguments:
            full: the queue's batch that has no room for the record, or None.
            granted: memory that was already reserved for this record; None reserves it now.

        Raises `NeedsMemory` if there is not enough memory, `PartitionGone`, and the producer's error if it accepts no
        more records.
        """
        amount = max(self.options.batch_size, record.size)
        if self.refusal is not None:
            raise self.refusal
        reserved = granted or Reservation()
        try:
            if granted is None and not self.memory.reserve(amount, into=reserved):
                self.end_lingering()
                raise NeedsMemory(amount, record)
            batch = self._new_batch(queue, amount)
            future = append_locked(
                batch, record.timestamp_ms, record.key, record.value, record.headers, record.header_size, record.named
            )
            assert future is not None, "an empty batch has room for any record"
            while True:
                if self._enqueue(queue, batch, reserved, full, record.generation):
                    break
                full, found = self._append_to_open(queue, record)  # another thread has just opened a batch
                if found is not None:
                    return found
            return future
        finally:
            if granted is None and reserved.held:
                self.give_back(reserved)

    def _new_batch(self, queue: PartitionQueue, amount: int) -> ProducerBatch:
        if self.memory_is_short:
            self.memory_is_short = self.memory.contended
        builder = BatchBuilder(
            self.magic,
            self.options.compression,
            compression_level=self.options.compression_level,
            size_limit=amount,
        )
        return ProducerBatch(self, queue.topic_partition, self._now(), amount, builder)

    def _enqueue(
        self,
        queue: PartitionQueue,
        batch: ProducerBatch,
        reserved: Reservation,
        full: ProducerBatch | None,
        generation: int,
    ) -> bool:
        """Close the open batch of a queue, and add another batch, which takes over the reserved memory.

        Arguments:
            batch: the new open batch, or one that is already encoded.
            full: the batch that may be closed. If another batch is open, the method does nothing and returns False.
            generation: the topic's generation when the partition was chosen; raises `PartitionGone` if the topic has
                been recreated since.
        """
        known, created, takes_records, only = (
            self._known[queue.topic_partition.topic],
            batch.created,
            batch.builder,
            {batch},
        )
        with self.lock:
            # No function calls here: after a call, Python may run signal handlers that send, or that wait for the loop,
            # which needs the lock.
            if self.refusal is not None:
                raise self.refusal
            if queue.is_gone or known.generation != generation:
                raise PartitionGone
            known.used_at = created
            if not queue.dirty:
                queue.dirty = True
                self._dirty += (queue,)
            self._wake_wanted = True
            while True:  # repeats only if a garbage collection has let another thread send in between
                before = queue.open
                if before is None:
                    break
                if before is not full and takes_records is not None:
                    return False
                queue.open = None  # must come first, because `append_unlocked` checks nothing else
                before.stage = CLOSED
                queue.closed += (before,)
            reserved.held = 0
            self._begun += 1
            batch.serial = self._begun
            if takes_records is not None:
                queue.open = batch
            else:
                queue.closed += (batch,)
            self.incomplete |= only
        return True

    def refuse_record(self, record: PreparedRecord, reason: KafkaError) -> FutureRecordMetadata:
        """Return a failed future for a record that can never be sent."""
        place = TopicPartition(record.topic, record.partition)
        batch = ProducerBatch.encoded(self, place, self._now(), b"", 1, 0)
        future = future_of(batch, 0, record.timestamp_ms, record.key, record.value, record.header_size)
        batch.fail(reason)
        if batch.report is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.on_refused, batch.report)
        return future

    def append(self, record: PreparedRecord, granted: Reservation | None = None) -> FutureRecordMetadata:
        """Append a serialized and partitioned record. Raises the same errors as `open_batch`.

        Raises `PartitionGone` if the topic was forgotten or recreated while the record waited for memory.
        """
        if self.refusal is not None:
            raise self.refusal
        queue = self._known[record.topic].queues[record.partition]
        try:
            batch, future = self._append_to_open(queue, record)
            if future is None:
                future = self.open_batch(queue, record, batch, granted)
            self.wake()
        except BaseException:
            self.wake()  # an interrupt may have prevented the sender from being notified
            raise
        return future

    def add_encoded(
        self,
        place: TopicPartition,
        data: Buffer,
        records: int,
        reserved: Reservation,
        sizes: tuple[int, int] = (0, 0),
        *,
        generation: int = 0,
        named: list[int] | None = None,
    ) -> ProducerBatch:
        """Add an encoded batch for which memory has been reserved.

        Arguments:
            sizes: see `ProducerBatch.encoded`.
            generation: the topic's generation when the partition was chosen; raises `PartitionGone` if the topic has
                been recreated since.
            named: see `BatchFields`.
        """
        if self.refusal is not None:
            raise self.refusal
        batch = ProducerBatch.encoded(self, place, self._now(), data, records, reserved.held, sizes)
        try:
            batch.named = named
            self._enqueue(self._all[place], batch, reserved, None, generation)
            self.wake()
        except BaseException:
            self.wake()  # as above
            raise
        return batch

    def _append_to_open(
        self, queue: PartitionQueue, record: PreparedRecord
    ) -> tuple[ProducerBatch | None, FutureRecordMetadata | None]:
        """Append a record to the open batch of a queue.

        Returns that batch, if there is one, and the record's future, if the record fits. Raises `PartitionGone`.
        """
        known = self._known[record.topic]
        with self.lock:
            if known.generation != record.generation:
                raise PartitionGone
            batch = queue.open
            if batch is None:
                return None, None
            return batch, append_locked(
                batch, record.timestamp_ms, record.key, record.value, record.headers, record.header_size, record.named
            )


class Reservations:
    """Waits until enough memory of a buffer is free, and reserves it.

    Arguments:
        buffer: the unsent records.
        max_block_s: maximum wait in seconds.
    """

    def __init__(self, buffer: RecordBuffer, max_block_s: float) -> None:
        self._buffer = buffer
        self._max_block_s = max_block_s

    async def acquire(self, amount: int, reserved: Reservation) -> None:
        """Wait on the event loop until `amount` bytes are free, and reserve them.

        Raises `KafkaTimeoutError` after `max_block_ms`, and the producer's error if it accepts no more records.
        """
        buffer, memory = self._buffer, self._buffer.memory
        if buffer.refusal is None and memory.reserve(amount, into=reserved):
            return
        if buffer.refusal is None:
            buffer.end_lingering()
            buffer.wake()
            try:
                async with asyncio.timeout(self._max_block_s):
                    await memory.waiter(amount, reserved)
            except TimeoutError:
                raise self._time_is_up(amount) from None
            finally:
                if not reserved.held:
                    memory.wake()  # a later waiter may need less memory
        if buffer.refusal is not None:
            raise buffer.refusal

    def acquire_blocking(self, amount: int, reserved: Reservation) -> None:
        """Block the thread until `amount` bytes are free, and reserve them. Raises the same errors as `acquire`."""
        self._buffer.end_lingering()
        self._buffer.wake()
        in_callback = WorkerThread.is_current()
        if not self._buffer.memory.block(
            amount, self._max_block_s, self._free_memory_or_give_up, reserved, in_callback
        ):
            raise self._buffer.refusal or self._time_is_up(amount)

    def _free_memory_or_give_up(self) -> bool:
        """End lingering if it goes on, and return whether the producer accepts no more records.

        The waiting thread calls this whenever it checks again.
        """
        if not self._buffer.memory_is_short:  # another thread has created a batch before this one was known to wait
            self._buffer.end_lingering()
            self._buffer.wake()
        return self._buffer.refusal is not None

    def _time_is_up(self, amount: int) -> KafkaTimeoutError:
        why = self._buffer.first_obstacle()
        error = KafkaTimeoutError(
            f"no {amount} bytes of buffer_memory ({self._buffer.memory.total}) became free within max_block_ms "
            f"({self._max_block_s * 1000:g}): "
            + (
                "records come faster than the brokers take them"
                if why is None
                else f"what is buffered is not sent: {why}"
            )
        )
        error.__cause__ = why
        return error
