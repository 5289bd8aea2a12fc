"""What a consumer knows of one partition that is assigned to it."""

from uuid import UUID

from kafka.consumer.handover.consumption import PartitionConsumption
from kafka.consumer.handover.fetch_position import FetchPosition
from kafka.consumer.handover.fetch_progress import FetchProgress
from kafka.consumer.handover.partition_buffer import PartitionBuffer
from kafka.record import ConsumerRecord
from kafka.structs import TopicPartition


class PartitionState:
    """Owns the position. Belongs to the caller's thread; but `buffer` is between both sides, and `fetching` the loop's.

    The position is changed here and nowhere else: by `go_to`, `locate` and `move_past`, or by setting `last_record`.

    Arguments:
        tp: the partition.

    Attributes:
        generation: raised whenever the position changes by other means than handing out; what was fetched under an
            older one is dropped.
        reset: the timestamp to look the position up by, EARLIEST or LATEST; None: none is.
        paused: nothing is handed out.
        last_record: the last one that iteration has handed out, if that was later than `move_past`.
        consumption: what was handed out; None: nothing so far.
        left_at: where the consumer was when it gave the partition up before, which counts if the group has committed
            nothing; None: that does not count.
    """

    __slots__ = (
        "_position",
        "buffer",
        "consumption",
        "fetching",
        "generation",
        "last_record",
        "left_at",
        "paused",
        "reset",
        "tp",
    )

    def __init__(self, tp: TopicPartition) -> None:
        self.tp = tp
        self.generation = 0
        self.reset: int | None = None
        self.paused = False
        self.last_record: ConsumerRecord | None = None
        self.consumption: PartitionConsumption | None = None
        self.left_at: FetchPosition | None = None
        self.buffer = PartitionBuffer()
        self.fetching = FetchProgress()
        self._position: FetchPosition | None = None

    @property
    def position(self) -> FetchPosition | None:
        """Behind the last record that the caller got; None as long as it is not known where to read."""
        last, position = self.last_record, self._position
        if last is None or position is None:
            return position
        epoch = last.leader_epoch
        return FetchPosition(last.offset + 1, -1 if epoch is None else epoch)

    @property
    def topic_id(self) -> UUID | None:
        """Of the topic that the position is a place in; None: not known, as after a seek. In any thread."""
        fetching = self.fetching
        topic_id = fetching.topic_id
        return topic_id if fetching.generation == self.generation else None

    def go_to(self, position: FetchPosition | None, reset: int | None = None) -> None:
        """Read on from elsewhere, with a new generation.

        Arguments:
            position: None: it has to be looked up.
            reset: the timestamp to look it up by; None: as configured.
        """
        self.generation += 1
        self._position, self.last_record, self.reset = position, None, reset

    def locate(self, generation: int, position: FetchPosition) -> bool:
        """Take a position that was looked up; False if a seek was quicker."""
        if self.generation != generation or self._position is not None:
            return False
        self._position, self.reset = position, None
        return True

    def move_past(self, generation: int, position: FetchPosition | None) -> None:
        """What was fetched under ``generation`` has been handed out up to ``position``."""
        if self.generation == generation:
            self._position, self.last_record = position, None

    def __repr__(self) -> str:
        return f"<PartitionState {self.tp.topic}-{self.tp.partition} position={self.position}>"


def readable_end(state: PartitionState, read_committed: bool) -> int | None:
    """The end that the last fetch told; None where it is not known.

    Arguments:
        state: the partition.
        read_committed: the end is the last stable offset, if brokers tell it (from Kafka 0.11 on); else the high
            watermark.
    """
    stable = state.fetching.last_stable_offset
    return stable if read_committed and stable is not None and stable >= 0 else state.fetching.highwater


def current_lag(state: PartitionState, read_committed: bool) -> int | None:
    """How many offsets the position is behind `readable_end`; None where either is not known."""
    end, position = readable_end(state, read_committed), state.position
    return None if end is None or position is None else max(0, end - position.offset)
