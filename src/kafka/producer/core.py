"""The producer on its event loop: what the synchronous and the asyncio face have in common."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence

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
from kafka.producer.appending.appender import RecordAppender
from kafka.producer.appending.interception import intercepted
from kafka.producer.appending.record_buffer import RecordBuffer, Reservations
from kafka.producer.appending.topic_lookup import TopicLookup
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.shared_queues import BufferOptions
from kafka.producer.future import EndsWithLoop
from kafka.producer.idempotence import Idempotence, IdempotenceState, is_idempotent
from kafka.producer.producer_health import observe
from kafka.producer.producer_statistics import ProducerStatistics, add_gauges
from kafka.producer.send.batch_results import BatchResults
from kafka.producer.send.expiry import purge
from kafka.producer.send.next_request import BatchCompressor, OutgoingBatches
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
    """One producer. Made in any thread; `start` and the other coroutines run on the loop.

    Arguments:
        config: all options.
        loop: the event loop that everything runs on.
        callbacks: runs the user's callbacks; None: they run on the loop.
        cluster: None: connect as the options say.
        now_ns: the wall clock in nanoseconds, for timestamps of records.
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
        """For rows, whose partitions no partitioner of the user's chooses."""
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
        self.metrics.call_reporters_by(self.callbacks.submit)  # here reporters were told in the thread that makes it
        self._idempotence: Idempotence | None = None
        self._sender: Sender | None = None
        self._outcomes: BatchResults | None = None
        self._transactions: TransactionManager | None = None
        self._closing: asyncio.Task[None] | None = None
        self._callbacks_are_late = False
        self.keep_failures = False
        """Whether `raise_failures` comes after `close`, which otherwise logs the failures that nobody has looked at."""
        self._failed = False
        self._end_with_loop: dict[EndsWithLoop, None] = {}

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster, and begin to send what comes.

        Raises `NoBrokersAvailable` and the like, but not ``in_background``, see `ClusterClient.start`.
        """
        await self._client_core.start(in_background=in_background)
        connection, options = self.config.connection, self.config.producer
        if not in_background:  # else it is made older when it is sent, if it has to be
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
        """Wait until a topic is known, and a partition of it if one is named, see `TopicLookup.find`."""
        began = self._loop.time()
        count = await self._topics.find(topic, partition)
        self._statistics.called("metadata-wait", self._loop.time() - began)
        return count

    def check_may_wait_for(self, topic: str) -> None:
        """Raise `KafkaTimeoutError` where `max_block_ms` is 0, and have the topic looked for meanwhile. In any thread.

        What the cluster has said against the topic before is raised instead.
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
        """Nothing runs on the loop any more: fail all records, and take no more. In whichever thread tells of it."""
        self._failed = True
        self._client_core.health.loop_failed(error)
        self.buffer.refuse(error)
        for batch in list(self.buffer.incomplete):
            batch.fail(error)
        for result in list(self._end_with_loop):
            result.loop_failed()

    def end_with_loop(self, result: EndsWithLoop) -> None:
        """Have somebody told when the loop fails, until `ended`. In any thread."""
        self._end_with_loop[result] = None
        if self._failed:
            result.loop_failed()

    def ended(self, result: EndsWithLoop) -> None:
        """What somebody waited for on the loop has come."""
        self._end_with_loop.pop(result, None)

    def health(self) -> Health:
        """How the producer is. In any thread."""
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
        """Wait until all of these batches are delivered or have failed, and call `then` in that moment."""
        await self._running().settled(batches, then)

    def send_now(self) -> None:
        """Send what has come without waiting for the loop's next turn, as somebody is about to wait for it."""
        if not self.config.producer.linger_ms:
            self.buffer.on_dirty()

    def now_ms(self) -> int:
        """The wall clock, for records that come without a timestamp."""
        return self._now_ns() // 1_000_000

    def random_partition(self, topic: str) -> int:
        """Any partition of a topic that is known."""
        return self._rng.randrange(self.buffer.partition_count(topic))

    async def flush(self, timeout_s: float | None = None, in_callback: bool = False) -> None:
        """Send all there is, and wait until it is delivered or has failed and its callbacks have run.

        Arguments:
            timeout_s: longest wait; None: as long as deliveries take, and `delivery_timeout_ms` for the callbacks.
            in_callback: whether a callback calls, which cannot wait for itself: no callback is waited for.

        Raises `KafkaTimeoutError` when the time is up, and else the first failure since the last flush of a batch whose
        futures nobody holds or has looked at, with the number of all.
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
        waiting.clear()  # whoever holds a batch is taken for somebody who looks at its outcome
        if not in_callback and not await self._callbacks_have_run(deadline):
            raise KafkaTimeoutError(
                "flush: every record is acknowledged or has failed, but callbacks are still running"
                + ("" if timeout_s is None else f" after {timeout_s:g} seconds")
            )
        self._statistics.called("flush", self._loop.time() - began)
        outcomes.failures.raise_unseen()

    async def purge(self, in_queue: bool, in_flight: bool) -> int:
        """Fail what is not acknowledged, see `KafkaProducer.purge`; returns the number of records."""
        return purge(self.buffer, self._running(), in_queue, in_flight)

    async def close(
        self, timeout_s: float | None = None, in_callback: bool = False, reason: str = "the producer is closed"
    ) -> None:
        """Send what there is, for as long as `timeout_s` allows (None: as long as it takes), and end everything.

        Arguments:
            in_callback: as of `flush`.
            reason: what those are told who send more.

        What was not delivered by then fails with `KafkaTimeoutError`. Callbacks that have not run by then run later.
        Does nothing the second time but wait.
        """
        deadline = None if timeout_s is None else self._loop.time() + timeout_s
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(timeout_s, reason))
        await asyncio.shield(self._closing)
        self._callbacks_are_late = not in_callback and not await self._callbacks_have_run(deadline)
        if self._callbacks_are_late:
            log.warning("the producer is closed, but callbacks are still running")

    def raise_failures(self) -> None:
        """Raise what `flush` would have raised before `close`, which has ended by now. In any thread.

        Does nothing where the producer is not closed: in a forked child, where it is the parent's.
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
        """Wait for the callbacks of all that is delivered or has failed; False if the time is up first."""
        if deadline is None:
            deadline = self._loop.time() + self.config.producer.delivery_timeout_ms / 1000
        try:
            async with asyncio.timeout_at(deadline):
                await self.callbacks.idle()
        except TimeoutError:
            return self.callbacks.is_idle  # where there was no time to wait, nothing may be left all the same
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
                self.callbacks.submit(serializer.close)  # the user's code: it may sleep, and may raise anything
        if self.interceptors is not None:
            self.callbacks.submit(self.interceptors.close)
        await self._client_core.close(None if deadline is None else deadline - self._loop.time())
        self.metrics.close()
        self.callbacks.finish()

    @property
    def is_idempotent(self) -> bool:
        """Whether batches are numbered; False once the cluster has turned out not to allow it."""
        if self._idempotence is None:
            return is_idempotent(self.config.connection, self.config.producer)
        return self._idempotence.state is not IdempotenceState.OFF

    @property
    def is_closed(self) -> bool:
        """Whether it is closed, or being closed."""
        return self._closing is not None

    @property
    def loop_is_closed(self) -> bool:
        """Whether nothing can be sent any more, as the event loop is closed."""
        return self._loop.is_closed()

    def unsent(self) -> int:
        """The number of records that are neither delivered nor have failed."""
        return sum(batch.count for batch in list(self.buffer.incomplete))

    def _in_flight(self) -> int:
        return 0 if self._sender is None else self._sender.in_flight()

    def _metadata_age_s(self, now: float) -> float:
        return now - self.cluster.metadata_renewed_at

    @property
    def transactions(self) -> TransactionManager:
        """The producer's transactions; raises `IllegalStateError` if it has none."""
        if self._transactions is None:
            raise IllegalStateError("transactions need the option 'transactional_id', which this producer has not")
        return self._transactions

    def _running(self) -> BatchResults:
        if self._outcomes is None:
            raise IllegalStateError("the producer is not started")
        return self._outcomes

    def _idempotence_changed(self) -> None:
        if self._sender is not None:
            self._sender.reconsider()

    async def _usable_magic(self) -> int:
        """The newest format of batches that the cluster takes, as far as one of its brokers tells."""
        try:
            connection = await self.cluster.any_connection()
        except KafkaError:  # it was there a moment ago; what is sent is made older later, if it has to be
            return 2
        version = connection.api_versions.pick(ProduceRequest, 0, None)
        return 2 if version is None else magic_for(version)


def _closed_before(why: Exception | None) -> KafkaTimeoutError:
    """The error of a record for which `close` has no more time.

    Arguments:
        why: what kept it from being acknowledged.
    """
    error = KafkaTimeoutError(
        "the producer was closed before the record was acknowledged" + ("" if why is None else f": {why}")
    )
    error.__cause__ = why
    return error
