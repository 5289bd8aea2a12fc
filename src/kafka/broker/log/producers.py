"""The states of a partition's producers (KIP-98), used to detect duplicate batches, gaps and open transactions.

Counterpart: Kafka's ProducerStateManager.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.batch_head import BatchHead, Marker

REMEMBERED_BATCHES: Final = 5
"""Number of batches remembered per producer: the maximum that Kafka allows an idempotent producer to have in flight."""
_SEQUENCES: Final = 2**31


class WrittenBatch(NamedTuple):
    """The properties of a written batch by which a duplicate is recognized."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    max_timestamp: int


class _Begun(NamedTuple):
    """The batches that may begin a producer's transaction."""

    epoch: int
    lowest_sequence: int
    at_zero: bool
    """Whether only the first batch of the epoch may begin the transaction."""


class ProducerStateEntry:
    """The state of one producer: its epoch, its latest batches (newest last), and its open transaction.

    If the epoch is known only from a marker, there are no batches.
    """

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "transaction_start")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.coordinator_epoch = -1
        """The coordinator epoch of the latest marker; -1 if there is none."""
        self.last_timestamp = -1
        self.transaction_start: int | None = None
        """The first offset of the open transaction; None if there is none."""
        self.batches: deque[WrittenBatch] = deque(maxlen=REMEMBERED_BATCHES)

    @property
    def last_sequence(self) -> int:
        """The sequence number of the producer's last record; -1 if there is none."""
        return self.batches[-1].last_sequence if self.batches else -1

    def begin_epoch(self, epoch: int) -> None:
        """Start a new epoch without batches."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()


def last_sequence(head: BatchHead) -> int:
    """Return the sequence number of the batch's last record. Sequence numbers wrap around to 0 after 2^31 - 1."""
    return (head.base_sequence + head.last_offset - head.base_offset) % _SEQUENCES


