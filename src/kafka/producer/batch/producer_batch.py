"""A batch of records for one partition: filled, sent and completed as a whole."""

from __future__ import annotations

import bisect
import enum
import math
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from kafka.errors import InvalidRecordError, KafkaError
from kafka.net import interruptible
from kafka.producer.delivery.callbacks import Callbacks
from kafka.producer.delivery.unseen_failures import FailureReport
from kafka.producer.future import BatchFields
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from uuid import UUID

    from kafka.record import BatchBuilder, Buffer


class BatchOwner(Protocol):
    """The part of the producer's interface that a batch uses."""

    lock: threading.RLock
    """Guards the builder, callbacks and result of every batch. A forked child replaces it, so do not store it."""

    def check_may_wait(self) -> None:
        """Raise `IllegalStateError` if the calling thread holds the lock. Waiting for a batch would then never end."""

    def on_own_loop(self) -> bool:
        """Return whether the caller runs on the producer's event loop, where waiting for a batch would never end."""

    def obstacle(self, batch: ProducerBatch) -> Exception | None:
        """Return the reason why a batch has not been acknowledged, or None if unknown."""

    def deliver(self, batch: ProducerBatch, callbacks: Callbacks) -> None:
        """Run the callbacks of a finished batch on the callback runner."""

    def release(self, waiter: Waiter) -> None:
        """Wake a thread or coroutine that waits for a batch, now or as soon as the loop has nothing else to do."""


class Waiter(Protocol):
    """A thread or coroutine that waits for a batch."""

    def release(self) -> object:
        """Wake the waiter."""


class Stage(enum.Enum):
    """The life cycle of a batch."""

    OPEN = "takes records; has a builder"
    CLOSED = "takes no more records, is not encoded yet; has a builder"
    ENCODED = "has the bytes that are sent"
    DONE = "delivered or failed; has neither"
    SPLIT = "replaced by smaller ones; has neither"


CLOSED, DONE, ENCODED = Stage.CLOSED, Stage.DONE, Stage.ENCODED
"""Module globals, because Python 3.11 looks up enum members with a function call."""
_ENDED = (Stage.DONE, Stage.SPLIT)
_FIRST_INDEX = itemgetter(0)

Run = tuple[int, "ProducerBatch", int]
"""Records that moved together: the first record's index, the batch that now contains them, and its index there."""


