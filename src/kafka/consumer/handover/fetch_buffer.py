"""The buffer between the loop, which fetches, and the caller, who decodes and takes.

The loop puts a partition's answer in and goes on fetching while the bounds allow it; the caller takes slices without a
hop to the loop. One lock, held for a few operations a batch, never while decoding.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable

from kafka.config import FetchOptions
from kafka.consumer.handover.decode_ahead import DecodeAhead
from kafka.consumer.handover.fetched import DecodedFetch, Fetched, Slice
from kafka.consumer.handover.partition_state import PartitionState
from kafka.errors import OffsetOutOfRangeError

NO_LIMIT = 2**62
"""More records, or bytes, than there can be."""

_PARTITION_FETCHES = 1.5
"""How much of a partition may lie here before it is fetched no further, in full answers: one is handed out while the
next is here or on its way. Answers are rarely full to the last byte, so two of them have to count as enough."""

DECODED_BYTES = 8 * 1024 * 1024
"""How many bytes of columns are made of one partition's answer at a time, however well it was compressed."""

_JOINED_PART = 8
"""Records of several partitions are taken together up to one part in so many of what one may give: joining copies."""


class FetchBuffer:
    """See the module.

    Arguments:
        options: sizes in bytes, how to decode.
        unblocked: called, in the caller's thread, with a partition that may be fetched again.
        out_of_range: called, in the caller's thread, with a partition whose position the broker does not have (any
            more) where there is a reset policy.
    """

    def __init__(
        self,
        options: FetchOptions,
        unblocked: Callable[[PartitionState], None],
        out_of_range: Callable[[PartitionState], None],
    ) -> None:
        self._check_crcs = options.check_crcs
        self._read_committed = options.isolation_level == "read_committed"
        self._resets = options.auto_offset_reset != "none"
        self._partition_bound = max(1, int(_PARTITION_FETCHES * options.max_partition_fetch_bytes))
        self._bound = max(self._partition_bound, options.fetch_max_bytes)
        self._unblocked = unblocked
        self._out_of_range = out_of_range
        self._lock = threading.Lock()
        self._ready: deque[PartitionState] = deque()
        self._bytes = 0
        self._held_up: dict[PartitionState, None] = {}
        self._aid = DecodeAhead(self._check_crcs, self._read_committed, self._ready, self._lock)
        self.records_taken = 0

    @property
    def nbytes(self) -> int:
        """Bytes fetched and not handed out yet."""
        return self._bytes

    # The loop's side --------------------------------------------------------------------------------------------------

    def put(self, item: Fetched) -> bool:
        """Take in an answer; False if a seek or a rebalance has made it useless."""
        state = item.state
        with self._lock:
            if item.generation == state.generation:
                state.items.append(item)
                state.buffered_bytes += item.nbytes
                self._bytes += item.nbytes
                self._make_ready(state)
                return True
        item.drop()
        return False

    def is_full(self, state: PartitionState) -> bool:
        """Whether a partition has to wait for the caller; ``unblocked`` is called when it need not any more."""
        with self._lock:
            state.blocked = state.buffered_bytes >= self._partition_bound
            if not state.blocked and self._bytes >= self._bound:
                state.blocked = True
                self._held_up[state] = None
            return state.blocked

    def follow(self, state: PartitionState) -> None:
        """Fetch from the position, if it has been changed by other means than taking."""
        with self._lock:
            if state.fetch_generation != state.generation:
                state.fetch_generation, state.fetch_offset = state.generation, state.position

    def locate(self, state: PartitionState, generation: int, position: int) -> bool:
        """Take the position that has been found for a partition; False if a seek was quicker."""
        with self._lock:
            if state.generation != generation or state.position is not None:
                return False
            state.position, state.reset = position, None
            state.fetch_generation, state.fetch_offset = generation, position
            return True

    # The caller's side ------------------------------------------------------------------------------------------------

    def take(self, max_records: int, max_bytes: int = NO_LIMIT, one_each: bool = False) -> list[Slice]:
        """Up to ``max_records`` records, a slice a partition mostly; positions are left where they are.

        Raises what the broker or the decoder had to say about a partition, once what comes before has been taken.

        Arguments:
            max_bytes: about how many bytes of columns to make, if they have to be made.
            one_each: at most one slice of each partition. Without it slices are meant to be joined, so that a large one
                stands alone.
        """
        taken: list[Slice] = []
        aside: list[PartitionState] = []
        seen: set[PartitionState] = set()
        left, made, bound = max_records, 0, max_bytes
        aided = max_bytes < NO_LIMIT
        if aided:
            self._put_first_what_is_done()
        try:
            while left > 0 and made < bound:
                state = self._next_ready()
                if state is not None and (state in seen or self._is_being_decoded(state)):
                    aside.append(state)
                    continue
                if state is None and aside and not taken:
                    state = aside.pop()  # there is nothing else: wait for the aid
                if state is None:
                    break
                try:
                    if state.current is None:
                        if not self._open_next(state, taken, min(bound - made, DECODED_BYTES), aided):
                            break
                        made += _memory(state.current)
                    left -= self._take_slice(state, left, taken)
                finally:
                    self._requeue(state)
                if one_each:
                    seen.add(state)
                elif aided and taken:
                    bound = max_bytes // _JOINED_PART
        finally:
            for state in aside:
                self._requeue(state)
        if aided:
            self._aid.offer(DECODED_BYTES)
        self.records_taken += max_records - left
        return taken

    def unread(self, slices: Iterable[Slice]) -> None:
        """Put back, in their order, slices that have been taken and not used."""
        for piece in reversed(list(slices)):
            state = piece.state
            if not piece.is_current:
                continue
            with self._lock:
                if state.current is not None:
                    state.items.appendleft(state.current)
                state.current = DecodedFetch(piece.columns, piece.next_offset, 0)
                self._make_ready(state)

    def resume(self, state: PartitionState) -> None:
        """Hand out again what a pause held back."""
        with self._lock:
            self._make_ready(state)

    def discard(self, state: PartitionState, position: int | None = None, reset: int | None = None) -> None:
        """Drop all of a partition, and what is on its way: it is read from elsewhere, or not at all.

        Arguments:
            position: where it is read from.
            reset: the timestamp to look that up by; None: as configured.
        """
        with self._lock:
            state.generation += 1
            state.position, state.reset = position, reset
            items = list(state.items)
            state.items.clear()
            state.current = None
            self._bytes -= state.buffered_bytes
            state.buffered_bytes = 0
            state.blocked = False
            self._held_up.pop(state, None)
            freed = self._freed()
        for item in items:
            if isinstance(item, Fetched):
                self._aid.abandon(item)
                item.drop()
        for other in freed:
            self._unblocked(other)

    # Inside -----------------------------------------------------------------------------------------------------------

    def _make_ready(self, state: PartitionState) -> None:
        if not state.queued and not state.paused and (state.items or state.current is not None):
            state.queued = True
            self._ready.append(state)

    def _next_ready(self) -> PartitionState | None:
        """The next partition, which is in the caller's hands until `_requeue`: an answer does not put it back."""
        with self._lock:
            while self._ready:
                state = self._ready.popleft()
                if not state.paused and (state.current is not None or state.items):
                    return state
                state.queued = False
        return None

    def _requeue(self, state: PartitionState) -> None:
        with self._lock:
            state.queued = False
            begun = state.items and isinstance(state.items[0], Fetched) and state.items[0].is_begun
            if (state.current is not None or begun) and not state.paused:
                state.queued = True
                self._ready.appendleft(state)  # what has been begun is handed out first: its frame can go
            else:
                self._make_ready(state)

    def _is_being_decoded(self, state: PartitionState) -> bool:
        """Whether what comes next of a partition is in the hands of the aid, which has no part of it ready."""
        return state.current is None and self._aid.has(state.items[0]) and not self._aid.is_ready(state.items[0])

    def _put_first_what_is_done(self) -> None:
        state = self._aid.partition
        if state is not None:
            with self._lock:
                if state.queued:
                    self._ready.remove(state)
                    self._ready.appendleft(state)

    def _open_next(self, state: PartitionState, taken: list[Slice], max_bytes: int, aided: bool) -> bool:
        """Make of the next item the current one; False if its error has to wait until ``taken`` has been handed out."""
        item = state.items[0]  # only the caller's side takes items away
        if isinstance(item, Fetched) and item.error is None:
            if self._aid.has(item):
                state.current = self._aid.take(item)
            else:
                if aided and item.packed_bytes:
                    self._aid.offer(DECODED_BYTES)
                state.current = item.decode(self._check_crcs, self._read_committed, max_bytes)
            if not item.is_decoded:
                return True
        elif isinstance(item, Fetched) and taken:
            return False
        with self._lock:
            state.items.popleft()
        if isinstance(item, DecodedFetch):
            state.current = item
        elif item.error is not None:
            self._raise_error(state, item, item.error)
        return True

    def _raise_error(self, state: PartitionState, item: Fetched, error: Exception) -> None:
        """Raise what the broker said about a partition, unless there is a policy for it."""
        if self._resets and isinstance(error, OffsetOutOfRangeError):
            self._out_of_range(state)
            return
        if item.sticky:
            with self._lock:
                state.items.appendleft(item)
        raise error

    def _take_slice(self, state: PartitionState, most: int, taken: list[Slice]) -> int:
        current = state.current
        if current is None:
            return 0
        count = min(most, current.left)
        start, stop = current.start, current.start + count
        ends = stop == len(current.columns)
        next_offset = current.next_offset if ends else current.columns.offsets[stop - 1] + 1
        if count:
            whole = start == 0 and ends
            columns = current.columns if whole else current.columns.slice(start, stop)
            taken.append(Slice(state, state.generation, columns, next_offset))
        elif taken and taken[-1].state is state:
            taken[-1].next_offset = next_offset  # nothing but control records and gaps: read over together
        else:
            state.position = next_offset
        current.start = stop
        if ends:
            self._finish(state, current)
        return count

    def _finish(self, state: PartitionState, current: DecodedFetch) -> None:
        """All of ``current`` has been handed out."""
        with self._lock:
            state.current = None
            state.buffered_bytes -= current.nbytes
            self._bytes -= current.nbytes
            if current.error is not None:
                failed = Fetched(state, state.generation, current.next_offset, error=current.error, sticky=True)
                state.items.appendleft(failed)
            freed = self._freed()
            if state.blocked and state.buffered_bytes < self._partition_bound and state not in freed:
                freed.append(state)
        for other in freed:
            self._unblocked(other)

    def _freed(self) -> list[PartitionState]:
        if not self._held_up or self._bytes >= self._bound:
            return []
        freed = list(self._held_up)
        self._held_up.clear()
        return freed


def _memory(opened: DecodedFetch | None) -> int:
    """How many bytes the columns take that have just been made."""
    return 0 if opened is None else opened.columns.nbytes