class ProducerStates:
    """The states of all producers of a partition, by producer id."""

    def __init__(self) -> None:
        self._states: dict[int, ProducerStateEntry] = {}
        self._open: dict[int, int] = {}
        """The first offsets of open transactions by producer id, in ascending order."""
        self._begun: dict[int, _Begun] = {}
        """By producer id: the batches that may begin its transaction; not those after a rejected one (KIP-890)."""

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[tuple[int, ProducerStateEntry]]:
        return iter(self._states.items())

    @property
    def first_open_offset(self) -> int | None:
        """The first offset of the earliest open transaction; None if no transaction is open."""
        return next(iter(self._open.values()), None)

    def has_transaction(self, producer_id: int, epoch: int) -> bool:
        """Return whether the producer with this epoch has an open transaction in the partition."""
        return producer_id in self._open and self._states[producer_id].epoch == epoch

    # -- batches ------------------------------------------------------------------------------------------------------

    def begin(self, head: BatchHead, at_zero: bool) -> None:
        """Record a batch that may begin a transaction; with `at_zero` only the first batch of its epoch may."""
        begun = self._begun.get(head.producer_id)
        if begun is None or head.producer_epoch > begun.epoch:
            self._begun[head.producer_id] = _Begun(head.producer_epoch, head.base_sequence, at_zero)
        elif head.producer_epoch == begun.epoch and head.base_sequence < begun.lowest_sequence:
            self._begun[head.producer_id] = begun._replace(lowest_sequence=head.base_sequence)

    def repeated(self, head: BatchHead) -> WrittenBatch | None:
        """Return the earlier copy of this batch, or None if the batch is new and may be appended.

        Raises `RequestFailed` with INVALID_PRODUCER_EPOCH if a newer producer has replaced this one, and with
        OUT_OF_ORDER_SEQUENCE_NUMBER if batches before this one are missing.
        """
        state = self._states.get(head.producer_id)
        if state is None:
            # All of the producer's records may have been deleted, so any sequence number is acceptable.
            self._check_begun(head)
            return None
        _check_epoch(state, head.producer_id, head.producer_epoch)
        expected = 0
        if head.producer_epoch == state.epoch:
            last = last_sequence(head)
            for batch in state.batches:
                if batch.first_sequence == head.base_sequence and batch.last_sequence == last:
                    return batch
            expected = (state.last_sequence + 1) % _SEQUENCES
        self._check_begun(head)
        if head.base_sequence != expected:
            raise _out_of_order(head, expected)
        return None

    def _check_begun(self, head: BatchHead) -> None:
        begun = self._begun.get(head.producer_id)
        if begun is None:
            return
        if head.base_sequence > begun.lowest_sequence:
            raise _out_of_order(head, begun.lowest_sequence)
        state = self._states.get(head.producer_id)
        if begun.at_zero and head.base_sequence and (state is None or not state.batches):
            raise _out_of_order(head, 0)

    def check_transaction(self, head: BatchHead) -> None:
        """Raise `RequestFailed` with INVALID_TXN_STATE if a batch is not part of its producer's open transaction."""
        if head.producer_id in self._open and not head.is_transactional:
            raise RequestFailed(
                ErrorCode.INVALID_TXN_STATE, f"producer {head.producer_id} has an open transaction in the partition"
            )

    def note(self, head: BatchHead) -> None:
        """Update the producer's state with a batch that was appended or was found by recovery."""
        state = self._state(head.producer_id, head.producer_epoch)
        state.batches.append(
            WrittenBatch(
                head.base_sequence, last_sequence(head), head.base_offset, head.last_offset, head.max_timestamp
            )
        )
        state.last_timestamp = head.max_timestamp
        if head.is_transactional:
            self._begun.pop(head.producer_id, None)
        if head.is_transactional and state.transaction_start is None:
            state.transaction_start = self._open[head.producer_id] = head.base_offset

    def _state(self, producer_id: int, epoch: int) -> ProducerStateEntry:
        state = self._states.get(producer_id)
        if state is None:
            state = self._states[producer_id] = ProducerStateEntry(epoch)
        state.begin_epoch(epoch)
        return state

    # -- markers ------------------------------------------------------------------------------------------------------

    def check_marker(self, producer_id: int, epoch: int, marker: Marker) -> None:
        """Raise `RequestFailed` for a marker from a producer or coordinator that has been replaced."""
        state = self._states.get(producer_id)
        if state is None:
            return
        _check_epoch(state, producer_id, epoch)
        if marker.coordinator_epoch < state.coordinator_epoch:
            raise RequestFailed(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {marker.coordinator_epoch} is older than {state.coordinator_epoch}",
            )

    def note_marker(self, head: BatchHead, marker: Marker) -> int | None:
        """Update the producer's state with a marker; return the first offset of the transaction that it ends."""
        state = self._state(head.producer_id, head.producer_epoch)
        state.coordinator_epoch = marker.coordinator_epoch
        state.last_timestamp = head.max_timestamp
        state.transaction_start = None
        return self._open.pop(head.producer_id, None)

    # -- expiry and storage -------------------------------------------------------------------------------------------

    def forget_before(self, timestamp: int) -> None:
        """Remove producers whose last batch is older than `timestamp` (``producer.id.expiration.ms``)."""
        old = [one for one, state in self if state.last_timestamp < timestamp and state.transaction_start is None]
        for producer_id in old:
            del self._states[producer_id]
            self._begun.pop(producer_id, None)

    def to_rows(self) -> list[list[Any]]:
        """Return all states as rows: producer id, epochs, latest time, open transaction, and rows of batches."""
        return [
            [
                producer_id,
                state.epoch,
                state.coordinator_epoch,
                state.last_timestamp,
                state.transaction_start,
                [list(batch) for batch in state.batches],
            ]
            for producer_id, state in self
        ]

    @classmethod
    def from_rows(cls, rows: list[list[Any]]) -> "ProducerStates":
        """Create states from the result of `to_rows`."""
        states = cls()
        for producer_id, epoch, coordinator_epoch, last_timestamp, start, batches in rows:
            state = states._states[producer_id] = ProducerStateEntry(epoch)
            state.coordinator_epoch, state.last_timestamp, state.transaction_start = (
                coordinator_epoch,
                last_timestamp,
                start,
            )
            state.batches.extend(WrittenBatch(*batch) for batch in batches)
        started = [(state.transaction_start, one) for one, state in states if state.transaction_start is not None]
        states._open = {producer_id: start for start, producer_id in sorted(started)}
        return states


def _check_epoch(state: ProducerStateEntry, producer_id: int, epoch: int) -> None:
    if epoch < state.epoch:
        raise RequestFailed(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {producer_id} sent epoch {epoch}, but its current epoch is {state.epoch}",
        )


def _out_of_order(head: BatchHead, expected: int) -> RequestFailed:
    return RequestFailed(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {head.producer_id} came with sequence number {head.base_sequence}, expected {expected}",
    )
