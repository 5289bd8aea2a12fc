"""What a partition knows of the idempotent producers that wrote to it (KIP-98), to tell repetitions from gaps.

Counterpart: Kafka's ProducerStateManager, without transactions.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from kafka.broker.codes import ErrorCode, RequestFailed
from kafka.broker.log.layout import BatchHead

REMEMBERED_BATCHES: Final = 5
"""Batches remembered a producer: as many as Kafka lets an idempotent producer have in flight."""
_SEQUENCES: Final = 2**31


class WrittenBatch(NamedTuple):
    """A batch that was written, as far as its repetition has to be recognised."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    max_timestamp: int


class ProducerStateEntry:
    """One producer's epoch and its latest batches, the newest last."""

    __slots__ = ("batches", "epoch")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: deque[WrittenBatch] = deque(maxlen=REMEMBERED_BATCHES)


def last_sequence(head: BatchHead) -> int:
    """The sequence number of the batch's last record; after 2^31 - 1 comes 0."""
    return (head.base_sequence + head.last_offset - head.base_offset) % _SEQUENCES


class ProducerStates:
    """The states of all producers of a partition, by producer id."""

    def __init__(self) -> None:
        self._states: dict[int, ProducerStateEntry] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[tuple[int, ProducerStateEntry]]:
        return iter(self._states.items())

    def repeated(self, head: BatchHead) -> WrittenBatch | None:
        """Return the earlier copy of this batch, or None where the batch is new and may be appended.

        Raises `RequestFailed` with INVALID_PRODUCER_EPOCH for a producer that another with its id has replaced, and
        with OUT_OF_ORDER_SEQUENCE_NUMBER where batches before this one are missing.
        """
        state = self._states.get(head.producer_id)
        if state is None:
            # Its records may all have been deleted, so any sequence number is a fair start.
            return None
        if head.producer_epoch < state.epoch:
            raise RequestFailed(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {head.producer_id} came with epoch {head.producer_epoch}, but epoch {state.epoch} was seen",
            )
        if head.producer_epoch > state.epoch:
            expected = 0
        else:
            last = last_sequence(head)
            for batch in state.batches:
                if batch.first_sequence == head.base_sequence and batch.last_sequence == last:
                    return batch
            expected = (state.batches[-1].last_sequence + 1) % _SEQUENCES
        if head.base_sequence != expected:
            raise RequestFailed(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {head.producer_id} came with sequence number {head.base_sequence}, expected {expected}",
            )
        return None

    def note(self, head: BatchHead) -> None:
        """Remember a batch that has been appended, or is found in the log while it is recovered."""
        state = self._states.get(head.producer_id)
        if state is None or state.epoch != head.producer_epoch:
            state = self._states[head.producer_id] = ProducerStateEntry(head.producer_epoch)
        state.batches.append(
            WrittenBatch(
                head.base_sequence, last_sequence(head), head.base_offset, head.last_offset, head.max_timestamp
            )
        )

    def forget_before(self, timestamp: int) -> None:
        """Forget producers whose last batch is older than `timestamp` (``producer.id.expiration.ms``)."""
        for producer_id in [one for one, state in self if state.batches[-1].max_timestamp < timestamp]:
            del self._states[producer_id]

    def to_rows(self) -> list[list[int]]:
        """All states as rows of numbers: producer id, epoch, and the fields of one batch."""
        return [[producer_id, state.epoch, *batch] for producer_id, state in self for batch in state.batches]

    @classmethod
    def from_rows(cls, rows: list[list[int]]) -> "ProducerStates":
        """The inverse of `to_rows`."""
        states = cls()
        for producer_id, epoch, *batch in rows:
            state = states._states.get(producer_id)
            if state is None or state.epoch != epoch:
                state = states._states[producer_id] = ProducerStateEntry(epoch)
            state.batches.append(WrittenBatch(*batch))
        return states
