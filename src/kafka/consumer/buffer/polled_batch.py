"""The result of one call: slices of columns. Positions move past them only if the caller receives them.

A polled batch is a context manager. An exception within its block rolls it back: positions stay, and the same records
are returned again. If an interrupt prevents both commit and rollback, the next batch rolls it back.

`PolledBatch.commit` moves the positions while no other thread may poll. If an interrupt comes between that and the
return to the caller, `PolledBatch.undo` moves them back: the caller has the records, or gets them again. CPython checks
for an interrupt at the start of a function, at a backward jump in a loop, and after a call to a C function, but not at
a plain return. If the caller is itself written in C, such as `next`, an interrupt that comes as it returns loses that
record.

Putting slices back may be interrupted, too. `PolledBatch.settle` continues from there, and puts nothing back twice.
"""

from bisect import bisect_left
from collections.abc import Callable
from types import TracebackType

from kafka.consumer.buffer.partition_response import DecodedFetch
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState, new_position
from kafka.record import Columns


class Slice:
    """A run of records from one partition, returned together.

    Arguments:
        state: the partition.
        generation: the generation under which the records were fetched; the position moves only while it is current.
        columns: the records; empty if there were only control records and gaps.
        count: the number of records.
        next_offset: the position after the records.
        leader_epoch: the epoch of the last batch before ``next_offset``; -1 if unknown.
    """

    __slots__ = ("_rest", "columns", "count", "generation", "leader_epoch", "next_offset", "state")

    def __init__(
        self,
        state: PartitionState,
        generation: int,
        columns: Columns,
        count: int,
        next_offset: int,
        leader_epoch: int,
    ) -> None:
        self.state = state
        self.generation = generation
        self.columns = columns
        self.count = count
        self.next_offset = next_offset
        self.leader_epoch = leader_epoch
        self._rest: DecodedFetch | None = None

    @property
    def is_current(self) -> bool:
        """Whether there has been no seek, revocation or reassignment since the fetch."""
        return self.generation == self.state.generation

    def move_position(self) -> None:
        """Move the position past these records."""
        self.state.move_past(self.generation, FetchPosition(self.next_offset, self.leader_epoch))

    def unread(self) -> "Slice":
        """Return the records that the position has not moved past."""
        position, offsets = self.state.position, self.columns.offsets
        if position is None or not len(offsets) or offsets[0] >= position.offset:
            return self
        return self.from_offset(position.offset)

    def rest(self) -> DecodedFetch:
        """Return `unread` as an object to put back; it is always the same one, so that a repeated call is detected."""
        if self._rest is None:
            unread = self.unread()
            self._rest = DecodedFetch(unread.columns, unread.next_offset, unread.leader_epoch, 0)
        return self._rest

    def up_to(self, offset: int) -> "Slice":
        """Return the records before ``offset``."""
        first = bisect_left(self.columns.offsets, offset)
        columns = self.columns.slice(0, first)
        return Slice(self.state, self.generation, columns, first, offset, columns.leader_epoch)

    def from_offset(self, offset: int) -> "Slice":
        """Return the records from ``offset`` on."""
        first = bisect_left(self.columns.offsets, offset)
        rest = self.columns.slice(first, self.count)
        return Slice(self.state, self.generation, rest, self.count - first, self.next_offset, self.leader_epoch)


class PolledBatch:
    """The slices that one call returns; see the module. Used in the caller's thread.

    Arguments:
        put_back: called with each slice that is not returned after all, in reverse order. If an interrupt comes before
            the function returns, it is called again with the same slice.

    Attributes:
        slices: the slices, in the order in which they are returned.
        count: the number of records in the slices; a batch with records is true.
        is_being_read: whether the block in which the caller's records are built is active.
        returning: the slices that are being put back.
        before_commit: the slices and positions that `undo` restores. Code that returns records without an interrupt
            sets it to None, which releases the columns.
        on_change: called before the first slice, which a caller may be reading, is removed.
    """

    __slots__ = ("_put_back", "before_commit", "count", "is_being_read", "on_change", "returning", "slices")

    def __init__(self, put_back: Callable[[Slice], None]) -> None:
        self._put_back = put_back
        self.returning: list[Slice] = []
        self.slices: list[Slice] = []
        self.count = 0
        self.is_being_read = False
        self.before_commit: tuple[list[Slice], list[FetchPosition | None]] | None = None
        self.on_change: Callable[[], None] | None = None

    def __bool__(self) -> bool:
        return self.count > 0

    def __enter__(self) -> "PolledBatch":
        self.is_being_read = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_being_read = False
        if kind is not None:
            self.roll_back()

    @property
    def pieces(self) -> list[Slice]:
        """The slices that contain records."""
        return [piece for piece in self.slices if piece.count]

    def add(self, piece: Slice) -> None:
        """Add a slice. Control records and gaps extend the previous slice of their partition."""
        if not piece.count:
            for before in reversed(self.slices):
                if before.state is piece.state:
                    before.next_offset, before.leader_epoch = piece.next_offset, piece.leader_epoch
                    return
        self.slices.append(piece)
        self.count += piece.count

    def end_at(self, last: Slice, offset: int) -> None:
        """End the batch at ``offset`` in the slice ``last``, and put back all records from there on."""
        index = self.slices.index(last)
        unwanted = [last.from_offset(offset), *self.slices[index + 1 :]]
        self.slices[index:] = [last.up_to(offset), *unwanted]
        self._give_back(unwanted)

    def commit(self) -> None:
        """Move the positions past all slices; an interrupt leaves all of them unchanged. See the module."""
        slices = self.slices
        if not slices:
            return
        if len(slices) == 1:  # a single position cannot be moved in part
            piece = slices[0]
            before = [piece.state.position]
            piece.state.move_past(piece.generation, new_position((piece.next_offset, piece.leader_epoch)))
        else:
            before = [piece.state.position for piece in slices]
            try:
                for piece in slices:
                    piece.move_position()
            except BaseException:
                _move_back(slices, before)
                raise
        self.before_commit, self.slices = (slices, before), []

    def undo(self) -> None:
        """Undo a commit, if there was one, because the caller did not receive the records."""
        if self.before_commit is not None:
            self.slices, before = self.before_commit
            _move_back(self.slices, before)
            self.before_commit = None

    def commit_first(self) -> None:
        """Move the position past the first slice, which the caller has received completely."""
        for piece in self.slices[:1]:
            piece.move_position()
        del self.slices[:1]

    def roll_back(self) -> None:
        """Put back all records after the current positions; the caller never received them."""
        self.settle()
        if self.slices:
            self._give_back(list(self.slices))

    def withdraw(self, state: PartitionState) -> None:
        """Put back the slices of one partition; outdated ones are dropped."""
        self.settle()
        unwanted = [piece for piece in self.slices if piece.state is state]
        if unwanted:
            self._give_back(unwanted)

    def _give_back(self, pieces: list[Slice]) -> None:
        self.returning = pieces
        self.settle()

    def settle(self) -> None:
        """Finish putting slices back after an interrupt. Each step may be repeated."""
        if not self.returning:
            return
        returning = set(self.returning)
        if self.on_change is not None and self.slices and self.slices[0] in returning:
            self.on_change()
        self.slices = [piece for piece in self.slices if piece not in returning]
        self.count = sum(piece.count for piece in self.slices)
        while self.returning:
            piece = self.returning[-1]
            if piece.is_current:
                self._put_back(piece)
            del self.returning[-1:]


def _move_back(slices: list[Slice], positions: list[FetchPosition | None]) -> None:
    for piece, position in zip(slices, positions, strict=True):
        piece.state.move_past(piece.generation, position)
