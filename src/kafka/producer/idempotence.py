"""The producer's id, and the epochs and sequence numbers under which batches are sent (KIP-98, KIP-360).

With transactions, id and epoch are the transaction coordinator's, and the same for all partitions
(`kafka.producer.transactions`). Without, the id comes from the cluster, and epoch and sequence belong to a partition:
when its broker has lost track, that partition alone begins a new epoch, numbered from 0, once nothing of it is in the
network. Whatever was in doubt by then cannot be in the log: the broker would have accepted the first of the batches, or
called it a duplicate.
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
    """Whether batches get sequence numbers: wherever nothing that was asked for speaks against it."""
    if options.enable_idempotence is not None:
        return options.enable_idempotence
    if connection.api_version is not None and connection.api_version < FIRST_WITH_IDEMPOTENCE:
        return False
    in_flight = connection.max_in_flight_requests_per_connection
    return options.acks == -1 and options.retries > 0 and in_flight <= MOST_IN_FLIGHT


class IdempotenceState(enum.Enum):
    """Whether batches may be sent, and how."""

    OFF = "batches are sent without an id"
    WANTED = "an id is being asked for; nothing is sent until it is there"
    READY = "there is an id"
    REFUSED = "there will be no id, and the user wants none but idempotent sending"


class Idempotence:
    """The id of one producer.

    Arguments:
        cluster: who gives ids.
        enabled: whether batches are sent with an id at all.
        required: whether the user has asked for it; if not, the producer goes on without where it gets none.
        transactional: whether id and epoch are given by `grant` instead of being asked for.
        backoff: pauses between attempts to get an id.
        on_change: called, on the loop, when batches may be sent again, or never will be.
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
        self.state = IdempotenceState.WANTED if enabled else IdempotenceState.OFF
        self.required = required
        self.transactional = transactional
        self.producer_id = -1
        self.producer_epoch = -1
        """Of all partitions, with transactions; else each has its own."""
        self.may_write: Callable[[TopicPartition], bool] = _any
        """Whether a partition may be written to now; asked when it has something to send."""
        self.error: KafkaError | None = None
        self._cluster = cluster
        self._retries = RetryPolicy(backoff, log, quiet=2)
        self._on_change = on_change
        self._asking: asyncio.Task[None] | None = None

    @property
    def may_send(self) -> bool:
        """Whether batches may be sent at the moment."""
        return self.state in (IdempotenceState.READY, IdempotenceState.OFF)

    def ask(self) -> None:
        """Begin to ask for an id, if one is wanted and nobody asks yet. On the loop."""
        if self.transactional:
            return
        if self.state is IdempotenceState.WANTED and (self._asking is None or self._asking.done()):
            self._asking = asyncio.get_running_loop().create_task(self._ask())

    def stop(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()

    def number(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """Give a batch that is sent for the first time its place in the order, and its sequence numbers."""
        batch.order = (queue.next_order,)
        queue.next_order += 1
        if self.transactional:
            if (queue.producer_id, queue.producer_epoch) != (self.producer_id, self.producer_epoch):
                self._begin(queue, self.producer_epoch)  # nothing of an earlier transaction is left
        elif queue.producer_id != self.producer_id and not queue.retries and not queue.in_network:
            self._begin(queue, 0)
        if queue.producer_id >= 0:
            self._sequence(queue, batch)

    def grant(self, producer_id: int, producer_epoch: int) -> None:
        """The transaction coordinator has given an id and an epoch."""
        self.producer_id, self.producer_epoch = producer_id, producer_epoch
        self.state = IdempotenceState.READY

    def refuse(self, error: KafkaError) -> None:
        """Nothing may be sent any more."""
        self.state, self.error = IdempotenceState.REFUSED, error

    def renumber(self, queue: PartitionQueue) -> bool:
        """Begin a new epoch for a partition and renumber what it has to send again; nothing may be in the network.

        False if that has to wait for another id.
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
                batch.data = bytearray(batch.data)  # what was sent before may still lie in a connection
                set_producer_state(batch.data, batch.producer_id, batch.producer_epoch, batch.base_sequence)
        return True

    def start_over(self, queue: PartitionQueue, batches: Sequence[ProducerBatch]) -> None:
        """A partition belongs to another topic now, which has nothing of this producer.

        No pair of epoch and sequence number is used twice, as brokers may disagree for a while on which topic it is. So
        the partition begins a new epoch. With transactions the epoch is the coordinator's, and the numbers go on: the
        first one that a broker sees of a producer counts as its beginning.

        Arguments:
            queue: of the partition; nothing of it is in the network.
            batches: what was sent and is not in the new topic. It is numbered anew when it is sent.
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
        """Have batches that were sent be numbered anew when they are sent again, behind what is sent before them."""
        for batch in batches:
            batch.order = ()
            batch.attempts = 0
            batch.doubts = frozenset()
            batch.producer_id = batch.producer_epoch = batch.base_sequence = -1
            if batch.data is not None and magic_of(batch.data) == 2:
                batch.data = bytearray(batch.data)  # what was sent before may still lie in a connection
                set_producer_state(batch.data, -1, -1, -1)

    def renew(self, old: int) -> None:
        """Get another id in place of one that is no longer good."""
        if self.state is IdempotenceState.READY and self.producer_id == old:
            log.warning("producer id %d is no longer good; asking for another one", old)
            self.state = IdempotenceState.WANTED
            self.producer_id = -1
            self.ask()

    def step_down(self, error: KafkaError) -> None:
        """Go on without an id, with one warning; or give up if the user asked for idempotence."""
        if self.state in (IdempotenceState.OFF, IdempotenceState.REFUSED):
            return
        self.producer_id = -1
        if self.required:
            self.state = IdempotenceState.REFUSED
            self.error = error
        else:
            self.state = IdempotenceState.OFF
            log.warning(
                "sending without idempotence, so that a retry may write a record twice: the cluster gives no producer "
                "id (%s); enable_idempotence=False says that this is wanted",
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
        queue.next_sequence = (queue.next_sequence + batch.count) % _SEQUENCES

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


def _any(partition: TopicPartition) -> bool:
    """Without transactions every partition may be written to."""
    return True
