"""The state shared by the sender and the threads that call `send()`: the queues, the memory, and a lock for both."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from kafka.errors import IllegalStateError, KafkaError
from kafka.net.own_loop import clock_of
from kafka.producer.batch.memory_pool import MemoryPool, Reservation
from kafka.producer.batch.producer_batch import ProducerBatch, Waiter
from kafka.producer.batch.queues import PartitionQueue, TopicQueues
from kafka.producer.delivery.callbacks import Callbacks, run_callbacks
from kafka.producer.delivery.unseen_failures import FailureReport
from kafka.record import Compression
from kafka.structs import TopicPartition

_LOCK = type(threading.Lock())


@dataclass(frozen=True, slots=True)
class BufferOptions:
    """The options for batches.

    Arguments:
        batch_size: maximum number of bytes to which a batch is filled.
        buffer_memory: maximum total number of bytes in all batches.
        compression: codec of the batches.
        compression_level: level of the codec; None for the codec's default.
        adaptive: whether partitions with more waiting batches get fewer records without a key.
    """

    batch_size: int
    buffer_memory: int
    compression: Compression = Compression.NONE
    compression_level: int | None = None
    adaptive: bool = False

    def level_of(self, codec: Compression) -> int | None:
        """Return the compression level; None (the codec's default) for a batch that was encoded with another codec."""
        return self.compression_level if codec == self.compression else None


class SharedQueues:
    """The queues of all partitions, with the sender's operations for dirty queues, finished batches and free memory.

    Arguments:
        options: how to encode batches.
        loop: the producer's event loop, whose clock is used for all times.
        rng: chooses partitions for records without a key.
        submit: runs the user's callbacks in the order of submission.
    """

    def __init__(
        self,
        options: BufferOptions,
        loop: asyncio.AbstractEventLoop,
        rng: random.Random,
        submit: Callable[[Callable[[], object]], object],
    ) -> None:
        self.options = options
        self.lock = threading.RLock()
        """Reentrant, because a signal handler or finalizer may call `send` within a `send` of the same thread."""
        self.memory = MemoryPool(options.buffer_memory, self.lock)
        self.topics: dict[str, TopicQueues] = {}
        """Topics whose partitions are known; empty while records are refused, so that `send()` needs no other check."""
        self.magic = 2
        self.refusal: KafkaError | None = None
        """The error that explains why no records are accepted; None if records are accepted."""
        self._refuses_for_good = False
        self._current: dict[str, TopicQueues] = {}
        """The known topics.

        Unlike `topics`, it keeps them while no records are accepted and the remaining ones are sent.
        """
        self.incomplete: set[ProducerBatch] = set()
        self.memory_is_short = False
        """Whether a caller waits, or is about to wait, for memory."""
        self.sends_now = False
        """Whether a caller on the loop is about to wait for its record, so that the sender need not wait for others."""
        self.on_dirty: Callable[[], None] = _no_sender
        """The sender's pump, called on the loop when queues have become dirty."""
        self.why_not_sent: Callable[[PartitionQueue], Exception | None] = _no_reason
        """Returns the error that prevents the batches of a queue from being sent; set by the sender."""
        self.on_refused: Callable[[FailureReport], object] = _nothing
        """Called on the loop for each refused record."""
        self._loop = loop
        self._now = clock_of(loop)
        self._release_soon: Callable[[Any], None] | None = getattr(loop, "release_soon", None)
        """How the loop thread of synchronous clients releases locks; None on other loops."""
        self._rng = rng
        self._submit = submit
        self._known: dict[str, TopicQueues] = {}
        """All topics that have ever been known, so that their partitions continue their sequence numbers."""
        self.recreated: dict[str, TopicQueues] = {}
        """Recreated topics whose waiting records have not been partitioned again yet. Used on the loop."""
        self._all: dict[TopicPartition, PartitionQueue] = {}
        self._dirty: list[PartitionQueue] = []
        self._begun = 0
        """Number of batches that have been added to queues."""
        self._wake_wanted = False
        self._waking = False

    def check_may_wait(self) -> None:
        """Raise `IllegalStateError` if the calling thread holds the lock.

        The sender needs the lock, so waiting would never end.
        """
        if self.lock._is_owned():  # type: ignore[attr-defined]  # threading's own conditions ask for it too
            raise IllegalStateError(
                "a signal handler or a finalizer that runs inside send() or another call of the producer may send, "
                "but cannot wait: the sender needs a lock that this thread holds; have another thread wait"
            )

    def on_own_loop(self) -> bool:
        """Return whether the caller runs on the producer's event loop."""
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def learn_topic(self, topic: str, partitions: int, available: Sequence[int], topic_id: UUID | None = None) -> None:
        """Apply the metadata for a topic: its number of partitions, and which partitions have a leader.

        A known topic must still be the same one; see `start_over` for recreated topics.
        """
        with self.lock:
            queues = self._known.get(topic)
            if queues is None:
                queues = TopicQueues(
                    topic, partitions, available, self.options.batch_size, self._rng, self.options.adaptive
                )
                self._known[topic] = queues
            else:
                queues.update(partitions, available)
            queues.topic_id = topic_id or queues.topic_id
            self._keep_current(queues)

    def start_over(self, topic: str, partitions: int, available: Sequence[int], topic_id: UUID | None) -> None:
        """Handle the recreation of a known topic, and wake the sender, which moves waiting records. Runs on the loop.

        Arguments:
            topic: the topic's name.
            partitions, available: metadata for the new topic, as in `learn_topic`.
            topic_id: id of the new topic.
        """
        with self.lock:
            queues = self._known[topic]
            queues.start_over(topic_id, partitions, available)
            self._keep_current(queues)
        self.recreated[topic] = queues
        self.mark(queues.queues[0])
        self.wake()

    def _keep_current(self, queues: TopicQueues) -> None:
        """Accept records for a topic, unless all records are refused. Requires the lock."""
        if queues.topic not in self._current:
            queues.used_at = self._now()
            self._current[queues.topic] = queues
        if self.refusal is None:
            self.topics[queues.topic] = queues
        for queue in queues.queues:
            self._all.setdefault(queue.topic_partition, queue)

    def known_topic(self, topic: str) -> TopicQueues | None:
        """Return the queues of a topic that is or was known. Runs on the loop."""
        return self._known.get(topic)

    def avoid(self, topic: str, partitions: frozenset[int]) -> None:
        """Set the partitions of a topic that are to be avoided for now by records without a key."""
        queues = self._known.get(topic)
        if queues is not None:
            queues.late = partitions

    def forget_idle(self, before: float) -> set[str]:
        """Forget topics that have no batches left and have received none since `before`; return their names."""
        with self.lock:
            busy = {batch.topic_partition.topic for batch in list(self.incomplete)}
            idle = {name for name, queues in self._current.items() if queues.used_at < before and name not in busy}
            for name in idle:
                del self._current[name]
                self.topics.pop(name, None)
            return idle

    def current_topics(self) -> list[str]:
        """Return the recently used topics."""
        with self.lock:
            return list(self._current)

    def partition_count(self, topic: str) -> int:
        """Return the number of partitions of a topic that is or was known.

        If no records are accepted, raises the error that explains why.
        """
        return self.count_and_generation(topic)[0]

    def count_and_generation(self, topic: str) -> tuple[int, int]:
        """Return the number of partitions like `partition_count`, and the topic's generation, see `TopicQueues`."""
        with self.lock:
            found = self._known.get(topic)
            if self.refusal is not None or found is None:
                raise self.refusal or IllegalStateError(f"topic {topic!r} is not known yet")
            return found.count, found.generation

    def queues(self) -> Iterable[PartitionQueue]:
        """Return the queues of all known partitions. Runs on the loop."""
        return self._all.values()

    def obstacle(self, batch: ProducerBatch) -> Exception | None:
        """Return the reason why a batch has not been acknowledged, or None if unknown. Any thread may call this."""
        queue = self._all.get(batch.topic_partition)
        why = None if queue is None or batch in queue.in_network else self.why_not_sent(queue)
        return why or batch.last_error

    def first_obstacle(self) -> Exception | None:
        """Return the reason why one of the batches has not been acknowledged. Any thread may call this."""
        found = (self.obstacle(batch) for batch in list(self.incomplete))
        return next((error for error in found if error is not None), None)

    def give_back(self, reserved: Reservation) -> None:
        """Return the memory that no batch has taken over."""
        if reserved.held:
            self.memory.give_back(reserved)

    def end_lingering(self) -> None:
        """Make all lingering batches ready, because a caller is about to wait for memory. Call `wake` afterwards."""
        self.memory_is_short = True
        for queue in list(self._all.values()):
            if queue.open is not None:
                self.mark(queue)

    def close_open_batches(self) -> None:
        """Close all open batches, for a flush."""
        for queue in list(self._all.values()):
            if queue.open is not None:
                with self.lock:
                    queue.close_open()
                self.mark(queue)
        self.wake()

    def refuse(self, reason: KafkaError) -> None:
        """Accept no more records."""
        with self.lock:  # a thread that holds the lock first finishes adding its batch to a queue
            if not self._refuses_for_good:
                self._refuses_for_good = True
                self.refusal = reason
        self._take_none()

    def suspend(self, reason: KafkaError) -> None:
        """Stop accepting records until `resume` is called. Runs on the loop."""
        with self.lock:
            if self._refuses_for_good:
                return
            before, self.refusal = self.refusal, reason
        if before is None:
            self._take_none()

    def resume(self) -> None:
        """Resume accepting records. Runs on the loop."""
        with self.lock:
            if not self._refuses_for_good:
                self.refusal = None
                self.topics.update(self._current)

    @property
    def is_refused_for_good(self) -> bool:
        """Whether `refuse` has been called."""
        return self._refuses_for_good

    def check_open(self) -> None:
        """Raise the error that was passed to `refuse`, if it has been called."""
        if self._refuses_for_good and self.refusal is not None:
            raise self.refusal

    def _take_none(self) -> None:
        self.topics.clear()
        self.memory.end_waiting()
        self.close_open_batches()

    def take_dirty(self) -> list[PartitionQueue]:
        """Return the queues that have changed since the last call. Runs on the loop."""
        with self.lock:
            self._waking = self._wake_wanted = False
            dirty, self._dirty = self._dirty, []
            for queue in dirty:
                queue.dirty = False
            return dirty

    def replace(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """Replace a split batch with its parts, which share its memory."""
        with self.lock:
            self.incomplete.discard(batch)
            self.incomplete.update(parts)

    def completed(self, batch: ProducerBatch) -> None:
        """Handle a batch that is about to finish. Runs on the loop.

        The batch's memory is released once its callbacks have run.
        """
        with self.lock:
            self.incomplete.discard(batch)
        if batch.callbacks is not None and batch.callbacks.functions:
            self.memory.hold(batch.reserved)
        else:
            self.memory.release(batch.reserved)
            batch.reserved = 0

    def deliver(self, batch: ProducerBatch, callbacks: Callbacks) -> None:
        """Run the callbacks of a finished batch on the callback runner."""
        self._submit(_CallbackRun(self._run_callbacks, batch, callbacks))

    def release(self, waiter: Waiter) -> None:
        """See `BatchOwner`. Any thread may call this."""
        if self._release_soon is not None and isinstance(waiter, _LOCK):
            self._release_soon(waiter)
        else:
            waiter.release()

    def _run_callbacks(self, batch: ProducerBatch, callbacks: Callbacks) -> None:
        try:
            run_callbacks(batch, callbacks)
        finally:
            self.memory.release(batch.reserved, held=True)
            batch.reserved = 0

    def wake(self) -> None:
        """Notify the sender of dirty queues. One notification covers all queues that are dirty when it runs."""
        if not self._wake_wanted:
            return
        try:
            with self.lock:
                if self._waking or not self._wake_wanted:
                    return
                self._waking = True
            if asyncio._get_running_loop() is self._loop and self.sends_now:
                self.on_dirty()
            else:
                self._tell_sender()
        except BaseException:  # an interrupt; notifying twice does no harm
            self._waking = False
            self._tell_sender()
            raise

    def _tell_sender(self) -> None:
        if asyncio._get_running_loop() is self._loop:
            self._loop.call_soon(self.on_dirty)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.on_dirty)

    def after_fork(self, reason: KafkaError) -> None:
        """Refuse all records in a forked child, where another thread of the parent may have held the lock."""
        self.lock = threading.RLock()
        self.memory = MemoryPool(self.options.buffer_memory, self.lock)
        self.refusal, self._refuses_for_good = reason, True
        self.topics.clear()
        self._current.clear()
        for batch in list(self.incomplete):
            batch.abandon(reason)
        self.incomplete = set()
        self._all = {}

    def mark(self, queue: PartitionQueue) -> None:
        """Mark a queue for the sender, which checks it after the next `wake`."""
        with self.lock:
            if not queue.dirty:
                queue.dirty = True
                self._dirty += (queue,)
            self._wake_wanted = True


class _CallbackRun(partial[None]):
    """The callbacks of a batch, with a name for the log in case one raises `SystemExit` or `KeyboardInterrupt`."""

    def __repr__(self) -> str:
        batch: ProducerBatch = self.args[0]
        return f"a callback of {batch.count} record(s) for {batch.name}"


def _nothing(report: FailureReport) -> None:
    """A placeholder until a function that collects failures is set."""


def _no_reason(queue: PartitionQueue) -> None:
    """A placeholder until `why_not_sent` is set."""


def _no_sender() -> None:
    """A placeholder until the sender is started."""
