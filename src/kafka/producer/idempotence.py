"""The producer's id, and the epochs and sequence numbers of its batches (KIP-98, KIP-360).

With transactions, id and epoch come from the transaction coordinator and are the same for all partitions
(`kafka.producer.transactions`). Without them, the id comes from the cluster, and each partition has its own epoch and
sequence: if its broker has lost the producer's state, only that partition starts a new epoch, numbered from 0, once
none of its batches are in flight. By then, batches with an unknown outcome cannot be in the log: the broker would have
accepted the first of them, or rejected it as a duplicate.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable, Iterable, Sequence

from kafka.cluster.backoff import Backoff
from kafka.cluster.protocols import BrokerRequests
from kafka.cluster.retry import RetryPolicy
from kafka.config import ConnectionOptions, ProducerOptions
from kafka.config.producer import FIRST_WITH_IDEMPOTENCE, MOST_IN_FLIGHT
from kafka.errors import ClusterAuthorizationFailedError, KafkaError, UnsupportedVersionError, for_code
from kafka.producer.batch.producer_batch import ProducerBatch, magic_of
from kafka.producer.batch.queues import PartitionQueue
from kafka.record import set_producer_state
from kafka.structs import TopicPartition
from kafka.wire.api.init_producer_id import InitProducerIdRequest

log = logging.getLogger(__name__)

_LAST_EPOCH = 2**15 - 1
_SEQUENCES = 2**31
_NO_TIMEOUT_MS = 2**31 - 1


def is_idempotent(connection: ConnectionOptions, options: ProducerOptions) -> bool:
    """Return whether batches get sequence numbers, which is the case unless an option prevents it."""
    if options.enable_idempotence is not None:
        return options.enable_idempotence
    if connection.api_version is not None and connection.api_version < FIRST_WITH_IDEMPOTENCE:
        return False
    in_flight = connection.max_in_flight_requests_per_connection
    return options.acks == -1 and options.retries > 0 and in_flight <= MOST_IN_FLIGHT


class IdempotenceState(enum.Enum):
    """The state of the producer id: whether batches may be sent, and how."""

    OFF = "batches are sent without an id"
    WANTED = "an id is being requested; nothing is sent until it arrives"
    READY = "there is an id"
    REFUSED = "the cluster refused an id, and the user requires idempotence"


class Idempotence:
    """The producer id of one producer.

    Arguments:
        cluster: the cluster that assigns ids.
        enabled: whether batches are sent with an id.
        required: whether the user has requested idempotence; if not, the producer continues without an id if the
            cluster does not assign one.
        transactional: whether `grant` provides the id and epoch, instead of requests made by this object.
        backoff: pauses between attempts to get an id.
        on_change: called on the loop when batches may be sent again, or can never be sent.
    """

    def __init__(
        self,
        cluster: BrokerRequests,
        *,
        enabled: bool,
        required: bool,
        transactional: bool = False,
        backoff: Backoff,
        on_change: Callable[[], None],
    ) -> None:
        self.may_send = not enabled
        """Whether batches may be sent now; follows `state`."""
        self.state = IdempotenceState.WANTED if enabled else IdempotenceState.OFF
        self.required = required
        self.transactional = transactional
        self.producer_id = -1
        self.producer_epoch = -1
        """The epoch of all partitions with transactions; otherwise, each partition has its own."""
        self.may_write: Callable[[TopicPartition], bool] | None = None
        """Returns whether a partition may be written to now; called when there are batches to send to it. None without
        transactions: any partition may be written to.
        """
        self.error: KafkaError | None = None
        self._cluster = cluster
        self._retries = RetryPolicy(backoff, log, quiet=2)
        self._on_change = on_change
        self._asking: asyncio.Task[None] | None = None

    @property
    def state(self) -> IdempotenceState:
        """The state of the id."""
        return self._state

    @state.setter
    def state(self, state: IdempotenceState) -> None:
        self._state = state
        self.may_send = state in (IdempotenceState.READY, IdempotenceState.OFF)

    def ask(self) -> None:
        """Start requesting an id if one is needed and no request is under way. Runs on the loop."""
        if self.transactional:
            return
        if self.state is IdempotenceState.WANTED and (self._asking is None or self._asking.done()):
            self._asking = asyncio.get_running_loop().create_task(self._ask())

    def stop(self) -> None:
        """Stop requesting an id."""
        if self._asking is not None:
            self._asking.cancel()

    def number(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """Assign an order and sequence numbers to a batch that is sent for the first time."""
        batch.order = (queue.next_order,)
        queue.next_order += 1
        if self.transactional:
            if (queue.producer_id, queue.producer_epoch) != (self.producer_id, self.producer_epoch):
                self._begin(queue, self.producer_epoch)  # no batch of an earlier transaction remains
        elif queue.producer_id != self.producer_id and not queue.retries and not queue.in_network:
            self._begin(queue, 0)
        if queue.producer_id >= 0:
            self._sequence(queue, batch)

    def grant(self, producer_id: int, producer_epoch: int) -> None:
        """Use the id and epoch that the transaction coordinator returned."""
        self.producer_id, self.producer_epoch = producer_id, producer_epoch
        self.state = IdempotenceState.READY

    def refuse(self, error: KafkaError) -> None:
        """Stop all sending because of an error."""
        self.state, self.error = IdempotenceState.REFUSED, error

    def renumber(self, queue: PartitionQueue) -> bool:
        """Start a new epoch for a partition and renumber its retries. No batch for the partition may be in flight.

        Returns False if the partition must wait for a new id.
        """
        if self.state is IdempotenceState.OFF:
            self._begin(queue, -1)
        elif queue.producer_id == self.producer_id and queue.producer_epoch >= _LAST_EPOCH:
            self.renew(queue.producer_id)
            return False
        elif not self.may_send:
            return False
        else:
            self._begin(queue, queue.producer_epoch + 1 if queue.producer_id == self.producer_id else 0)
        queue.renumber = False
        for batch in queue.retries:
            batch.doubts = frozenset()
            if queue.producer_id >= 0:
                self._sequence(queue, batch)
            else:
                batch.producer_id = batch.producer_epoch = batch.base_sequence = -1
            if batch.data is not None and magic_of(batch.data) == 2:
                batch.data = bytearray(batch.data)  # a connection may still be sending the old bytes
                set_producer_state(batch.data, batch.producer_id, batch.producer_epoch, batch.base_sequence)
        return True

    def start_over(self, queue: PartitionQueue, batches: Sequence[ProducerBatch]) -> None:
        """Renumber a partition whose topic was recreated: the new topic has no state for this producer.

        Brokers may disagree for a while on which topic exists, so no pair of epoch and sequence number may be used
        twice. Therefore the partition starts a new epoch. With transactions, the coordinator determines the epoch, and
        the numbers continue, because a broker accepts any number as a producer's first sequence number.

        Arguments:
            queue: the queue of the partition; none of its batches are in flight.
            batches: batches that were sent but are not in the new topic. They are renumbered when they are sent again.
        """
        numbers = [batch.base_sequence for batch in batches if batch.base_sequence >= 0]
        self.take_numbers(batches)
        queue.failures, queue.backoff_until = 0, 0.0
        if queue.producer_id < 0:
            return
        queue.proven = False
        if not self.transactional:
            queue.renumber = True
        elif numbers:
            queue.next_sequence = numbers[0]

    @staticmethod
    def take_numbers(batches: Iterable[ProducerBatch]) -> None:
        """Reset the sequence numbers of batches, so that they are renumbered when they are sent again."""
        for batch in batches:
            batch.order = ()
            batch.attempts = 0
            batch.doubts = frozenset()
            batch.producer_id = batch.producer_epoch = batch.base_sequence = -1
            if batch.data is not None and magic_of(batch.data) == 2:
                batch.data = bytearray(batch.data)  # a connection may still be sending the old bytes
                set_producer_state(batch.data, -1, -1, -1)

    def renew(self, old: int) -> None:
        """Request a new id to replace an invalid one."""
        if self.state is IdempotenceState.READY and self.producer_id == old:
            log.warning("producer id %d is no longer valid; requesting a new one", old)
            self.state = IdempotenceState.WANTED
            self.producer_id = -1
            self.ask()

    def step_down(self, error: KafkaError) -> None:
        """Continue without an id and log a single warning, or give up if the user requires idempotence."""
        if self.state in (IdempotenceState.OFF, IdempotenceState.REFUSED):
            return
        self.producer_id = -1
        if self.required:
            self.state = IdempotenceState.REFUSED
            self.error = error
        else:
            self.state = IdempotenceState.OFF
            log.warning(
                "sending without idempotence, so that a retry may write a record twice: the cluster refused a producer "
                "id (%s); set enable_idempotence=False to accept this",
                error,
            )

    def _begin(self, queue: PartitionQueue, epoch: int) -> None:
        queue.producer_id = self.producer_id
        queue.producer_epoch = epoch if self.producer_id >= 0 else -1
        queue.next_sequence = 0
        queue.proven = self.producer_id < 0

    @staticmethod
    def _sequence(queue: PartitionQueue, batch: ProducerBatch) -> None:
        batch.producer_id = queue.producer_id
        batch.producer_epoch = queue.producer_epoch
        batch.base_sequence = queue.next_sequence
        count = batch.records if batch.builder is None else batch.builder.count
        queue.next_sequence = (queue.next_sequence + count) % _SEQUENCES

    async def _ask(self) -> None:
        attempts = self._retries.attempts("asking for a producer id")
        while self.state is IdempotenceState.WANTED:
            try:
                await self._ask_once()
                attempts.succeeded()
            except (ClusterAuthorizationFailedError, UnsupportedVersionError) as error:
                self.step_down(error)
            except Exception as error:
                try:
                    await attempts.failed(error)
                except KafkaError as refusal:
                    self.state = IdempotenceState.REFUSED
                    self.error = refusal
        self._on_change()

    async def _ask_once(self) -> None:
        response = await self._cluster.send_any(
            InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=_NO_TIMEOUT_MS), max_version=5
        )
        if response.error_code:
            raise for_code(response.error_code)("asking for a producer id")
        self.producer_id = response.producer_id
        self.state = IdempotenceState.READY
