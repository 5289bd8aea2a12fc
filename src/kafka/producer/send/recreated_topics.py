"""Moves unsent records of a topic that was deleted and recreated to the partitions of the new topic.

When the client notices that a topic was recreated, it first waits for the batches in flight and sends nothing else to
the topic. Then it repartitions each record that is not known to have been written, in order and before all later
records, so that records with the same key stay in one partition and in order. A record whose partition the caller chose
stays there, or fails if the new topic has no such partition.

A batch that was sent with the topic's name, and whose response was lost, may already be in the new topic. It keeps its
partition and its sequence numbers, by which the broker recognizes it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from kafka.errors import AssertedArgumentError, IllegalArgumentError, KafkaError
from kafka.net.helper_threads import run_blocking
from kafka.partitioner.abc import KnownPartitions
from kafka.partitioner.murmur2 import murmur2
from kafka.partitioner.partitioner_adapter import Pick
from kafka.producer.appending.checks import checked_partition
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.producer_batch import ProducerBatch, Run
from kafka.producer.batch.queues import PartitionQueue, TopicQueues
from kafka.producer.batch.reencode import EncodedRecords, are_named, regroup
from kafka.producer.idempotence import Idempotence
from kafka.producer.send.batch_results import BatchResults
from kafka.producer.send.schedule import BrokerQueue
from kafka.record import Buffer, Columns, ProducerState, decode_batches
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

_LONG_BYTES = 64 * 1024
"""Size in bytes above which the records of batches are separated in another thread."""
_SLOW_S = 5.0
"""Seconds after which a warning is logged that a user's partitioner has not returned."""


Target = int | KafkaError
"""A partition, or the error for a record that cannot be sent to any partition."""


class _Plan(NamedTuple):
    """The plan for a batch: `data` contains its bytes. If `runs` is not empty, the records move to other batches."""

    data: Buffer
    parts: Mapping[Target, EncodedRecords]
    runs: list[tuple[int, Target, int]]


_Plans = dict[ProducerBatch, _Plan | KafkaError]


