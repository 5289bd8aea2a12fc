"""Iteration over a consumer, record by record. The position follows each record.

A record counts as handed out when it is returned: a commit in the loop's body includes it. Records that were taken from
the buffer and not returned go back there when `poll()` or `pause()` comes in between.
"""

from collections.abc import Callable, Iterator

from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.buffer.polled_batch import PolledBatch, Slice
from kafka.consumer.records.build_records import Failure, Materializer
from kafka.record import ConsumerRecord
from kafka.structs import TopicPartition

OnConsume = Callable[[dict[TopicPartition, list[ConsumerRecord]]], dict[TopicPartition, list[ConsumerRecord]]]

_NOWHERE = PartitionState(TopicPartition("", -1))


class RecordCursor:
    """The place of iteration in the data handed out. It never waits: the consumer classes do.

    The code that takes a record from `rest` sets `state.last_record` to it, which moves the position.

    Arguments:
        materializer: makes records.

    Attributes:
        rest: the records of one slice that have not been returned.
        state: the partition of these records.
        on_consume: passes records, by partition, through the interceptors; None: there are no interceptors.
    """

    __slots__ = ("_failure", "_loaded", "_materializer", "_polled", "on_consume", "rest", "state")

    def __init__(self, materializer: Materializer) -> None:
        self._materializer = materializer
        self.on_consume: OnConsume | None = None
        self._polled: PolledBatch | None = None
        self._loaded: Slice | None = None
        self._failure: Failure | None = None
        self.rest: Iterator[ConsumerRecord] = iter(())
        self.state = _NOWHERE

    def begin(self, polled: PolledBatch) -> None:
        """Go on with the records of ``polled``."""
        self._stop()
        polled.on_change = self._stop
        self._polled = polled

    def load(self) -> bool:
        """Fill `rest`, which is at its end, from the next slice; False if there is none.

        Raises the error of a record that cannot be deserialized.
        """
        polled = self._polled
        if polled is None:
            return False
        polled.settle()
        failure, self._failure = self._failure, None
        if failure is not None:
            polled.roll_back()
            raise failure.error
        if self._loaded is not None:
            self._loaded = None
            polled.commit_first()
        while polled.slices:
            piece = polled.slices[0]
            records, failure = self._materializer.records(piece.unread())
            if self.on_consume is not None and records:
                records = self.on_consume({piece.state.tp: list(records)}).get(piece.state.tp, [])
            rest = iter(records)
            if polled.slices and polled.slices[0] is piece:  # or a deserializer has paused it, or has sought
                self.rest, self.state, self._loaded, self._failure = rest, piece.state, piece, failure
                return True
        self._polled = None
        return False

    def _stop(self) -> None:
        """What was loaded is being taken back, or a seek has made it useless."""
        self._loaded = self._failure = None  # first: what is left of `rest` is not taken for read
        self.rest = iter(())
        self.state = _NOWHERE
