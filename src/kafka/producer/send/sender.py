"""The sender: takes batches out of the queues and sends them to the partitions' leaders.

Everything here runs on the producer's loop. `pump` is the only place that starts anything. It is called for new
records, responses, new metadata and timers, and may be called at any time. A queue whose batches cannot be sent yet is
either on the schedule, or waits for an event that calls `pump`.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Coroutine, Iterable, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from kafka.cluster.backoff import Backoff
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import BrokerConnection, BrokerConnections
from kafka.cluster.retry import RetryPolicy, nothing
from kafka.errors import KafkaError, LeaderNotAvailableError
from kafka.net.own_loop import clock_of
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.appending.topic_lookup import TopicLookup
from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.idempotence import Idempotence, IdempotenceState
from kafka.producer.producer_statistics import ProducerStatistics
from kafka.producer.send.batch_results import BatchResults
from kafka.producer.send.outgoing_batches import BatchCompressor, Expiry, OutgoingBatches, Request, RequestCollector
from kafka.producer.send.produce_requests import Answer, ProduceRequests
from kafka.producer.send.recreated_topics import PartitionChoice, RecreatedTopics
from kafka.producer.send.schedule import BrokerQueue, PartitionAvailability, Readiness, Schedule, SenderOptions
from kafka.record import BatchBuilder
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

_BATCH = itemgetter(1)


class Sender:
    """Sends the batches of one buffer.

    Arguments:
        buffer: the unsent records.
        cluster: provides metadata and connections.
        idempotence: the producer's id.
        outcomes: receives the results of batches.
        produce: builds requests from batches and awaits the responses.
        compressor: compresses batches without blocking the loop.
        statistics: counts requests and their contents.
        options: limits and times.
        backoff: pauses before another attempt.
        topics: is notified of new metadata.
        choice: chooses partitions of topics that were recreated.
    """

    def __init__(
        self,
        buffer: RecordBuffer,
        cluster: BrokerConnections,
        idempotence: Idempotence,
        outcomes: BatchResults,
        produce: ProduceRequests,
        compressor: BatchCompressor,
        statistics: ProducerStatistics,
        options: SenderOptions,
        backoff: Backoff,
        topics: TopicLookup,
        choice: PartitionChoice,
    ) -> None:
        self._buffer = buffer
        self._topics = topics
        self._cluster = cluster
        self._idempotence = idempotence
        self._outcomes = outcomes
        self._produce = produce
        self._compressor = compressor
        self._statistics = statistics
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._now = clock_of(self._loop)
        self._brokers: dict[int, BrokerQueue] = {}
        self._schedule = Schedule(self._loop, self.pump)
        self._readiness = Readiness(buffer, idempotence, options)
        self._outgoing = OutgoingBatches(buffer)
        self._collector = RequestCollector(
            self._outgoing, idempotence, outcomes, produce, self._readiness, options.max_request_size, self._consider
        )
        self._expiry = Expiry(buffer, outcomes, self._schedule, options.delivery_timeout, self._why_not_sent)
        self._availability = PartitionAvailability(buffer, self._leader_of, options.availability_timeout)
        self._recreated = RecreatedTopics(buffer, outcomes, idempotence, choice, self._brokers, self._spawn, self.pump)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = False
        self._pumping = False
        buffer.on_dirty = self.pump
        buffer.why_not_sent = self._why_not_sent
        self._retries = RetryPolicy(backoff, log, quiet=1)
        self._pumps = RetryPolicy(backoff, log, fatal=nothing).attempts("sending what is ready")
        self._unsubscribe = cluster.on_metadata(self._metadata_changed)

    def pump(self) -> None:
        """Process everything that may have changed, and send what can be sent."""
        if self._stopped:
            return
        if self._pumping:  # a connection was lost during a write, and its requests have failed
            self._loop.call_soon(self.pump)
            return
        self._pumping = True
        try:
            self._pump(self._now())
        except Exception as error:
            self._loop.call_later(self._pumps.note(error), self.reconsider)
        else:
            if self._pumps.failures:
                self._pumps.succeeded()
        finally:
            self._pumping = False

    def _pump(self, now: float) -> None:
        if self._buffer.recreated:
            self._recreated.look()
        for queue in self._buffer.take_dirty():
            self._consider(queue, now)
        if self._schedule.next_at <= now:
            for queue in self._schedule.take(now):
                self._consider(queue, now)
        if self._expiry.due_at <= now:
            self._expiry.fail_expired(now)
        if self._idempotence.may_send:
            for broker in list(self._brokers.values()):
                if broker.ready:
                    self._serve(broker, now)
            if self._availability.is_on:
                self._availability.look(self._brokers.values(), now)
        elif self._idempotence.state is IdempotenceState.REFUSED:
            self._refuse_everything()
        else:
            self._idempotence.ask()
        if self._schedule.next_at < self._schedule.timer_at:
            self._schedule.set_timer()

    def reconsider(self) -> None:
        """Check every queue, because something has changed that may affect all of them."""
        if self._stopped:
            return
        now = self._loop.time()
        for queue in self._buffer.queues():
            self._consider(queue, now)
        self.pump()

    async def stop(self) -> None:
        """Stop sending, without waiting for responses."""
        self._stopped = True
        self._unsubscribe()
        self._schedule.stop()
        self._idempotence.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def in_flight(self) -> int:
        """Return the number of requests in flight."""
        return sum(broker.in_flight for broker in self._brokers.values())

    # Assigning queues to brokers

    def _consider(self, queue: PartitionQueue, now: float) -> None:
        """Put a queue where it now belongs: into its leader's ready queues, on the schedule, or nowhere."""
        when = self._readiness.sendable_at(queue, now)
        if when > now:
            if when < math.inf:
                self._schedule.add(when, queue)
            return
        leader = self._cluster.metadata.leader_for_partition(queue.topic_partition)
        if leader is None:
            self._cluster.request_refresh([queue.topic_partition.topic])
            self._schedule.add(now + self._retries.pause_s(1), queue)
            return
        broker = self._brokers.get(leader)
        if broker is None:
            broker = self._brokers[leader] = BrokerQueue(
                leader, self._retries.attempts(f"connecting to broker {leader} to produce")
            )
        broker.ready[queue] = None

    def _leader_of(self, partition: TopicPartition) -> int | None:
        return self._cluster.metadata.leader_for_partition(partition)

    def _metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Handle new metadata: leaders may have changed, so assign every partition to its broker again."""
        self._topics.refresh(self._loop.time())
        for broker in self._brokers.values():
            broker.ready.clear()
        self.reconsider()

    def _why_not_sent(self, queue: PartitionQueue) -> Exception | None:
        """Return the error that prevents the batches of a queue from being sent. Any thread may call this."""
        if not self._idempotence.may_send and self._idempotence.error is not None:
            return self._idempotence.error
        moving = self._recreated.obstacle(queue.topic_partition.topic)
        if moving is not None:
            return moving
        metadata = self._cluster.metadata
        leader = metadata.leader_for_partition(queue.topic_partition)
        if leader is None:
            return metadata.topic_errors.get(queue.topic_partition.topic, LeaderNotAvailableError)()
        broker = self._brokers.get(leader)
        return broker.attempts.last if broker is not None else None

    # Sending

    def _serve(self, broker: BrokerQueue, now: float) -> None:
        """Send the ready batches of a broker, if there is a connection with room for requests."""
        if now < broker.blocked_until:
            self._schedule.add(broker.blocked_until, None)
            return
        connection = broker.connection
        if connection is None or connection.closed or broker.metadata is not self._cluster.metadata:
            connection = self._cluster.ready_connection(broker.node_id)
            if connection is None:
                if broker.connecting is None:
                    broker.connecting = self._spawn(self._connect(broker))
                return
            broker.connection, broker.metadata = connection, self._cluster.metadata
            broker.magic = self._produce.magic_of_broker(connection)
        while broker.compressing is None and broker.ready and broker.in_flight < self._options.max_in_flight:
            builders = self._compressor.long_work(broker.ready) if self._compressor.is_slow else None
            if builders:
                broker.compressing_for = frozenset(broker.ready)
                broker.compressing = self._spawn(self._compress(broker, builders))
                return
            request = self._collector.collect(broker, now)
            if request:
                self._send(broker, connection, request, now)

    async def _compress(self, broker: BrokerQueue, builders: list[BatchBuilder]) -> None:
        """Compress the next batches of a broker without blocking the loop."""
        try:
            await self._compressor.compress(builders)
        except Exception:  # the error is raised again when the batch is encoded, which then fails
            log.exception("compressing for broker %d", broker.node_id)
        finally:
            broker.compressing, broker.compressing_for = None, frozenset()
        self.pump()

    def _send(self, broker: BrokerQueue, connection: BrokerConnection, request: Request, now: float) -> None:
        """Send one request; its result is applied as soon as the response is read."""
        broker.in_flight += 1
        if self._availability.is_on:
            self._availability.sent(broker)
        settle = partial(self._settle, broker, request)
        batches = list(map(_BATCH, request))
        self._statistics.sent(batches, now)
        try:
            self._produce.post(connection, batches, settle)
        except KafkaError as error:
            # Deferred, because the caller iterates over brokers. The traceback would keep the batches alive.
            self._loop.call_soon(settle, None, error.with_traceback(None), 0)
        except Exception as error:
            log.exception("sending to broker %d", broker.node_id)
            self._loop.call_soon(settle, None, error.with_traceback(None), 0)

    def _settle(
        self,
        broker: BrokerQueue,
        request: Request,
        answers: Mapping[TopicPartition, Answer] | None,
        error: Exception | None,
        throttle_ms: int,
    ) -> None:
        """Apply the result of a request."""
        if self._stopped:
            return
        broker.in_flight -= 1
        now = self._now()
        if throttle_ms > 0:  # KIP-219: the broker responds at once and expects no request during this time
            broker.blocked_until = max(broker.blocked_until, now + throttle_ms / 1000)
        if answers is not None:
            self._statistics.answered(max(throttle_ms, 0), now)
        for queue, batch in request:
            try:
                if answers is not None:
                    self._outcomes.answered(queue, batch, answers[batch.topic_partition])
                elif isinstance(error, KafkaError):
                    self._outcomes.unanswered(queue, batch, error)
                else:
                    self._outcomes.fail(queue, batch, KafkaError(f"sending failed unexpectedly: {error!r}"))
            except Exception as failure:
                log.exception("applying the result of a batch for %s", batch.name)
                self._outcomes.fail(queue, batch, KafkaError(f"the answer could not be applied: {failure!r}"))
            if queue.open is not None or queue.closed or queue.retries:
                self._consider(queue, now)
        buffer = self._buffer
        if buffer.incomplete or buffer.recreated or self._availability.is_on or self._schedule.next_at <= now:
            self.pump()  # otherwise, it would find nothing to do, because every record is delivered

    async def _connect(self, broker: BrokerQueue) -> None:
        """Connect to a broker; its records wait until the connection is established."""
        try:
            await self._cluster.connection(broker.node_id)
        except Exception as error:
            self._not_connected(broker, error)
        else:
            broker.attempts.succeeded()
        finally:
            broker.connecting = None
        self.pump()

    def _not_connected(self, broker: BrokerQueue, error: Exception) -> None:
        """Schedule the next connection attempt; if the broker refuses the client, fail its waiting records."""
        try:
            pause = broker.attempts.note(error)
            self._cluster.request_refresh()
        except KafkaError as refusal:
            pause = self._retries.pause_s(1)
            self._fail_waiting(list(broker.ready), refusal)
            broker.ready.clear()
        broker.blocked_until = self._loop.time() + pause

    def _fail_waiting(self, queues: Iterable[PartitionQueue], error: KafkaError) -> None:
        for queue in queues:
            for batch in self._outgoing.take_expired(queue, math.inf):
                self._outcomes.fail(queue, batch, error)

    def _refuse_everything(self) -> None:
        """Fail all records and accept no more, because the cluster refused the producer an id."""
        error = self._idempotence.error or KafkaError("the cluster gives no producer id")
        self._buffer.refuse(error)
        self._fail_waiting(list(self._buffer.queues()), error)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
