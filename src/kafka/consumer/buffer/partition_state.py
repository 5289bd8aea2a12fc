"""What a consumer knows about one assigned partition: its position, how far it was fetched, and what was consumed."""

import math
import uuid
from typing import NamedTuple
from uuid import UUID

from kafka.consumer.buffer.partition_response import PartitionBuffer
from kafka.metrics.windows import SampledValues, Window, WindowOptions, Windows
from kafka.record import ConsumerRecord
from kafka.structs import TopicPartition


class FetchPosition(NamedTuple):
    """Where reading goes on.

    Arguments:
        offset: of the next record.
        leader_epoch: of the last record before it, or that a broker or a commit has told with the offset; -1 if it is
            not known (KIP-320).
    """

    offset: int
    leader_epoch: int = -1


class FetchProgress:
    """How far fetching a partition has come.

    Belongs to the loop. The caller's thread only reads the last three attributes, which brokers send in each response.

    Attributes:
        offset: where fetching goes on, ahead of the position; None: nothing is fetched.
        leader_epoch: of the last record before `offset`, -1 if it is not known (KIP-320).
        checked_epoch: the epoch of the leader that is known to have what comes before `offset`; -1: none is.
        topic_id: of the topic that `offset` is a place in: the one it was looked up in, or that has answered a fetch
            from there; None: not known (KIP-516).
        generation: the one of `PartitionState` that `offset` belongs to.
        asked_generation: the newest generation that a broker was to be asked for data of.
        broker_id: the broker that is asked; None: none is.
        backing_off: whether the partition is left alone for a moment.
        failures: how often in a row a broker had no data but an error.
        out_of_range_since: the version of the metadata, and `failures`, when a broker first said that it does not have
            `offset`; None: none says so.
        highwater: the offset after the last record that consumers may see.
        last_stable_offset: before it no transaction is open.
        log_start_offset: the first offset there is.
    """

    __slots__ = (
        "asked_generation",
        "backing_off",
        "broker_id",
        "checked_epoch",
        "failures",
        "generation",
        "highwater",
        "last_stable_offset",
        "leader_epoch",
        "log_start_offset",
        "offset",
        "out_of_range_since",
        "topic_id",
    )

    def __init__(self) -> None:
        self.offset: int | None = None
        self.leader_epoch = self.checked_epoch = -1
        self.topic_id: uuid.UUID | None = None
        self.generation = 0
        self.asked_generation = -1
        self.broker_id: int | None = None
        self.backing_off = False
        self.failures = 0
        self.out_of_range_since: tuple[int, int] | None = None
        self.highwater: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None

    def begin(self, generation: int, position: FetchPosition | None, topic_id: uuid.UUID | None = None) -> None:
        """Fetch from elsewhere.

        Arguments:
            position: None: nothing is fetched.
            topic_id: of the topic that the position was looked up in; None: not known, as after a seek.
        """
        self.topic_id = topic_id
        self.generation = generation
        self.offset, self.leader_epoch = (None, -1) if position is None else position
        self.checked_epoch = -1
        self.out_of_range_since = None


class Consumed(Window):
    """What was handed out of a topic."""

    __slots__ = ("largest_lag", "nbytes", "records")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.records = self.nbytes = 0
        self.largest_lag = -math.inf


class TopicConsumption:
    """Of one topic.

    Attributes:
        sizes: its bytes in each answer that has it; counted on the loop.
        consumed: what was handed out; counted in the caller's thread.
    """

    __slots__ = ("consumed", "sizes")

    def __init__(self, window: WindowOptions) -> None:
        self.sizes = SampledValues(window)
        self.consumed = Windows(Consumed, window)


class PartitionConsumption(SampledValues):
    """Of one partition: how many records it was behind, each time that some were handed out, in the caller's thread.

    Attributes:
        topic: that of its topic.
    """

    __slots__ = ("topic",)

    def __init__(self, window: WindowOptions, topic: TopicConsumption) -> None:
        super().__init__(window)
        self.topic = topic


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
