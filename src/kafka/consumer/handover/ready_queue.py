"""The order in which partitions with fetched data are handed out."""

import threading
from collections import deque
from collections.abc import Collection, Iterator

from kafka.consumer.handover.partition_state import PartitionState
from kafka.structs import TopicPartition


class ReadyQueue:
    """The partitions that have something to hand out, in turn, but what was begun first.

    The loop's side calls `add`, with the lock held; the rest is for the caller's side and takes it.

    Arguments:
        lock: the buffer's.

    Attributes:
        at: the partition that the caller's side has taken out last.
        passed_over: those that it has taken out and left aside, until `give_back_aside`.
        served: those of which a call has taken as many records as it may, until then likewise.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._waiting: deque[PartitionState] = deque()
        self.at: PartitionState | None = None
        self.passed_over: list[PartitionState] = []
        self.served: list[PartitionState] = []

    def __iter__(self) -> Iterator[PartitionState]:
        return iter(self._waiting)

    def add(self, state: PartitionState) -> None:
        """Put a partition last, if it has something and is not in the queue or in the caller's hands."""
        buffer = state.buffer
        if not buffer.queued and not state.paused and (buffer.current is not None or buffer.items):
            buffer.queued = True
            self._waiting.append(state)

    def next(self) -> PartitionState | None:
        """The next partition, which is in the caller's hands until `give_back`: an answer does not put it in again."""
        with self._lock:
            while True:
                if not self._waiting:
                    break
                state = self.at = self._waiting[0]
                del self._waiting[0]
                buffer = state.buffer
                if not state.paused and (buffer.current is not None or buffer.items):
                    return state
                buffer.queued = False
        self.at = None
        return None

    def give_back(self, state: PartitionState) -> None:
        """A partition is not in the caller's hands any more."""
        with self._lock:
            state.buffer.queued = False
            if state.buffer.is_begun and not state.paused:
                state.buffer.queued = True
                self._waiting.appendleft(state)  # what has been begun is handed out first: its frame can go
            else:
                self.add(state)

    def take_passed_over(self, wanted: Collection[TopicPartition] | None) -> PartitionState | None:
        """The last of those passed over that is wanted (None: any), as `next` gives it."""
        for index in range(len(self.passed_over) - 1, -1, -1):
            if wanted is None or self.passed_over[index].tp in wanted:
                self.at = self.passed_over.pop(index)
                return self.at
        return None

    def give_back_aside(self) -> None:
        """Those passed over or served are not in the caller's hands any more; the latter have to wait for all others.

        Called again if an interrupt came: one twice does no harm.
        """
        while self.passed_over:
            self.give_back(self.passed_over[0])
            del self.passed_over[:1]
        with self._lock:
            waiting = set(self._waiting) if self.served else ()
        while self.served:
            with self._lock:
                self.served[0].buffer.queued = self.served[0] in waiting
                self.add(self.served[0])
            del self.served[:1]

    def put_first(self, state: PartitionState) -> None:
        """Have a partition that has something handed out before all others; the lock is held."""
        if state.paused:
            return
        if state.buffer.queued and state in self._waiting:
            self._waiting.remove(state)
        state.buffer.queued = True
        self._waiting.appendleft(state)
