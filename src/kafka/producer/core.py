"""The producer on its event loop: what the synchronous and the asyncio face have in common."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from kafka.cluster import Backoff, ClusterClient
from kafka.config import ConnectionOptions, ProducerConfig, ProducerOptions
from kafka.errors import IllegalArgumentError, IllegalStateError, KafkaConfigurationError, KafkaError, KafkaTimeoutError
from kafka.metrics import Metrics
from kafka.partitioner.adapt import adapt_partitioner
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.record_buffer import BufferOptions, RecordBuffer
from kafka.producer.idempotence import Idempotence
from kafka.producer.intake.appender import RecordAppender
from kafka.producer.intake.checks import checked_topic
from kafka.producer.outcome.outcomes import Outcomes
from kafka.producer.ports import Cluster
from kafka.producer.send.compression import BatchCompressor
from kafka.producer.send.produce_requests import ProduceRequests, magic_for
from kafka.producer.send.sender import Sender, SenderOptions
from kafka.producer.statistics import ProducerStatistics
from kafka.record import Compression
from kafka.serializer import adapt_serializer
from kafka.wire.api.produce import ProduceRequest

_MOST_IN_FLIGHT_IN_ORDER = 5
"""Batches of a producer that a broker remembers of a partition."""


class ProducerCore:
    """One producer. Made in any thread; `start` and the other coroutines run on the loop.

    Arguments:
        config: all options.
        loop: the event loop that everything runs on.
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
        cluster: Cluster | None = None,
        now_ns: Callable[[], int] = time.time_ns,
        rng: random.Random | None = None,
    ) -> None:
        options = config.producer
        if options.transactional_id is not None:
            raise KafkaConfigurationError(
                f"option 'transactional_id' ({options.transactional_id!r}): transactions are not supported yet; "
                "leave it out to send without them"
            )
        self.config = config
        self.metrics = Metrics(config.connection.metrics_enabled)
        self.cluster: Cluster = cluster or ClusterClient(config.connection, config.security)
        self._loop = loop
        self._now_ns = now_ns
        self._rng = rng or random.Random()
        self._serializers = (adapt_serializer(options.key_serializer), adapt_serializer(options.value_serializer))
        compression = Compression[(options.compression_type or "none").upper()]
        self.buffer = RecordBuffer(
            BufferOptions(options.batch_size, options.buffer_memory, compression, options.compression_level),
            loop,
            self._rng,
        )
        self.appender = RecordAppender(
            self.buffer,
            *self._serializers,
            adapt_partitioner(options.partitioner),
            lambda: self.cluster.metadata,
            min(options.max_request_size, options.buffer_memory),
            now_ns,
        )
        self.max_block_s = options.max_block_ms / 1000
        self._topics: set[str] = set()
        self._sender: Sender | None = None
        self._outcomes: Outcomes | None = None
        self._closing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Find the cluster, and begin to send what comes.

        Raises `NoBrokersAvailable` and the like, see `ClusterClient.start`.
        """
        await self.cluster.start()
        connection, options = self.config.connection, self.config.producer
        self.buffer.magic = await self._usable_magic()
        backoff = Backoff(connection.retry_backoff_ms, connection.retry_backoff_max_ms)
        statistics = ProducerStatistics(self.metrics, self._loop.time)
        idempotence = Idempotence(
            self.cluster,
            enabled=_is_idempotent(connection, options),
            required=options.enable_idempotence is True,
            backoff=backoff,
            on_change=self._idempotence_changed,
        )
        self._outcomes = Outcomes(
            self.buffer,
            self.cluster,
            idempotence,
            statistics,
            backoff,
            retries=options.retries,
            delivery_timeout=options.delivery_timeout_ms / 1000,
        )
        self._sender = Sender(
            self.buffer,
            self.cluster,
            idempotence,
            self._outcomes,
            ProduceRequests(self.cluster, options.acks, connection.request_timeout_ms, self.buffer.options.compression),
            BatchCompressor(self.buffer),
            statistics,
            _sender_options(connection, options),
            backoff,
        )
        self._add_gauges(self._sender)
        idempotence.ask()

    async def find_topic(self, topic: str, partition: int | None = None) -> int:
        """Wait until a topic is known, and a partition of it if one is named; returns the number of partitions.

        Raises `KafkaTimeoutError` after `max_block_ms`, `IllegalArgumentError` for a partition that the topic does not
        have, and what the cluster says against the topic: `TopicAuthorizationFailedError`, `InvalidTopicError`.
        """
        checked_topic(topic)
        if self.buffer.refusal is not None:
            raise self.buffer.refusal
        self._topics.add(topic)
        self.cluster.watch_topics(self._topics)
        last: KafkaError | None = None
        try:
            async with asyncio.timeout(self.max_block_s):
                count = self._learn(topic)
                while count is None or (partition is not None and partition >= count):
                    last = await self._look_up(topic, last)
                    count = self._learn(topic)
                    if count is not None and partition is not None and partition >= count:
                        raise IllegalArgumentError(
                            f"topic {topic!r} has partitions 0 to {count - 1}, but partition is {partition}"
                        )
        except TimeoutError:
            raise KafkaTimeoutError(
                f"no metadata of topic {topic!r} within max_block_ms ({self.max_block_s * 1000:g})"
                + (f"; the cluster's last answer: {last}" if last is not None else "")
            ) from last
        return count

    async def acquire(self, amount: int) -> None:
        """Wait for memory, on the loop, and reserve it. Raises `KafkaTimeoutError` after `max_block_ms`."""
        memory = self.buffer.memory
        self.buffer.wake()
        try:
            async with asyncio.timeout(self.max_block_s):
                while True:
                    with self.buffer.lock:
                        if self.buffer.refusal is not None:
                            raise self.buffer.refusal
                        if memory.reserve(amount):
                            return
                        self.buffer.end_lingering()
                        waiter = memory.waiter()
                    self.buffer.wake()
                    await waiter
        except TimeoutError:
            raise self.no_memory(amount) from None

    def acquire_blocking(self, amount: int) -> None:
        """Wait for memory, in a thread that may block, and reserve it. Raises as `acquire`."""
        if self.buffer.on_own_loop():
            raise KafkaTimeoutError(
                "buffer_memory is used up, and a callback cannot wait for it on the loop that frees it; send from "
                "another thread"
            )
        with self.buffer.lock:
            self.buffer.end_lingering()
        self.buffer.wake()
        if not self.buffer.memory.block(amount, self.max_block_s, lambda: self.buffer.refusal is not None):
            raise self.buffer.refusal or self.no_memory(amount)

    async def settle(self, batches: Sequence[ProducerBatch]) -> None:
        """Wait until all of these batches are delivered or have failed."""
        await self._running().settled(batches)

    def send_now(self) -> None:
        """Send what has come without waiting for the loop's next turn, as somebody is about to wait for it."""
        if not self.config.producer.linger_ms:
            self.buffer.on_dirty()

    def now_ms(self) -> int:
        """The wall clock, for records that come without a timestamp."""
        return self._now_ns() // 1_000_000

    def partition_count(self, topic: str) -> int:
        """The number of partitions of a topic that is known. Raises once the producer is closed."""
        found = self.buffer.topics.get(topic)
        if found is None:
            raise self.buffer.refusal or IllegalStateError(f"topic {topic!r} is not known yet")
        return found.count

    def random_partition(self, topic: str) -> int:
        """Any partition of a topic that is known."""
        return self._rng.randrange(self.partition_count(topic))

    def no_memory(self, amount: int) -> KafkaTimeoutError:
        """The error of a record that has waited for memory too long."""
        return KafkaTimeoutError(
            f"no {amount} bytes of buffer_memory ({self.buffer.memory.total}) became free within max_block_ms "
            f"({self.max_block_s * 1000:g}): records come faster than the brokers take them"
        )

    async def flush(self, timeout_s: float | None = None) -> None:
        """Send all there is, and wait until it is delivered or has failed.

        Raises `KafkaTimeoutError` when the time is up, and else the first failure since the last flush that nobody has
        looked at, with the number of all.
        """
        outcomes = self._running()
        self.buffer.close_open_batches()
        waiting = list(self.buffer.incomplete)
        try:
            async with asyncio.timeout(timeout_s):
                await outcomes.settled(waiting)
        except TimeoutError:
            left = sum(batch.count for batch in waiting if not batch.done)
            raise KafkaTimeoutError(
                f"flush: {left} record(s) not acknowledged within {timeout_s:g} seconds; they are still on their way"
            ) from None
        outcomes.failures.raise_unseen()

    async def close(self, timeout_s: float | None = None) -> None:
        """Send what there is, for as long as `timeout_s` allows (None: as long as it takes), and end everything.

        What was not delivered by then fails with `KafkaTimeoutError`. Does nothing the second time but wait.
        """
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(timeout_s))
        await asyncio.shield(self._closing)

    async def _close(self, timeout_s: float | None) -> None:
        self.buffer.refuse(IllegalStateError("the producer is closed"))
        outcomes, sender = self._outcomes, self._sender
        if outcomes is not None and sender is not None:
            try:
                async with asyncio.timeout(timeout_s):
                    await outcomes.settled(list(self.buffer.incomplete))
            except TimeoutError:
                pass
            await sender.stop()
            error = KafkaTimeoutError("the producer was closed before the record was acknowledged")
            for queue in list(self.buffer.queues()):
                left = [*queue.in_network, *self.buffer.take_expired(queue, float("inf"))]
                for batch in left:
                    outcomes.fail(queue, batch, error)
            outcomes.failures.log_unseen()
        await self.cluster.close()
        for serializer in self._serializers:
            if serializer is not None:
                serializer.close()

    def _running(self) -> Outcomes:
        if self._outcomes is None:
            raise IllegalStateError("the producer is not started")
        return self._outcomes

    def _idempotence_changed(self) -> None:
        if self._sender is not None:
            self._sender.reconsider()

    def _learn(self, topic: str) -> int | None:
        """Take over what the metadata say of a topic; None if they do not know it."""
        metadata = self.cluster.metadata
        partitions = metadata.partitions_for_topic(topic)
        if not partitions:
            return None
        available = sorted(metadata.available_partitions_for_topic(topic))
        self.buffer.learn_topic(topic, max(partitions) + 1, available)
        return max(partitions) + 1

    async def _look_up(self, topic: str, last: KafkaError | None) -> KafkaError | None:
        """Refresh the metadata of a topic; returns why it is not known. Raises what waiting cannot change."""
        try:
            metadata = await self.cluster.refresh_metadata([topic])
        except KafkaError as failure:
            if not failure.retriable:
                raise
            await asyncio.sleep(self.config.connection.retry_backoff_ms / 1000)
            return failure
        refused = metadata.topic_errors.get(topic)
        if refused is None:
            return last
        error = refused(f"topic {topic!r}: {refused.description}")
        if not refused.retriable:
            raise error
        return error

    async def _usable_magic(self) -> int:
        """The newest format of batches that the cluster takes, as far as one of its brokers tells."""
        try:
            connection = await self.cluster.any_connection()
        except KafkaError:  # it was there a moment ago; what is sent is made older later, if it has to be
            return 2
        version = connection.api_versions.pick(ProduceRequest, 0, None)
        return 2 if version is None else magic_for(version)

    def _add_gauges(self, sender: Sender) -> None:
        memory = self.buffer.memory
        for name, read in (
            ("requests-in-flight", sender.in_flight),
            ("buffer-available-bytes", lambda: memory.free),
            ("buffer-total-bytes", lambda: memory.total),
            ("incomplete-batches", lambda: len(self.buffer.incomplete)),
        ):
            self.metrics.gauge("producer-metrics", name, read)


def _is_idempotent(connection: ConnectionOptions, options: ProducerOptions) -> bool:
    """Whether batches get sequence numbers: wherever nothing that was asked for speaks against it."""
    if options.enable_idempotence is not None:
        return options.enable_idempotence
    in_flight = connection.max_in_flight_requests_per_connection
    return options.acks == -1 and options.retries > 0 and in_flight <= _MOST_IN_FLIGHT_IN_ORDER


def _sender_options(connection: ConnectionOptions, options: ProducerOptions) -> SenderOptions:
    return SenderOptions(
        linger=options.linger_ms / 1000,
        delivery_timeout=options.delivery_timeout_ms / 1000,
        max_in_flight=connection.max_in_flight_requests_per_connection,
        max_request_size=options.max_request_size,
    )