class ProducerBatch(BatchFields):
    """Records for one partition that are sent together, and succeed or fail together.

    Arguments:
        owner: the producer's `RecordBuffer`.
        topic_partition: the destination partition.
        created: the loop's time in seconds when the first record was added.
        reserved: bytes of the producer's memory that the batch occupies.
        builder: encodes the records; None for a batch that is already encoded (see `encoded`).
    """

    __slots__ = (
        "attempts",
        "base_offset",
        "base_sequence",
        "created",
        "data",
        "done",
        "doubts",
        "error",
        "is_stale",
        "largest_record",
        "last_error",
        "log_append_time",
        "order",
        "owner",
        "producer_epoch",
        "producer_id",
        "raw_size",
        "record_errors",
        "records",
        "report",
        "reserved",
        "seen",
        "sent_to",
        "sent_under",
        "serial",
        "stage",
        "topic_partition",
        "waiters",
    )

    def __init__(
        self,
        owner: BatchOwner,
        topic_partition: TopicPartition,
        created: float,
        reserved: int,
        builder: BatchBuilder | None = None,
    ) -> None:
        self.report: FailureReport | None = None
        self.error: KafkaError | None = None
        self.seen = False
        """Whether the result has been checked or will be received by a callback."""
        self.owner = owner
        self.topic_partition = topic_partition
        self.created = created
        self.reserved = reserved
        self.builder: BatchBuilder | None = builder
        self.stage = Stage.OPEN
        self.done = False
        """Whether the records have been delivered or have failed."""
        self.records = 0
        self.raw_size = self.largest_record = 0
        """Uncompressed size of the batch and of its largest record in bytes; known once the batch is encoded."""
        self.data: Buffer | None = None
        self.producer_id = -1
        self.producer_epoch = -1
        self.base_sequence = -1
        self.order: tuple[int, ...] = ()
        """The batch's position among those of its partition, assigned when it is first sent; parts of a split batch
        append a number.
        """
        self.attempts = 0
        """Number of failed delivery attempts."""
        self.sent_to = -1
        """The broker to which the batch was last sent."""
        self.last_error: KafkaError | None = None
        """The error of the last attempt."""
        self.record_errors: Mapping[int, str | None] | None = None
        self.base_offset = -1
        self.log_append_time = -1
        self.sent_under: UUID | None = None
        """The id of the topic to which the batch was last sent; None if the request contained the topic's name."""
        self.doubts: frozenset[UUID | None] = frozenset()
        """The topics, as in `sent_under`, that may contain the batch, because no response confirmed or denied it."""
        self.is_stale = False
        """Whether the topic was recreated, so that the records must be partitioned again."""
        self.serial = 0
        """Serial number among all batches of the producer, in order of creation."""
        self.named: list[int] | None = None
        self.callbacks: Callbacks | None = Callbacks()
        self.waiters: list[Waiter] = []
        """One waiter for each thread or coroutine that waits until the batch is done or split: a locked lock, much
        cheaper than an Event, for a thread; a `LoopWaiter` for a coroutine.
        """
        self.parts: list[Run] | None = None

    @classmethod
    def encoded(
        cls,
        owner: BatchOwner,
        topic_partition: TopicPartition,
        created: float,
        data: Buffer,
        records: int,
        reserved: int,
        sizes: tuple[int, int] = (0, 0),
    ) -> ProducerBatch:
        """Create a batch from its encoded bytes.

        Arguments:
            sizes: uncompressed sizes of the batch and of its largest record in bytes; 0 if unknown.
        """
        batch = cls(owner, topic_partition, created, reserved)
        batch.data = data
        batch.records = records
        batch.raw_size, batch.largest_record = sizes
        batch.stage = Stage.ENCODED
        return batch

    @property
    def name(self) -> str:
        """The topic and the partition as one word, for messages and logs."""
        return f"{self.topic_partition.topic}-{self.topic_partition.partition}"

    @property
    def count(self) -> int:
        """Number of records."""
        return self.builder.count if self.builder is not None else self.records

    def keep(self, data: Buffer) -> None:
        """Replace the builder with the encoded bytes."""
        builder = self.builder
        if builder is not None:
            self.records = builder.count
            self.raw_size, self.largest_record = builder.size_in_bytes, builder.largest_record
            self.builder = None
        self.data = data
        self.stage = Stage.ENCODED

    def locate(self, index: int) -> tuple[ProducerBatch, int]:
        """Return the batch that now contains a record, after any number of splits, and the record's index there."""
        batch: ProducerBatch = self
        while batch.parts is not None:
            first, part, start = batch.parts[bisect.bisect_right(batch.parts, index, key=_FIRST_INDEX) - 1]
            index += start - first
            batch = part
        return batch, index

    def leaves(self) -> Iterator[ProducerBatch]:
        """Return the batches that now contain the records, after any splits, ordered by their first records."""
        if self.parts is None:
            yield self
        else:
            for part in dict.fromkeys(part for _, part, _ in self.parts):
                yield from part.leaves()

    def succeed(self, base_offset: int, log_append_time: int) -> None:
        """Complete the batch, whose first offset is `base_offset` (-1 if unknown), and schedule its callbacks."""
        self.base_offset = base_offset
        self.log_append_time = log_append_time
        self._finish(None)

    def fail(self, error: KafkaError, record_errors: Mapping[int, str | None] | None = None) -> None:
        """Fail the records with `error`, and schedule their callbacks.

        Arguments:
            error: why the batch failed.
            record_errors: the records that the broker rejected, with reasons (KIP-467); the other records failed only
                because they were in the same batch.
        """
        self.record_errors = record_errors or None
        self._finish(error)

    def abandon(self, error: KafkaError) -> None:
        """Finish the batch in a forked child without resolving futures or running callbacks. Takes no lock."""
        self.error = error
        self.seen = True
        self.stage, self.done = DONE, True
        self.records = self.count
        self.builder = self.data = self.callbacks = None

    def _finish(self, error: KafkaError | None) -> None:
        with self.owner.lock:
            if self.done:
                return
            if self.builder is not None:
                self.records = self.builder.count
            self.error = error
            if error is not None:
                self.report = FailureReport(error, self.records, self.describe(error), self.seen, weakref.ref(self))
            self.stage, self.done = DONE, True
            self.builder = None
            self.data = None
            callbacks, self.callbacks = self.callbacks, None
            waiters, self.waiters = self.waiters, []
        if callbacks is not None and callbacks.functions:
            self.owner.deliver(self, callbacks)
        for waiter in waiters:
            self.owner.release(waiter)

    def split_into(self, parts: Sequence[ProducerBatch]) -> None:
        """Replace this batch with smaller ones that contain the same records in the same order; see `scatter_into`."""
        first = 0
        runs: list[Run] = []
        for part in parts:
            runs.append((first, part, 0))
            first += part.count
        self.scatter_into(runs)

    def scatter_into(self, runs: list[Run]) -> None:
        """Replace this batch with others that together contain the same records; futures and callbacks are moved, too.

        Arguments:
            runs: the new place of each record, in the order of the records.
        """
        with self.owner.lock:
            for _, part, _ in runs:
                part.seen = self.seen
            self.parts = runs  # assigned in one step, because readers take no lock
            self.records = self.count
            self.stage = Stage.SPLIT
            self.builder = None
            self.data = None
            callbacks, self.callbacks = self.callbacks, None
            waiters, self.waiters = self.waiters, []
            if callbacks is not None:
                callbacks.move_to_parts(self)
        for waiter in waiters:
            self.owner.release(waiter)

    def add_waiter(self, waiter: Waiter) -> bool:
        """Wake `waiter` when the batch is done or split; if that has already happened, just return True."""
        with self.owner.lock:
            if self.stage in _ENDED:
                return True
            self.waiters += (waiter,)  # without a function call, after which Python may run signal handlers
        return False

    def wait(self, timeout: float | None) -> bool:
        """Block until the batch is done or split; return False if the timeout in seconds expires first."""
        waiter = threading.Lock()
        waiter.acquire()
        if self.add_waiter(waiter):
            return True
        return interruptible.acquire(waiter, math.inf if timeout is None else timeout)

    def error_of(self, index: int) -> KafkaError | None:
        """Return the error of one record of a failed batch."""
        if self.error is None or self.record_errors is None:
            return self.error
        if index in self.record_errors:
            reason = self.record_errors[index]
            return type(self.error)(reason) if reason else self.error
        return InvalidRecordError(
            f"not written, because the broker refused {len(self.record_errors)} other(s) of the {self.count} records "
            f"in its batch for {self.name}"
        )

    def describe(self, error: KafkaError) -> str:
        """Describe the failure in one line: number of records, partition and error."""
        return f"{self.count} record(s) for {self.name} not delivered: {error}"

    def look(self) -> None:
        """Mark the result as checked, even if it is not available yet."""
        self.seen = True
        if self.report is not None:
            self.report.seen = True

    def __del__(self) -> None:
        # missing if an interrupt came before it was created
        report: FailureReport | None = getattr(self, "report", None)
        if report is not None and not sys.is_finalizing():
            report.log_unseen()


def magic_of(data: Buffer) -> int:
    """Return the format of an encoded batch: 0, 1 or 2."""
    return data[16]
