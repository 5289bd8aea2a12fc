"""The state of an assigned partition: its position, its fetch progress, and its consumption statistics."""

import math
import uuid
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from kafka.consumer.buffer.partition_response import PartitionBuffer
from kafka.metrics.windows import SampledValues, Window, WindowOptions, Windows
from kafka.record import ConsumerRecord
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.cluster.metadata_snapshot import ClusterMetadata


class FetchPosition(NamedTuple):
    """A place in a partition's log where reading continues.

    Arguments:
        offset: the offset of the next record.
        leader_epoch: the epoch of the last record before that offset, or the epoch that a broker or a commit returned
            with it; -1 if unknown (KIP-320).
    """

    offset: int
    leader_epoch: int = -1


new_position = partial(tuple.__new__, FetchPosition)
"""Creates a `FetchPosition` from a tuple, without calling a Python function."""


class FetchProgress:
    """The fetch progress of a partition.

    Used on the loop. The caller's thread only reads the last three attributes, which brokers send in each response.

    Attributes:
        offset: where fetching continues, ahead of the position; None: nothing is fetched.
        leader_epoch: the epoch of the last record before `offset`; -1 if unknown (KIP-320).
        checked_epoch: the epoch of the leader whose log was found to contain the records before `offset`; -1 if there
            is none.
        topic_id: id of the topic that `offset` refers to, in which it was looked up or fetched; None if unknown
            (KIP-516).
        generation: the generation of `PartitionState` that `offset` belongs to.
        asked_generation: the newest generation for which a fetch was attempted.
        broker_id: the broker to fetch from; None if there is none.
        backing_off: whether fetching is paused after a failure.
        failures: the number of consecutive errors that brokers returned instead of data.
        out_of_range_since: the metadata version and the value of `failures` when a broker first reported that it lacks
            `offset`; None if no broker has.
        highwater: the offset after the last record that consumers may see.
        last_stable_offset: the offset before which no transaction is open.
        log_start_offset: the first offset of the log.
        metadata: the metadata by which the broker was chosen; None before that.
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
        "metadata",
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
        self.metadata: "ClusterMetadata | None" = None

    def begin(self, generation: int, position: FetchPosition | None, topic_id: uuid.UUID | None = None) -> None:
        """Fetch from another position.

        Arguments:
            position: the position; None: nothing is fetched.
            topic_id: id of the topic in which the position was looked up; None if unknown, such as after a seek.
        """
        self.topic_id = topic_id
        self.generation = generation
        self.offset, self.leader_epoch = (None, -1) if position is None else position
        self.checked_epoch = -1
        self.out_of_range_since = None


class Consumed(Window):
    """The records from a topic that were returned."""

    __slots__ = ("largest_lag", "nbytes", "records")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.records = self.nbytes = 0
        self.largest_lag = -math.inf


class TopicConsumption:
    """The consumption statistics of one topic.

    Attributes:
        sizes: the number of bytes from the topic in each response that contains any; counted on the loop.
        consumed: returned records; counted in the caller's thread.
    """

    __slots__ = ("consumed", "sizes")

    def __init__(self, window: WindowOptions) -> None:
        self.sizes = SampledValues(window)
        self.consumed = Windows(Consumed, window)


class PartitionConsumption(SampledValues):
    """The lag of one partition, sampled in the caller's thread whenever its records are returned.

    Attributes:
        topic: the statistics of the partition's topic.
    """

    __slots__ = ("topic",)

    def __init__(self, window: WindowOptions, topic: TopicConsumption) -> None:
        super().__init__(window)
        self.topic = topic


class PartitionState:
    """The state of an assigned partition; owns the position.

    Used in the caller's thread, except `buffer`, which both sides use, and `fetching`, which belongs to the loop.

    The position changes only here: by `go_to`, `locate` and `move_past`, or by setting `last_record`.

    Arguments:
        tp: the partition.

    Attributes:
        generation: increases whenever the position changes other than by returning records; data fetched under an older
            generation is dropped.
        reset: the timestamp by which to look up the position, EARLIEST or LATEST; None if there is none.
        paused: whether the partition is paused, in which case no records are returned.
        last_record: the last record that iteration has returned, if it was returned after the last `move_past`.
        consumption: statistics of the returned records; None: no records have been returned.
        left_at: the position at which the consumer last gave up the partition, to be used if the group has committed
            nothing; None: no such position is used.
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
        """The position after the last record that the caller has received; None if it is still unknown."""
        last, position = self.last_record, self._position
        if last is None or position is None:
            return position
        epoch = last.leader_epoch
        return FetchPosition(last.offset + 1, -1 if epoch is None else epoch)

    @property
    def topic_id(self) -> UUID | None:
        """Id of the topic that the position refers to; None if unknown, such as after a seek. Thread-safe."""
        fetching = self.fetching
        topic_id = fetching.topic_id
        return topic_id if fetching.generation == self.generation else None

    def go_to(self, position: FetchPosition | None, reset: int | None = None) -> None:
        """Read from another position, with a new generation.

        Arguments:
            position: the position; None: look it up.
            reset: the timestamp to look it up by; None: as configured.
        """
        self.generation += 1
        self._position, self.last_record, self.reset = position, None, reset

    def locate(self, generation: int, position: FetchPosition) -> bool:
        """Set a position that was looked up. Returns False if a seek came first."""
        if self.generation != generation or self._position is not None:
            return False
        self._position, self.reset = position, None
        return True

    def move_past(self, generation: int, position: FetchPosition | None) -> None:
        """Move the position, because data fetched under ``generation`` has been returned up to ``position``."""
        if self.generation == generation:
            self._position, self.last_record = position, None

    def __repr__(self) -> str:
        return f"<PartitionState {self.tp.topic}-{self.tp.partition} position={self.position}>"


def readable_end(state: PartitionState, read_committed: bool) -> int | None:
    """Return the end of the log as of the last fetch; None if unknown.

    Arguments:
        state: the partition.
        read_committed: return the last stable offset, if brokers report it (Kafka 0.11 or later), instead of the high
            watermark.
    """
    stable = state.fetching.last_stable_offset
    return stable if read_committed and stable is not None and stable >= 0 else state.fetching.highwater


def current_lag(state: PartitionState, read_committed: bool) -> int | None:
    """Return the number of offsets between the position and `readable_end`; None if either is unknown."""
    end, position = readable_end(state, read_committed), state.position
    return None if end is None or position is None else max(0, end - position.offset)
