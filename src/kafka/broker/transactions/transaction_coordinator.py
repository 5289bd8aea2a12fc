"""The transaction coordinator: requests from transactional producers, timeouts, and recovery after a restart.

Counterpart: Kafka's TransactionCoordinator (KIP-98, KIP-360, KIP-890). Every change is on disk before it takes effect.
"""

import logging
from collections.abc import Callable, Collection
from typing import NamedTuple

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.clock import Clock, Timer
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups.group_coordinator import GroupCoordinator
from kafka.broker.log.batch_head import Marker
from kafka.broker.topic_store import CONSUMER_OFFSETS, TopicStore
from kafka.broker.transactions.transaction_metadata import (
    NOTHING,
    TopicPartition,
    TransactionJournal,
    TransactionMetadata,
    check_end,
    is_last_epoch,
)

log = logging.getLogger(__name__)

_E = ErrorCode
_RETRY_S = 1.0
"""Delay before retrying to write the markers of a transaction, in seconds."""
COORDINATOR_EPOCH = 0
"""The only coordinator epoch, as the coordinator never changes."""
_OVERTAKEN = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})


class MarkerWriter:
    """Completes prepared transactions: writes a marker to each partition, and commits or drops pending group offsets.

    `groups` returns the group coordinator, which is loaded only if a transaction contains offsets.
    """

    def __init__(self, topics: TopicStore, groups: Callable[[], GroupCoordinator], now_ms: Callable[[], int]) -> None:
        self._topics = topics
        self._groups = groups
        self._now_ms = now_ms
        self._left: dict[str, set[TopicPartition]] = {}
        """By transactional id: the partitions whose markers have not been written yet."""

    def write(self, metadata: TransactionMetadata) -> None:
        """Write the markers of a prepared transaction to all partitions that do not have them yet.

        Raises OSError or `RequestFailed` if some markers could not be written; call it again later.
        """
        left = self._left.setdefault(metadata.transactional_id, set(metadata.partitions))
        offsets = {number for topic, number in left if topic == CONSUMER_OFFSETS.name}
        failure: RequestFailed | None = None
        if offsets:
            self._groups().end_pending(metadata.producer_id, metadata.is_committing, offsets)
            left.difference_update((CONSUMER_OFFSETS.name, number) for number in offsets)
        for topic, number in sorted(left):
            try:
                self._mark(metadata, topic, number)
            except RequestFailed as error:
                failure = error
            else:
                left.discard((topic, number))
        if failure is not None:
            raise failure
        del self._left[metadata.transactional_id]

    def _mark(self, metadata: TransactionMetadata, topic: str, number: int) -> None:
        if topic not in self._topics or number >= self._topics.get(topic).partitions:
            return  # The topic was deleted along with the transaction's records in it, and may have been recreated.
        marker = Marker(metadata.is_committing, COORDINATOR_EPOCH)
        log = self._topics.get(topic).log(number)
        try:
            log.append_marker(metadata.producer_id, metadata.producer_epoch, marker, self._now_ms())
        except RequestFailed as error:
            if error.code not in _OVERTAKEN:
                raise


class Producer(NamedTuple):
    """A producer id and an epoch."""

    producer_id: int
    epoch: int


