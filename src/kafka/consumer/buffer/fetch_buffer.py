"""The buffer between the loop, which fetches, and the caller, which decodes and takes records.

The loop adds the responses for partitions, and continues to fetch while there is room. The caller takes polled batches
without waiting for the loop. A single lock is held for a few operations per batch, and never while decoding.
"""

import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol
from uuid import UUID

from kafka.config import FetchOptions
from kafka.consumer.buffer.decode_ahead import DecodeAhead, PositionListener, ResponseOpener
from kafka.consumer.buffer.fetch_statistics import FetchStatistics
from kafka.consumer.buffer.partition_response import DecodedFetch, DecodeOptions, PartitionResponse
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.buffer.polled_batch import PolledBatch, Slice
from kafka.net.interruptible import loop_lock
from kafka.structs import TopicPartition

NO_LIMIT = 2**62
"""A limit larger than any number of records or bytes."""

_PARTITION_FETCHES = 1.5
"""The number of full responses in the buffer at which a partition is no longer fetched: one response is returned while
the next is buffered or on its way. Responses are rarely completely full, so two of them have to suffice.
"""

DECODED_BYTES = 8 * 1024 * 1024
"""The maximum size of columns decoded from one partition's response at a time, however well it is compressed."""

_JOINED_PART = 8
"""Records from several partitions are joined up to this part (1/8) of the maximum size, because joining copies them."""


class BufferListener(PositionListener, Protocol):
    """The listener of a `FetchBuffer`. Called in the caller's thread."""

    def unblocked(self, state: PartitionState) -> None:
        """Called when a partition may be fetched again."""


