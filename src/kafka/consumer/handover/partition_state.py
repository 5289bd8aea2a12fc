"""What a consumer knows of one partition that is assigned to it.

Two sides work on it. The caller's thread owns `position` and what has been decoded; the loop owns `fetch_offset`, which
runs ahead. `generation` ties them together: a seek raises it, and whatever was fetched under an older one is dropped.
"""

from collections import deque
from typing import TYPE_CHECKING

from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.consumer.handover.fetched import DecodedFetch, Fetched


class PartitionState:
    """See the module.

    Arguments:
        tp: the partition.
    """

    __slots__ = (
        "asked_generation",
        "backing_off",
        "blocked",
        "buffered_bytes",
        "current",
        "fetch_generation",
        "fetch_offset",
        "generation",
        "highwater",
        "items",
        "last_stable_offset",
        "leader_epoch",
        "log_start_offset",
        "node_id",
        "paused",
        "position",
        "queued",
        "reset",
        "tp",
    )

    def __init__(self, tp: TopicPartition) -> None:
        self.tp = tp
        # The caller's side, under the buffer's lock where the loop reads it.
        self.position: int | None = None
        self.reset: int | None = None
        """The timestamp to look the position up by, EARLIEST or LATEST; None: no reset is wanted."""
        self.paused = False
        self.generation = 0
        self.current: DecodedFetch | None = None
        self.leader_epoch = -1
        """Of the last record handed out."""
        # Filled by the loop, emptied by the caller.
        self.items: deque[Fetched | DecodedFetch] = deque()
        self.buffered_bytes = 0
        self.queued = False
        """It comes next, or is in the caller's hands: an answer need not put it among those that come next."""
        self.blocked = False
        # The loop's side.
        self.fetch_offset: int | None = None
        self.fetch_generation = 0
        self.asked_generation = -1
        """The newest generation that a broker was to be asked for data of."""
        self.node_id: int | None = None
        self.backing_off = False
        self.highwater: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None

    @property
    def has_position(self) -> bool:
        """Whether it is known where to read on."""
        return self.position is not None

    def __repr__(self) -> str:
        return f"<PartitionState {self.tp.topic}-{self.tp.partition} position={self.position}>"
