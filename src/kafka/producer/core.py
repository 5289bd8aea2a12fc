"""The producer's core on the event loop, shared by `KafkaProducer` and `AsyncKafkaProducer`."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from typing import Any

from kafka._loop_services import loop_random, wall_clock_ns
from kafka.cluster.client_core import ClientCore
from kafka.cluster.protocols import ClusterAccess
from kafka.cluster.telemetry.collector import Identity
from kafka.config import ProducerConfig
from kafka.config.table import values_of
from kafka.errors import AssertedStateError, IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.health import Health
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.callback_thread import CallbackRunner, LoopCallbacks
from kafka.net.statistics import NetworkTraffic
from kafka.partitioner.partitioner_adapter import adapt_partitioner, partitioner_name
from kafka.producer.appending.appender import Append, RecordAppender
from kafka.producer.appending.interception import intercepted
from kafka.producer.appending.record_buffer import RecordBuffer, Reservations
from kafka.producer.appending.topic_lookup import TopicLookup
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.future import EndsWithLoop, FutureRecordMetadata
from kafka.producer.idempotence import Idempotence, IdempotenceState, is_idempotent
from kafka.producer.producer_health import observe
from kafka.producer.producer_statistics import ProducerStatistics, add_gauges
from kafka.producer.send.batch_results import BatchResults
from kafka.producer.send.outgoing_batches import BatchCompressor, OutgoingBatches, purge
from kafka.producer.send.produce_requests import ProduceRequests, magic_for
from kafka.producer.send.recreated_topics import PartitionChoice
from kafka.producer.send.schedule import sender_options
from kafka.producer.send.sender import Sender
from kafka.producer.transactions.transaction_manager import TransactionManager
from kafka.producer.transactions.transaction_requests import TransactionRequests
from kafka.record import Compression
from kafka.serializer import adapt_serializer
from kafka.wire.api.produce import ProduceRequest

log = logging.getLogger(__name__)


class ProducerCore:
    """The core of one producer. Any thread may create it; `start` and the other coroutines run on the loop.

    Arguments:
        config: all options.
        loop: the event loop on which everything runs.
        callbacks: runs the user's callbacks; None runs them on the loop.
        cluster: the connections to brokers; None creates them from the options.
        now_ns: returns the wall-clock time in nanoseconds, for the timestamps of records.
        rng: chooses partitions for records without a key.

    Raises `KafkaConfigurationError`.
    """

    def __init__(
        self,
        config: ProducerConfig,
        loop: asyncio.AbstractEventLoop,
        *,
        callbacks: CallbackRunner | None = None,
        cluster: ClusterAccess | None = None,
        now_ns: Callable[[], int] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        options = config.producer
        self.config = config
        self.metrics = ClientMetrics(config.connection, loop.time, values_of(config.connection, options))
        traffic = NetworkTraffic(self.metrics, "producer", loop)
        self.callbacks: CallbackRunner = callbacks or LoopCallbacks(loop)
        self._client_core = ClientCore(
            config.connection,
            config.security,
            loop,
            traffic,
            self.metrics,
            Identity("producer", "producer", lambda: {"transactional_id": options.transactional_id}),
            self.callbacks.submit,
            cluster,
        )
        self.cluster, self.telemetry = self._client_core.cluster, self._client_core.telemetry
        self._loop = loop
        self._now_ns = now_ns = now_ns or wall_clock_ns(loop)
        self._rng = rng or loop_random(loop)
        self._serializers = (
            adapt_serializer(options.key_serializer, "key"),
            adapt_serializer(options.value_serializer),
        )
        compression = Compression[(options.compression_type or "none").upper()]
        self.buffer = RecordBuffer(
            BufferOptions(
                options.batch_size,
                options.buffer_memory,
                compression,
                options.compression_level,
                options.partitioner_adaptive_partitioning_enable,
            ),
            loop,
            self._rng,
            self.callbacks.submit,
        )
        pick = adapt_partitioner(options.partitioner)
        self._choice = PartitionChoice(
            pick,
            options.partitioner_ignore_keys,
            lambda: self.cluster.metadata,
            self._rng,
            partitioner_name(options.partitioner),
        )
        self.default_choice = PartitionChoice(
            None, options.partitioner_ignore_keys, lambda: self.cluster.metadata, self._rng
        )
        """Chooses partitions for Arrow rows, to which the user's partitioner does not apply."""
        self.appender = RecordAppender(
            self.buffer,
            *self._serializers,
            pick,
            lambda: self.cluster.metadata,
            min(options.max_request_size, options.buffer_memory),
            now_ns,
            options.partitioner_ignore_keys,
        )
        self.interceptors = intercepted(options.interceptor_classes, values_of(config.connection, options))
        max_block_s = options.max_block_ms / 1000
        self.reservations = Reservations(self.buffer, max_block_s)
        self._backoff = self._client_core.backoff
        self._topics = TopicLookup(
            self.buffer, self.cluster, max_block_s, options.metadata_max_idle_ms / 1000, self._backoff
        )
        self._statistics = ProducerStatistics(self.metrics)
        add_gauges(self.metrics, self.buffer, self._in_flight, self._metadata_age_s)
        self.metrics.call_reporters_by(self.callbacks.submit)  # until now, reporters were called in the creating thread
        self._idempotence: Idempotence | None = None
        self._sender: Sender | None = None
        self._outcomes: BatchResults | None = None
        self._transactions: TransactionManager | None = None
        self._closing: asyncio.Task[None] | None = None
        self._callbacks_are_late = False
        self.keep_failures = False
        """Whether `raise_failures` follows `close`; otherwise `close` logs the failures that were never checked."""
        self._failed = False
        self._end_with_loop: dict[EndsWithLoop, None] = {}

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster and start sending.

        Raises `NoBrokersAvailable` and similar errors unless ``in_background`` is set; see `ClusterClient.start`.
        """
        await self._client_core.start(in_background=in_background)
        connection, options = self.config.connection, self.config.producer
        if not in_background:  # otherwise, batches are converted to an older format when they are sent, if necessary
            self.buffer.magic = await self._usable_magic()
        idempotence = self._idempotence = Idempotence(
            self.cluster,
            enabled=is_idempotent(connection, options),
            required=options.enable_idempotence is True or options.transactional_id is not None,
            transactional=options.transactional_id is not None,
            backoff=self._backoff,
            on_change=self._idempotence_changed,
        )
        self._outcomes = BatchResults(
            self.buffer,
            self.cluster,
            idempotence,
            self._statistics,
            self._backoff,
            retries=options.retries,
            delivery_timeout=options.delivery_timeout_ms / 1000,
        )
        if options.transactional_id is not None:
            self._transactions = TransactionManager(
                options.transactional_id,
                TransactionRequests(
                    self.cluster, options.transactional_id, options.transaction_timeout_ms, self._backoff
                ),
                self.buffer,
                idempotence,
                self._outcomes,
                options.max_block_ms / 1000,
                self._idempotence_changed,
                self._statistics.called,
            )
        self._sender = Sender(
            self.buffer,
            self.cluster,
            idempotence,
            self._outcomes,
            ProduceRequests(
                self.cluster,
                options.acks,
                connection.request_timeout_ms,
                self.buffer.options,
                self._transactions,
            ),
            BatchCompressor(self.buffer),
            self._statistics,
            sender_options(connection, options),
            self._backoff,
            self._topics,
            self._choice,
        )
        idempotence.ask()

    async def find_topic(self, topic: str, partition: int | None = None) -> int:
        """Wait until a topic, and `partition` if given, is known; see `TopicLookup.find`."""
        began = self._loop.time()
        count = await self._topics.find(topic, partition)
        self._statistics.called("metadata-wait", self._loop.time() - began)
        return count

    def check_may_wait_for(self, topic: str) -> None:
        """If `max_block_ms` is 0, raise `KafkaTimeoutError` and look up the topic in the background. Thread-safe.

        If the cluster has already rejected the topic, raises the cluster's error instead.
        """
        if self.config.producer.max_block_ms:
            return
        self._loop.call_soon_threadsafe(self._topics.find_later, topic)
        known = self.cluster.metadata.topic_errors.get(topic)
        if known is not None and not known.retriable:
            raise known(f"topic {topic!r}: {known.description}")
        raise KafkaTimeoutError(
            f"topic {topic!r}, or the partition that was named, is not known yet, and max_block_ms is 0: "
            "send the record again later"
        )

    def loop_failed(self, error: KafkaError) -> None:
        """Handle the failure of the loop: fail all records and accept no more. Any thread may call this."""
        self._failed = True
        self._client_core.health.loop_failed(error)
        self.buffer.refuse(error)
        for batch in list(self.buffer.incomplete):
            batch.fail(error)
        for result in list(self._end_with_loop):
            result.loop_failed()

    def end_with_loop(self, result: EndsWithLoop) -> None:
        """Notify `result` if the loop fails, until `ended` is called. Any thread may call this."""
        self._end_with_loop[result] = None
        if self._failed:
            result.loop_failed()

    def ended(self, result: EndsWithLoop) -> None:
        """Stop notifying `result`, because it is complete."""
        self._end_with_loop.pop(result, None)

    def health(self) -> Health:
        """Return the producer's health. Any thread may call this."""
        seen = observe(
            self.config.producer,
            self.buffer,
            self._statistics.acknowledged_at,
            self._transactions,
            self._idempotence,
            self._loop.time(),
        )
        return self._client_core.health.report(seen, self._closing is not None)

    async def settle(self, batches: Sequence[ProducerBatch], then: Callable[[], object]) -> None:
        """Wait until all of these batches have been delivered or have failed, then immediately call `then`."""
        await self._running().settled(batches, then)

    def send_now(self) -> None:
        """Send new records now instead of in the loop's next iteration, because the caller is about to wait for one."""
        if not self.config.producer.linger_ms:
            self.buffer.on_dirty()

    def append_now(self, *record: Any) -> FutureRecordMetadata:
        """Append a record for a caller on the loop who waits for it.

        Unless batches linger, the record is sent at once instead of in the loop's next iteration. Takes the arguments
        of `RecordAppender.append`, and raises the same errors.
        """
        self.buffer.sends_now = not self.config.producer.linger_ms
        try:
            append: Append = self.appender.append
            return append(*record)
        finally:
            self.buffer.sends_now = False

    def now_ms(self) -> int:
        """Return the current time in milliseconds, for records without a timestamp."""
        return self._now_ns() // 1_000_000

    def random_partition(self, topic: str) -> int:
        """Return a random partition of a known topic."""
        return self._rng.randrange(self.buffer.partition_count(topic))

    async def flush(self, timeout_s: float | None = None, in_callback: bool = False) -> None:
        """Send all buffered records; wait until they are delivered or have failed, and their callbacks have run.

        Arguments:
            timeout_s: maximum wait in seconds; None waits for all deliveries, and up to `delivery_timeout_ms` for the
                callbacks.
            in_callback: whether the caller is a callback; it cannot wait for itself, so no callbacks are awaited.

        Raises `KafkaTimeoutError` when the time is up. Otherwise, if batches have failed since the last flush and their
        futures are gone without having been checked, raises the first of these failures, with the number of failures.
        """
        outcomes, began = self._running(), self._loop.time()
        self.buffer.close_open_batches()
        deadline = None if timeout_s is None else self._loop.time() + timeout_s
        waiting = set(self.buffer.incomplete)
        try:
            async with asyncio.timeout_at(deadline):
                await outcomes.settled(waiting)
        except TimeoutError:
            left = sum(batch.count for batch in waiting if not batch.done)
            why = self.buffer.first_obstacle()
            raise KafkaTimeoutError(
                f"flush: {left} record(s) not acknowledged within {timeout_s:g} seconds; they are still on their way"
                + ("" if why is None else f": {why}")
            ) from why
        waiting.clear()  # while a batch is referenced, its futures count as still checkable
        if not in_callback and not await self._callbacks_have_run(deadline):
            raise KafkaTimeoutError(
                "flush: every record is acknowledged or has failed, but callbacks are still running"
                + ("" if timeout_s is None else f" after {timeout_s:g} seconds")
            )
        self._statistics.called("flush", self._loop.time() - began)
        outcomes.failures.raise_unseen()

    async def purge(self, in_queue: bool, in_flight: bool) -> int:
        """Fail unacknowledged records and return their number; see `KafkaProducer.purge`."""
        return purge(self.buffer, self._running(), in_queue, in_flight)

    async def close(
        self, timeout_s: float | None = None, in_callback: bool = False, reason: str = "the producer is closed"
    ) -> None:
        """Send all buffered records, for up to `timeout_s` (None for no limit), and release all resources.

        Arguments:
            in_callback: as for `flush`.
            reason: text of the error that later calls to `send` raise.

        Records that are not delivered in time fail with `KafkaTimeoutError`; their callbacks may run later. A second
        call only waits for the first call to finish.
        """
        deadline = None if timeout_s is None else self._loop.time() + timeout_s
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(timeout_s, reason))
        await asyncio.shield(self._closing)
        self._callbacks_are_late = not in_callback and not await self._callbacks_have_run(deadline)
        if self._callbacks_are_late:
            log.warning("the producer is closed, but callbacks are still running")

    async def raise_unseen(self) -> None:
        """Raise what `flush` raises for failures whose futures are gone.

        Without the GIL, what a thread drops while the loop also refers to it is freed when that thread runs again, so
        that `flush` may be too early to see this.
        """
        if self._outcomes is not None:
            self._outcomes.failures.raise_unseen()

    def raise_failures(self) -> None:
        """After `close` has finished, raise the error that `flush` would have raised before it. Thread-safe.

        Does nothing if the producer is not closed, as in a forked child, where it belongs to the parent.
        """
        if self._closing is None or self._outcomes is None:
            return
        failures = self._outcomes.failures
        try:
            failures.raise_unseen()
        finally:
            failures.log_unseen()
        if self._callbacks_are_late:
            raise KafkaTimeoutError(
                "the producer is closed, every record is acknowledged or has failed, but callbacks are still running"
            )

    async def _callbacks_have_run(self, deadline: float | None) -> bool:
        """Wait for the callbacks of all completed records; return False if the time expires first."""
        if deadline is None:
            deadline = self._loop.time() + self.config.producer.delivery_timeout_ms / 1000
        try:
            async with asyncio.timeout_at(deadline):
                await self.callbacks.idle()
        except TimeoutError:
            return self.callbacks.is_idle  # even without time to wait, all callbacks may have run
        return True

    async def _close(self, timeout_s: float | None, reason: str) -> None:
        deadline = None if timeout_s is None else self._loop.time() + timeout_s
        self.buffer.refuse(AssertedStateError(reason))
        outcomes, sender = self._outcomes, self._sender
        if outcomes is not None and sender is not None:
            try:
                async with asyncio.timeout(timeout_s):
                    if self._transactions is not None:
                        await self._transactions.close()
                    await outcomes.settled(list(self.buffer.incomplete))
            except TimeoutError:
                pass
            if self._transactions is not None:
                await self._transactions.stop()
            await sender.stop()
            outgoing = OutgoingBatches(self.buffer)
            for queue in list(self.buffer.queues()):
                left = [*queue.in_network, *outgoing.take_expired(queue, float("inf"))]
                for batch in [each for each in left if not each.done]:
                    outcomes.fail(queue, batch, _closed_before(self.buffer.obstacle(batch)))
            if not self.keep_failures:
                outcomes.failures.log_unseen()
        for serializer in self._serializers:
            if serializer is not None and serializer.has_close:
                self.callbacks.submit(serializer.close)  # user code may block, and may raise any exception
        if self.interceptors is not None:
            self.callbacks.submit(self.interceptors.close)
        await self._client_core.close(None if deadline is None else deadline - self._loop.time())
        self.metrics.close()
        self.callbacks.finish()

    @property
    def is_idempotent(self) -> bool:
        """Whether batches have sequence numbers; False after the cluster has refused idempotence."""
        if self._idempotence is None:
            return is_idempotent(self.config.connection, self.config.producer)
        return self._idempotence.state is not IdempotenceState.OFF

    @property
    def is_closed(self) -> bool:
        """Whether the producer is closed or closing."""
        return self._closing is not None

    @property
    def loop_is_closed(self) -> bool:
        """Whether the event loop is closed, so that nothing can be sent."""
        return self._loop.is_closed()

    def unsent(self) -> int:
        """Return the number of records that have neither been delivered nor failed."""
        return sum(batch.count for batch in list(self.buffer.incomplete))

    def _in_flight(self) -> int:
        return 0 if self._sender is None else self._sender.in_flight()

    def _metadata_age_s(self, now: float) -> float:
        return now - self.cluster.metadata_renewed_at

    @property
    def transactions(self) -> TransactionManager:
        """The transaction manager; raises `IllegalStateError` without `transactional_id`."""
        if self._transactions is None:
            raise IllegalStateError("transactions need the option 'transactional_id', which this producer does not set")
        return self._transactions

    def _running(self) -> BatchResults:
        if self._outcomes is None:
            raise IllegalStateError("the producer is not started")
        return self._outcomes

    def _idempotence_changed(self) -> None:
        if self._sender is not None:
            self._sender.reconsider()

    async def _usable_magic(self) -> int:
        """Return the newest batch format that the cluster accepts, according to one of its brokers."""
        try:
            connection = await self.cluster.any_connection()
        except KafkaError:  # the broker has become unreachable; batches are converted later, if necessary
            return 2
        version = connection.api_versions.pick(ProduceRequest, 0, None)
        return 2 if version is None else magic_for(version)


def _closed_before(why: Exception | None) -> KafkaTimeoutError:
    """Return the error of a record that was not acknowledged before `close` timed out.

    Arguments:
        why: what prevented the acknowledgement; None if unknown.
    """
    error = KafkaTimeoutError(
        "the producer was closed before the record was acknowledged" + ("" if why is None else f": {why}")
    )
    error.__cause__ = why
    return error