class FetchBuffer:
    """Buffers the responses for all assigned partitions; see the module.

    Arguments:
        options: sizes in bytes, and how to decode.
        listener: notified of partitions that may be fetched again, and of positions that are not in the log.
        statistics: counts the records returned to the caller; None: not counted.
    """

    def __init__(
        self,
        options: FetchOptions,
        listener: BufferListener,
        statistics: FetchStatistics | None = None,
    ) -> None:
        self._partition_bound = max(1, int(_PARTITION_FETCHES * options.max_partition_fetch_bytes))
        self._bound = max(self._partition_bound, options.fetch_max_bytes)
        self._most_made = max(options.max_decompressed_bytes, DECODED_BYTES)
        self._listener = listener
        self._statistics = statistics
        self._lock = loop_lock()  # a signal handler may run while the lock is held
        self._ready = ReadyQueue(self._lock)
        self._bytes = 0
        self._waiting_for_room: dict[PartitionState, None] = {}
        self._freed: list[PartitionState] = []
        """Partitions that may be fetched again and that the listener does not know yet."""
        self._dropped: list[PartitionResponse | DecodedFetch] = []
        """Removed items whose bytes have not been released yet."""
        decoding = DecodeOptions(
            options.check_crcs, options.isolation_level == "read_committed", options.max_decompressed_bytes
        )
        self._ahead = DecodeAhead(decoding, self._ready, self._lock)
        resets = options.auto_offset_reset != "none"
        self._next = ResponseOpener(decoding, self._ahead, self._lock, resets, listener)
        self._polled = self._nothing = PolledBatch(self._put_back)
        self.records_taken = 0

    @property
    def nbytes(self) -> int:
        """The number of bytes that were fetched and have not been returned."""
        return self._bytes

    # The loop's side --------------------------------------------------------------------------------------------------

    def put(self, state: PartitionState, item: PartitionResponse) -> bool:
        """Add a response. Returns False if it is outdated because of a seek or a rebalance."""
        with self._lock:
            if item.generation == state.generation:
                state.buffer.items.append(item)
                state.buffer.nbytes += item.nbytes
                self._bytes += item.nbytes
                self._ready.add(state)
                return True
        item.drop()
        return False

    def has_room(self, state: PartitionState) -> bool:
        """Return whether `is_full` would return False. Takes no lock: the caller's side only makes room."""
        return state.buffer.nbytes < self._partition_bound and self._bytes < self._bound

    def is_full(self, state: PartitionState) -> bool:
        """Return whether a partition has to wait for the caller, until `BufferListener.unblocked`."""
        buffer = state.buffer
        with self._lock:
            buffer.blocked = buffer.nbytes >= self._partition_bound
            if not buffer.blocked and self._bytes >= self._bound:
                buffer.blocked = True
                self._waiting_for_room[state] = None
            return buffer.blocked

    def follow(self, state: PartitionState) -> None:
        """Fetch from the partition's position if the position changed other than by returning records."""
        fetching = state.fetching
        with self._lock:
            if fetching.generation != state.generation:
                fetching.begin(state.generation, state.position)

    def locate(
        self, state: PartitionState, generation: int, position: FetchPosition, topic_id: UUID | None = None
    ) -> bool:
        """Set the position that was looked up for a partition. Returns False if a seek came first.

        Arguments:
            topic_id: id of the topic in which the position was found; None if unknown.
        """
        with self._lock:
            if not state.locate(generation, position):
                return False
            state.fetching.begin(generation, position, topic_id)
            return True

    # The caller's side ------------------------------------------------------------------------------------------------

    def take(
        self,
        max_records: int,
        max_bytes: int = NO_LIMIT,
        one_each: bool = False,
        wanted: Collection[TopicPartition] | None = None,
        max_each: int = NO_LIMIT,
    ) -> PolledBatch:
        """Take up to ``max_records`` records, usually one slice per partition, to be committed.

        An earlier batch that was not committed is rolled back first.

        Raises the broker's or the decoder's error for a partition, once everything before the error has been taken.

        Arguments:
            max_bytes: approximate size of columns to decode, in bytes.
            one_each: take at most one slice from each partition. Otherwise slices are meant to be joined, so a large
                slice is returned alone.
            wanted: take from these partitions only; None: from all.
            max_each: maximum number of records from each partition; partitions that have more are served last by the
                next call.
        """
        if self._polled.slices or self._polled.returning:
            self._polled.roll_back()
        ready = self._ready
        if self._freed or ready.passed_over or ready.served:  # an interrupt prevented this in the last call
            self._tell_freed()
            ready.give_back_aside()
        if not ready.waiting:
            return self._nothing
        polled = self._polled = PolledBatch(self._put_back)
        try:
            polled.is_being_read = True  # a signal handler that pauses a partition then leaves this batch unchanged
            told = self._fill(polled, max_records, max_bytes, one_each, wanted, max_each)
        except BaseException:
            polled.roll_back()
            if ready.at is not None:
                self._start_over(ready.at)
            raise
        finally:
            polled.is_being_read = False
            if ready.passed_over or ready.served:
                ready.give_back_aside()
        if polled.slices and not polled.count:
            polled.commit()  # only control records and gaps, with no record before them
        if told is not None:
            raise told
        if max_bytes < NO_LIMIT:
            self._ahead.offer(DECODED_BYTES)
        return polled

    def nothing(self) -> PolledBatch:
        """Return an empty batch, which is always the same one."""
        return self._nothing

    def resume(self, state: PartitionState) -> None:
        """Resume returning records from a paused partition."""
        state.paused = False
        with self._lock:
            self._ready.add(state)

    def pause(self, state: PartitionState) -> None:
        """Stop returning records from a partition until `resume`, except those already being built; keep its data."""
        state.paused = True
        if not self._polled.is_being_read:
            self._polled.withdraw(state)

    def discard(self, state: PartitionState, position: FetchPosition | None = None, reset: int | None = None) -> None:
        """Drop all data of a partition, including data in flight, because the position changes or reading has ended.

        Arguments:
            position: the new position.
            reset: the timestamp to look it up by; None: as configured.
        """
        try:
            self._go_to(state, position, reset)
        except BaseException:  # after an interrupt, start over, or old data would be returned for the new position
            self._go_to(state, position, reset)
            raise

    def close(self, states: Iterable[PartitionState]) -> None:
        """Drop all data from these partitions; their records are no longer returned."""
        for state in states:
            with self._lock:
                self._empty(state)
            self._drop()

    # Internals --------------------------------------------------------------------------------------------------------

    def _go_to(self, state: PartitionState, position: FetchPosition | None, reset: int | None) -> None:
        with self._lock:
            state.go_to(position, reset)
            self._empty(state)
            self._waiting_for_room.pop(state, None)
            self._free()
        self._polled.withdraw(state)
        self._drop()
        self._tell_freed()

    def _empty(self, state: PartitionState) -> None:
        """Remove all data of a partition; the lock is held. Call `_drop` afterwards."""
        buffer = state.buffer
        self._bytes -= buffer.nbytes
        buffer.nbytes = 0
        self._dropped += buffer.items
        buffer.clear()

    def _drop(self) -> None:
        while self._dropped:
            item = self._dropped[-1]
            if isinstance(item, PartitionResponse):
                self._ahead.abandon(item)
                if item is not self._next.opening:
                    item.drop()
            del self._dropped[-1:]

    def _fill(
        self,
        polled: PolledBatch,
        max_records: int,
        max_bytes: int,
        one_each: bool,
        wanted: Collection[TopicPartition] | None,
        max_each: int,
    ) -> Exception | None:
        """Add records to a batch. Returns a partition's error if no records are to be returned before it."""
        ahead, passed_over = max_bytes < NO_LIMIT, self._ready.passed_over
        bound, made = min(max_bytes, self._most_made), 0
        seen: set[PartitionState] = set()
        taken: dict[PartitionState, int] = {}
        if ahead:
            self._put_first_what_is_decoded()
        ready = self._ready
        while polled.count < max_records and made < bound:
            if ready.waiting:
                state = ready.next()
            else:
                state = ready.at = None
            if state is not None and (
                (wanted is not None and state.tp not in wanted)
                or state in seen
                or (self._ahead.claimed and self._next.is_awaited(state))
            ):
                passed_over.append(state)
                continue
            if state is None and passed_over and not polled.count:
                state = self._ready.take_passed_over(wanted)  # there is no other data, so wait for this partition
            if state is None:
                break
            if state.buffer.current is None:
                error = self._next.open(
                    state, min(bound - made, DECODED_BYTES), DECODED_BYTES if ahead else 0, polled.count > 0
                )
                if error is not None:
                    self._ready.give_back(state)
                    return None if polled.count else error
                made += _memory(state.buffer.current)
            before = polled.count
            self._take_slice(state, min(max_records - before, max_each - taken.get(state, 0)), polled)
            taken[state] = taken.get(state, 0) + polled.count - before
            if taken[state] >= max_each:
                self._ready.served.append(state)
            else:
                self._ready.give_back(state)
            if one_each:
                seen.add(state)
            elif ahead and polled.slices:
                bound = max_bytes // _JOINED_PART
        return None

    def _put_first_what_is_decoded(self) -> None:
        state = self._ahead.partition
        if state is not None:
            with self._lock:
                if state.buffer.queued:
                    self._ready.put_first(state)

    def _take_slice(self, state: PartitionState, most: int, polled: PolledBatch) -> None:
        generation, current = state.generation, state.buffer.current
        if current is None:
            return
        start, stop = current.start, min(current.start + most, current.count)
        count = stop - start
        ends = stop == current.count
        columns = current.columns if start == 0 and ends else current.columns.slice(start, stop)
        next_offset = current.next_offset if ends else current.columns.offsets[stop - 1] + 1
        leader_epoch = current.leader_epoch if ends else columns.leader_epoch
        polled.add(Slice(state, generation, columns, count, next_offset, leader_epoch))
        self.records_taken += count
        current.start = stop
        if self._statistics is not None and count:
            self._statistics.handed_out(state, count, next_offset)
        if ends:
            self._finish(state, current)

    def _finish(self, state: PartitionState, current: DecodedFetch) -> None:
        """Finish ``current``, because all of it was taken."""
        buffer = state.buffer
        with self._lock:
            if buffer.current is not current:
                return  # a signal handler has called seek() or pause() in the meantime
            buffer.current = None
            buffer.nbytes -= current.nbytes
            self._bytes -= current.nbytes
            if current.error is not None:
                failed = PartitionResponse(
                    state.tp, state.generation, current.next_offset, error=current.error, sticky=True
                )
                buffer.items.appendleft(failed)
            if self._waiting_for_room:
                self._free()
            if buffer.blocked and buffer.nbytes < self._partition_bound and state not in self._freed:
                self._freed += (state,)
        if self._freed:
            self._tell_freed()
        if self._statistics is not None and current.nbytes:
            self._statistics.emptied(state, current.nbytes)

    def _put_back(self, piece: Slice) -> None:
        """Put back a slice that is not returned after all. After an interrupt, this is called again."""
        state, rest = piece.state, piece.rest()
        with self._lock:
            is_new, count = state.buffer.current is not rest, rest.left
            state.buffer.put_back(rest)
            if is_new:
                self.records_taken -= count
            self._ready.put_first(state)
        if is_new and self._statistics is not None:
            self._statistics.given_back(state, count)

    def _start_over(self, state: PartitionState) -> None:
        """Fetch again from the position, after an interrupt while the partition was being decoded or taken from."""
        state.buffer.queued = False
        self.discard(state, state.position, state.reset)
        self._listener.unblocked(state)

    def _free(self) -> None:
        """Note the partitions that may be fetched again, if there is room; the lock is held.

        Call `_tell_freed` afterwards.
        """
        if self._waiting_for_room and self._bytes < self._bound:
            self._freed += self._waiting_for_room
            self._waiting_for_room = {}

    def _tell_freed(self) -> None:
        while self._freed:
            self._listener.unblocked(self._freed[-1])
            del self._freed[-1:]


