"""Acknowledgements on their way: what was said of records of one partition that one broker has handed out."""

from typing import NamedTuple
from uuid import UUID

from kafka.consumer.share.piece import GAP, Piece
from kafka.structs import TopicPartition

_MOST_OF_A_RANGE = 1 << 20


class AckBatch(NamedTuple):
    """Neighbouring offsets, and what is said of them: one type for all, or one for each."""

    first: int
    last: int
    types: bytes


class Acknowledgements:
    """What is sent for one partition to the broker that the records came from.

    Arguments:
        tp, topic_id: the partition.
        node_id: the broker.

    Attributes:
        batches: in the order of offsets, once `sort` was called.
        renewed: what is handed out again if the broker agrees.
        error: why they have failed; None: they have not.
        done: whether it is known what became of them.
    """

    __slots__ = ("batches", "done", "error", "node_id", "renewed", "topic_id", "tp")

    def __init__(self, tp: TopicPartition, topic_id: UUID, node_id: int) -> None:
        self.tp = tp
        self.topic_id = topic_id
        self.node_id = node_id
        self.batches: list[AckBatch] = []
        self.renewed: list[Piece] = []
        self.error: Exception | None = None
        self.done = False

    def sort(self) -> None:
        """Brokers want them in order."""
        self.batches.sort()

    def offsets(self) -> set[int]:
        """The offsets of records, without those that have none; of a range that was not read the first million."""
        found: set[int] = set()
        for batch in self.batches:
            if len(batch.types) == 1:
                if batch.types[0] != GAP:
                    found.update(range(batch.first, min(batch.last + 1, batch.first + _MOST_OF_A_RANGE)))
            else:
                found.update(offset for offset, kind in enumerate(batch.types, batch.first) if kind != GAP)
        return found