class RecreatedTopics:
    """Handles topics that were recreated. Runs on the loop.

    Arguments:
        buffer: the unsent records, and the topics that were recreated.
        outcomes: receives failures, and batches that replace others.
        idempotence: numbers batches.
        choice: chooses partitions.
        brokers: the ready queues of each broker.
        spawn: starts a task.
        pump: called when something may be sent again.
    """

    def __init__(
        self,
        buffer: RecordBuffer,
        outcomes: BatchResults,
        idempotence: Idempotence,
        choice: PartitionChoice,
        brokers: Mapping[int, BrokerQueue],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        pump: Callable[[], object],
    ) -> None:
        self._buffer = buffer
        self._outcomes = outcomes
        self._idempotence = idempotence
        self._choice = choice
        self._brokers = brokers
        self._spawn = spawn
        self._pump = pump
        self._moving: set[str] = set()
        """Topics whose batches are being separated into records in another thread."""
        self._slow: dict[str, KafkaError] = {}
        """Topics among these for which the user's partitioner has not returned in time."""

    def look(self) -> None:
        """Start moving the records of each topic whose batches are neither in flight nor being compressed."""
        for topic, queues in list(self._buffer.recreated.items()):
            for broker in self._brokers.values():
                for queue in queues.queues:
                    broker.ready.pop(queue, None)
            compressed = frozenset[PartitionQueue]().union(*(each.compressing_for for each in self._brokers.values()))
            if topic not in self._moving and not any(q.in_network or q in compressed for q in queues.queues):
                self._begin(queues)

    def obstacle(self, topic: str) -> KafkaError | None:
        """Return the error that blocks the records for a recreated topic, or None. Any thread may call this."""
        return self._slow.get(topic)

    def _begin(self, queues: TopicQueues) -> None:
        batches = [batch for queue in queues.queues for batch in queue.waiting() if batch.is_stale]
        doubtful = any(_may_be_in(batch, queues.topic_id) for batch in batches)
        if self._outcomes.transactions is not None:
            self._outcomes.transactions.topic_recreated(queues.topic, queues.count, bool(batches), doubtful)
        if queues.counts_before == {queues.count}:
            batches = []  # every partition still exists and would be chosen again
        size = sum(_size(batch) for batch in batches)
        if batches and (size > _LONG_BYTES or self._choice.is_users):
            self._moving.add(queues.topic)
            self._spawn(self._move_elsewhere(queues, batches))
        else:
            self._finish(queues, self._plan_all(queues, batches))

    async def _move_elsewhere(self, queues: TopicQueues, batches: list[ProducerBatch]) -> None:
        """Separate batches into records in another thread, because this is slow or calls the user's partitioner."""
        generation = queues.generation
        plans: _Plans = {}
        watch = asyncio.get_running_loop().call_later(_SLOW_S, self._note_slow, queues.topic, batches)
        try:
            plans = await run_blocking(self._plan_all, queues, batches)
        finally:
            watch.cancel()
            self._slow.pop(queues.topic, None)
            self._moving.discard(queues.topic)
        if queues.generation == generation:
            self._finish(queues, plans)
        else:
            for batch, plan in plans.items():
                _keep(batch, plan)
        self._pump()

    def _note_slow(self, topic: str, batches: list[ProducerBatch]) -> None:
        """Log that the user's partitioner is taking a long time; it may never return."""
        if not self._choice.is_users:
            return
        log.warning(
            "topic %s was deleted and recreated, and the partitioner %s, which chooses again, has not returned for %g "
            "s: %d record(s), and all that is sent to the topic since, wait for it, up to delivery_timeout_ms",
            topic,
            self._choice.name,
            _SLOW_S,
            sum(batch.count for batch in batches),
        )
        self._slow[topic] = KafkaError(
            f"topic {topic!r} was deleted and recreated, and the partitioner {self._choice.name} has not returned"
        )

    def _plan_all(self, queues: TopicQueues, batches: list[ProducerBatch]) -> _Plans:
        """Choose the new partitions for the records in batches. Has no side effects, so any thread may call this."""
        count, available = queues.count, queues.available
        plans: _Plans = {}
        for batch in batches:
            data, builder = batch.data, batch.builder
            try:
                if data is None:
                    if builder is None:  # the batch has expired in the meantime
                        continue
                    data = builder.build_in_place(ProducerState())
                plans[batch] = self._plan(batch, data, count, [p for p in available if p < count])
            except Exception as error:
                log.exception("partitioning %d record(s) for %s again", batch.count, batch.name)
                plans[batch] = KafkaError(f"the batch could not be partitioned again: {error!r}")
        return plans

    def _plan(self, batch: ProducerBatch, data: Buffer, partitions: int, available: list[int]) -> _Plan:
        columns = decode_batches(data, check_crcs=False)
        named = are_named(batch.named, len(columns))
        targets = self._choice.targets(batch.topic_partition, columns, named, partitions, available)
        if all(target == batch.topic_partition.partition for target in targets):
            return _Plan(data, {}, [])
        return _Plan(data, *regroup(data, columns, targets, named, self._buffer.options))

    def _finish(self, queues: TopicQueues, plans: _Plans) -> None:
        """Move every batch to its partition, ahead of newer batches, and resume sending to the topic."""
        moved: dict[int, list[ProducerBatch]] = {}
        failed: list[tuple[PartitionQueue, ProducerBatch, KafkaError]] = []
        with self._buffer.lock:
            taken = [(queue, batch) for queue in queues.queues for batch in self._take(queue, queues.topic_id)]
            # in the meantime, records with the same key may have been added to several partitions
            taken.sort(key=lambda each: each[1].serial)
            for queue, batch in taken:
                batch.is_stale = False
                for target, part in self._parts(batch, plans.get(batch)):
                    if isinstance(target, int):
                        moved.setdefault(target, []).append(part)
                    else:
                        failed.append((queue, part, target))
            for number, batches in moved.items():
                for batch in reversed(batches):
                    queues.queues[number].closed.appendleft(batch)
            queues.end_move()
            for queue in queues.queues:
                self._buffer.mark(queue)
        self._buffer.recreated.pop(queues.topic, None)
        for queue, part, error in failed:
            self._outcomes.fail(queue, part, error)

    def _take(self, queue: PartitionQueue, topic_id: UUID | None) -> list[ProducerBatch]:
        """Remove from a queue the batches that were added before the topic was recreated, oldest first."""
        stale: list[ProducerBatch] = []
        if not queue.is_gone and any(_may_be_in(batch, topic_id) for batch in queue.retries):
            for batch in queue.retries:
                batch.is_stale = False
            queue.proven = False
        else:
            stale, queue.retries = queue.retries, []
            self._idempotence.start_over(queue, stale)
        while queue.closed and queue.closed[0].is_stale:
            stale.append(queue.closed.popleft())
        return stale

    def _parts(self, batch: ProducerBatch, plan: _Plan | KafkaError | None) -> list[tuple[Target, ProducerBatch]]:
        """Return the batches that replace a batch, each with its partition or the reason why it fails."""
        if isinstance(plan, KafkaError):
            return [(plan, batch)]
        _keep(batch, plan)
        if plan is None or not plan.runs:
            return [(batch.topic_partition.partition, batch)]
        parts = {target: _part(batch, target, records) for target, records in plan.parts.items()}
        first = next(iter(parts.values()))
        first.reserved, batch.reserved = batch.reserved, 0
        runs: list[Run] = [(index, parts[target], start) for index, target, start in plan.runs]
        self._outcomes.replace(batch, list(parts.values()), runs)
        return list(parts.items())