def _memory(opened: DecodedFetch | None) -> int:
    """Return the size of newly decoded columns, in bytes."""
    return 0 if opened is None else opened.columns.nbytes


class ReadyQueue:
    """The order in which partitions with fetched data are returned: round-robin, but partly returned responses first.

    The loop calls `add`, with the lock held. All other methods are for the caller and acquire it.

    Arguments:
        lock: the buffer's lock.

    Attributes:
        waiting: the queue.
        at: the partition that the caller took last.
        passed_over: partitions that the caller took and put aside, until `give_back_aside`.
        served: partitions from which a call has taken the maximum number of records, until `give_back_aside`.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self.waiting: deque[PartitionState] = deque()
        self.at: PartitionState | None = None
        self.passed_over: list[PartitionState] = []
        self.served: list[PartitionState] = []

    def __iter__(self) -> Iterator[PartitionState]:
        return iter(self.waiting)

    def add(self, state: PartitionState) -> None:
        """Append a partition if it has data and is neither queued nor held by the caller."""
        buffer = state.buffer
        if not buffer.queued and not state.paused and (buffer.current is not None or buffer.items):
            buffer.queued = True
            self.waiting.append(state)

    def next(self) -> PartitionState | None:
        """Return the next partition, which the caller holds until `give_back`; responses do not queue it until then."""
        with self._lock:
            while True:
                if not self.waiting:
                    break
                state = self.at = self.waiting[0]
                del self.waiting[0]
                buffer = state.buffer
                if not state.paused and (buffer.current is not None or buffer.items):
                    return state
                buffer.queued = False
        self.at = None
        return None

    def give_back(self, state: PartitionState) -> None:
        """Return a partition to the queue after the caller has held it."""
        buffer = state.buffer
        with self._lock:
            buffer.queued = False
            if buffer.current is None and not buffer.items:
                return
            if buffer.is_begun and not state.paused:
                buffer.queued = True
                self.waiting.appendleft(state)  # a started response comes first, so that its frame can be released
            else:
                self.add(state)

    def take_passed_over(self, wanted: Collection[TopicPartition] | None) -> PartitionState | None:
        """Take the last partition in `passed_over` that is in ``wanted`` (None: any), and return it as `next` does."""
        for index in range(len(self.passed_over) - 1, -1, -1):
            if wanted is None or self.passed_over[index].tp in wanted:
                self.at = self.passed_over.pop(index)
                return self.at
        return None

    def give_back_aside(self) -> None:
        """Return the partitions in `passed_over` and `served` to the queue; the latter behind all others.

        After an interrupt, this is called again; giving a partition back twice is harmless.
        """
        while self.passed_over:
            self.give_back(self.passed_over[0])
            del self.passed_over[:1]
        with self._lock:
            waiting = set(self.waiting) if self.served else ()
        while self.served:
            with self._lock:
                self.served[0].buffer.queued = self.served[0] in waiting
                self.add(self.served[0])
            del self.served[:1]

    def put_first(self, state: PartitionState) -> None:
        """Put a partition with data before all others; the lock is held."""
        if state.paused:
            return
        if state.buffer.queued and state in self.waiting:
            self.waiting.remove(state)
        state.buffer.queued = True
        self.waiting.appendleft(state)