class TransactionCoordinator:
    """All transactional ids of the broker. `new_producer_id` allocates producer ids, and may raise OSError."""

    def __init__(
        self,
        clock: Clock,
        settings: BrokerSettings,
        journal: TransactionJournal,
        endings: MarkerWriter,
        new_producer_id: Callable[[], int],
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._journal = journal
        self._endings = endings
        self._new_producer_id = new_producer_id
        self._timers: dict[str, Timer] = {}
        """The timeouts of open transactions, and the next retries of prepared ones, by transactional id."""
        self.known = journal.load()
        """The current state of all transactional ids."""
        for metadata in tuple(self.known.values()):
            if metadata.is_prepared:
                self._complete(metadata)
            elif metadata.is_open:
                self._watch(metadata)

    # -- initialization of producers ----------------------------------------------------------------------------------

    def init_producer_id(self, transactional_id: str, timeout_ms: int, expected: Producer | None) -> Producer:
        """Return a producer's id and epoch. The new epoch fences earlier producers with the same transactional id.

        `expected` is the id and epoch of a recovering producer (KIP-360). Raises `RequestFailed`, for example with
        CONCURRENT_TRANSACTIONS while a transaction is ending.
        """
        if not transactional_id:
            raise RequestFailed(_E.INVALID_REQUEST)
        if not 0 < timeout_ms <= self._settings.transaction_max_timeout_ms:
            raise RequestFailed(_E.INVALID_TRANSACTION_TIMEOUT)
        now_ms = self._clock.wall_ms()
        known = self.known.get(transactional_id)
        if known is None:
            known = TransactionMetadata(transactional_id, self._next_producer_id(), NOTHING, timeout_ms, now_ms)
        if expected is not None and not _may_be(known, expected):
            raise RequestFailed(_E.PRODUCER_FENCED)
        if known.is_prepared:
            raise RequestFailed(_E.CONCURRENT_TRANSACTIONS)
        if known.is_open:
            self._abort(known)
            raise RequestFailed(_E.CONCURRENT_TRANSACTIONS)
        epoch = None if expected is None else expected.epoch
        if known.has_no_epochs_left and epoch in (None, known.producer_epoch):
            changed = known.with_producer_id(self._next_producer_id(), timeout_ms, epoch, now_ms)
        else:
            changed = known.with_next_epoch(timeout_ms, epoch, now_ms)
        self._write(changed)
        return Producer(changed.producer_id, changed.producer_epoch)

    def _next_producer_id(self) -> int:
        try:
            return self._new_producer_id()
        except OSError as error:
            log.exception("no producer id could be reserved")
            raise RequestFailed(_E.NOT_COORDINATOR) from error

    # -- adding partitions --------------------------------------------------------------------------------------------

    def add_partitions(
        self, transactional_id: str, producer: Producer, partitions: Collection[TopicPartition], version: int
    ) -> None:
        """Add partitions to the producer's transaction, beginning one if necessary; raises `RequestFailed`."""
        known = self._of_producer(transactional_id, producer)
        if known.is_open and known.partitions.issuperset(partitions):
            return
        changed = known.with_partitions(partitions, version, self._clock.wall_ms())
        self._write(changed)
        if not known.is_open:
            self._watch(changed)

    def check_partition(self, transactional_id: str, producer: Producer, partition: TopicPartition) -> None:
        """Raise `RequestFailed` if the producer's transaction does not include the partition."""
        if partition not in self._of_producer(transactional_id, producer).partitions:
            raise RequestFailed(_E.TRANSACTION_ABORTABLE, "the partition was not added to the transaction")

    def _of_producer(self, transactional_id: str, producer: Producer) -> TransactionMetadata:
        """Return the state of the id. The id must belong to the producer, and no transaction may be ending."""
        if not transactional_id:
            raise RequestFailed(_E.INVALID_REQUEST)
        known = self.known.get(transactional_id)
        if known is None or known.producer_id != producer.producer_id:
            raise RequestFailed(_E.INVALID_PRODUCER_ID_MAPPING)
        if known.producer_epoch != producer.epoch:
            raise RequestFailed(_E.PRODUCER_FENCED)
        if known.is_prepared:
            raise RequestFailed(_E.CONCURRENT_TRANSACTIONS)
        return known

    # -- the end of transactions --------------------------------------------------------------------------------------

    def end(self, transactional_id: str, producer: Producer, committed: bool, version: int) -> Producer:
        """Commit or abort the producer's transaction; return the producer id and epoch for the next one.

        A repeated call returns the same result. Raises `RequestFailed`.
        """
        if not transactional_id:
            raise RequestFailed(_E.INVALID_REQUEST)
        known = self.known.get(transactional_id)
        if known is None:
            raise RequestFailed(_E.INVALID_PRODUCER_ID_MAPPING)
        if not check_end(known, producer.producer_id, producer.epoch, committed, version):
            return Producer(known.producer_id, known.producer_epoch)
        exhausted = version >= 2 and known.has_no_epochs_left
        next_producer_id = self._next_producer_id() if exhausted else NOTHING
        return self._decide(known, committed, version, next_producer_id)

    def _abort(self, known: TransactionMetadata) -> None:
        """Fence the producer of an open transaction, and abort it."""
        version = self._settings.transaction_version
        self._decide(known if version >= 2 else known.fenced(), False, version)

    def _decide(
        self, known: TransactionMetadata, committed: bool, version: int, next_producer_id: int = NOTHING
    ) -> Producer:
        prepared = known.prepared(committed, version, self._clock.wall_ms(), next_producer_id)
        self._write(prepared)
        self._complete(prepared)
        completed = prepared.completed(prepared.updated_ms)
        return Producer(completed.producer_id, completed.producer_epoch)

    def _complete(self, prepared: TransactionMetadata) -> None:
        """Write the markers of a prepared transaction; if some cannot be written, retry later."""
        self._stop_watching(prepared.transactional_id)
        try:
            self._endings.write(prepared)
            self._write(prepared.completed(self._clock.wall_ms()))
        except (OSError, RequestFailed) as error:
            log.warning("could not end transaction %s everywhere, will retry: %s", prepared.transactional_id, error)
            self._timers[prepared.transactional_id] = self._clock.call_later(_RETRY_S, lambda: self._complete(prepared))

    # -- timeouts and expiry ------------------------------------------------------------------------------------------

    def _watch(self, metadata: TransactionMetadata) -> None:
        """Start the timer that aborts an open transaction."""
        left_ms = metadata.started_ms + metadata.timeout_ms - self._clock.wall_ms()
        transactional_id = metadata.transactional_id
        self._stop_watching(transactional_id)
        self._timers[transactional_id] = self._clock.call_later(
            max(left_ms, 0) / 1000, lambda: self._time_is_up(transactional_id)
        )

    def _stop_watching(self, transactional_id: str) -> None:
        timer = self._timers.pop(transactional_id, None)
        if timer is not None:
            timer.cancel()

    def _time_is_up(self, transactional_id: str) -> None:
        known = self.known[transactional_id]
        log.info("transaction %s is aborted: it has been open for %d ms", transactional_id, known.timeout_ms)
        try:
            self._abort(known)
        except RequestFailed:
            self._timers[transactional_id] = self._clock.call_later(
                _RETRY_S, lambda: self._time_is_up(transactional_id)
            )

    def forget_unused(self) -> None:
        """Remove ids that have not been used for ``transactional.id.expiration.ms``."""
        oldest_ms = self._clock.wall_ms() - self._settings.transactional_id_expiration_ms
        for known in tuple(self.known.values()):
            if not known.is_open and not known.is_prepared and known.updated_ms <= oldest_ms:
                self._journal.forget(known.transactional_id)
                del self.known[known.transactional_id]

    # -- storage ------------------------------------------------------------------------------------------------------

    def _write(self, changed: TransactionMetadata) -> None:
        """Store the new state of a transactional id, then apply it in memory."""
        try:
            self._journal.write(changed)
        except OSError as error:
            log.exception("the state of transaction %s could not be stored", changed.transactional_id)
            # Kafka returns this code as well: clients look up the coordinator and retry.
            raise RequestFailed(_E.NOT_COORDINATOR) from error
        self.known[changed.transactional_id] = changed
        if self._journal.is_wasteful:
            self._shorten()

    def _shorten(self) -> None:
        try:
            self._journal.rewrite(self.known.values())
        except OSError:
            log.exception("could not compact the file of transactions")

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose."""
        self._journal.discard_unsynced()

    def close(self) -> None:
        """Close the journal. Open transactions stay open."""
        for transactional_id in tuple(self._timers):
            self._stop_watching(transactional_id)
        self._journal.close()


def _may_be(known: TransactionMetadata, expected: Producer) -> bool:
    """Return whether a recovering producer's id can belong to the transactional id. The epoch is checked later."""
    return (
        known.producer_epoch == NOTHING
        or expected.producer_id == known.producer_id
        or (expected.producer_id == known.previous_producer_id and is_last_epoch(expected.epoch))
    )