def _part(batch: ProducerBatch, target: Target, records: EncodedRecords) -> ProducerBatch:
    """Return some records of a batch as a separate batch."""
    place = batch.topic_partition
    if isinstance(target, int):
        place = TopicPartition(place.topic, target)
    part = ProducerBatch.encoded(batch.owner, place, batch.created, records.data, records.records, 0)
    part.named, part.serial = records.named, batch.serial
    part.last_error, part.sent_to = batch.last_error, batch.sent_to
    return part


def _keep(batch: ProducerBatch, plan: _Plan | KafkaError | None) -> None:
    """Store a batch's encoded bytes in it, because its builder no longer has them."""
    if isinstance(plan, _Plan) and batch.builder is not None:
        batch.keep(plan.data)


def _may_be_in(batch: ProducerBatch, topic_id: UUID | None) -> bool:
    """Return whether a batch may be in a topic's log, so that a broker would recognize its sequence numbers."""
    return batch.base_sequence >= 0 and bool(batch.doubts & {None, topic_id})


def _size(batch: ProducerBatch) -> int:
    """Return the approximate size of a batch in bytes."""
    return len(batch.data) if batch.data is not None else batch.builder.size_in_bytes if batch.builder else 0


class PartitionChoice:
    """Chooses partitions like `RecordAppender`, for records that are already encoded. Thread-safe.

    Arguments:
        pick: the user's partitioner; None for the default partitioner.
        ignore_keys: whether the default partitioner ignores keys.
        cluster: returns the metadata to pass to the user's partitioner.
        rng: chooses partitions for records without a key.
        name: name of the user's partitioner, for messages.
    """

    def __init__(
        self,
        pick: Pick | None,
        ignore_keys: bool,
        cluster: Callable[[], KnownPartitions],
        rng: random.Random,
        name: str = "the default rule",
    ) -> None:
        self.is_users = pick is not None
        """Whether partitions are chosen by the user's code."""
        self.name = name
        self._pick = pick
        self._ignore_keys = ignore_keys
        self._cluster = cluster
        self._rng = rng

    def targets(
        self, place: TopicPartition, columns: Columns, named: bytearray, partitions: int, available: Sequence[int]
    ) -> list[Target]:
        """Return the new partition of each record of a batch.

        Records stay in their partition if the caller chose it. So do records without a key, if the partition still
        exists.

        Arguments:
            place: the records' current partition.
            columns: the records.
            named: whether the caller chose the partition, for each record.
            partitions: number of partitions of the new topic.
            available: the partitions that have a leader.
        """
        exists = place.partition < partitions
        keyless: Target = place.partition if exists else self._rng.choice(available or range(partitions))
        missing: Target = place.partition if exists else no_such_partition(place, partitions)
        targets: list[Target] = []
        for index in range(len(columns)):
            if named[index]:
                targets.append(missing)
                continue
            key = columns.key(index)
            if self._pick is not None:
                targets.append(self._picked(self._pick, place, key, columns.value(index), partitions))
            elif key is None or self._ignore_keys:
                targets.append(keyless)
            else:
                targets.append((murmur2(key) & 0x7FFFFFFF) % partitions)
        return targets

    def _picked(
        self, pick: Pick, place: TopicPartition, key: bytes | None, value: bytes | None, partitions: int
    ) -> Target:
        """Call the user's partitioner with the serialized key and value, because the original arguments are gone."""
        try:
            picked = pick(place.topic, key, key, value, value, self._cluster())
            return checked_partition(place.topic, picked, partitions, "the partitioner's choice")
        except Exception as error:
            if place.partition < partitions:
                return place.partition
            failure = IllegalArgumentError(
                f"topic {place.topic!r} was deleted and recreated without partition {place.partition}, and the "
                f"partitioner chose no other one: {error!r}"
            )
            failure.__cause__ = error
            return failure


def no_such_partition(place: TopicPartition, partitions: int) -> AssertedArgumentError:
    """Return the error for a record whose partition, chosen by the caller, no longer exists."""
    return AssertedArgumentError(
        f"topic {place.topic!r} was deleted and recreated: it has partitions 0 to {partitions - 1} now, but partition "
        f"is {place.partition}"
    )
