"""What the caller is given: slices of columns, and the promise that positions move past them only if they arrive.

A hand-out is a context manager. Whatever is raised within rolls it back: positions stay, and the same records are
handed out again. One that was neither committed nor rolled back, because an interrupt came in between, is rolled back
when the next one is made.

`HandOut.commit` is the last that is called before records are returned. CPython looks for an interrupt where a function
is entered, where a loop goes back and where a function written in C has returned: nothing of that comes between the
last step of the commit and the return, so that the caller has the records or gets them again. Where the caller is a
function written in C, such as `next`, an interrupt that comes when it returns takes the record with it.
"""

from bisect import bisect_left
from collections.abc import Callable
from types import TracebackType

from kafka.consumer.handover.fetch_position import FetchPosition
from kafka.consumer.handover.partition_state import PartitionState
from kafka.record import Columns


class Slice:
    """A run of records of one partition, handed out together.

    Arguments:
        state: the partition.
        generation: the one they were fetched under; the position moves only while it is the present one.
        columns: the records; none where there was nothing but control records and gaps.
        next_offset: the position after them.
    """

    __slots__ = ("columns", "generation", "next_offset", "state")

    def __init__(self, state: PartitionState, generation: int, columns: Columns, next_offset: int) -> None:
        self.state = state
        self.generation = generation
        self.columns = columns
        self.next_offset = next_offset

    @property
    def is_current(self) -> bool:
        """Whether no seek, revocation or other assignment came in between."""
        return self.generation == self.state.generation

    def move_position(self) -> None:
        """Move the position past these records."""
        self.state.move_past(self.generation, FetchPosition(self.next_offset, self.columns.leader_epoch))

    def unread(self) -> "Slice":
        """What of it is not behind the position."""
        position, offsets = self.state.position, self.columns.offsets
        if position is None or not len(offsets) or offsets[0] >= position.offset:
            return self
        return self.from_offset(position.offset)

    def from_offset(self, offset: int) -> "Slice":
        """What is left from ``offset`` on."""
        first = bisect_left(self.columns.offsets, offset)
        rest = self.columns.slice(first, len(self.columns))
        return Slice(self.state, self.generation, rest, self.next_offset)


class HandOut:
    """See the module. Belongs to the caller's thread.

    Arguments:
        put_back: takes slices, the last first, that are not handed out after all.

    Attributes:
        slices: in the order in which they are handed out.
        count: how many records they hold; the hand-out is true if there are any.
        on_change: called when the first slice, which a caller may be in the middle of, is taken away.
    """

    __slots__ = ("_put_back", "count", "on_change", "slices")

    def __init__(self, put_back: Callable[[Slice], None]) -> None:
        self._put_back = put_back
        self.slices: list[Slice] = []
        self.count = 0
        self.on_change: Callable[[], None] | None = None

    def __bool__(self) -> bool:
        return self.count > 0

    def __enter__(self) -> "HandOut":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.roll_back()

    @property
    def pieces(self) -> list[Slice]:
        """The slices that hold records."""
        return [piece for piece in self.slices if len(piece.columns)]

    def add(self, piece: Slice) -> None:
        """Hand this out too. Control records and gaps are read over behind what is handed out of their partition."""
        if not len(piece.columns):
            for before in reversed(self.slices):
                if before.state is piece.state:
                    before.next_offset = piece.next_offset
                    return
        self.slices.append(piece)
        self.count += len(piece.columns)

    def end_at(self, last: Slice, offset: int) -> None:
        """Give back what comes from ``offset`` of ``last`` on: it is not handed out now."""
        index = self.slices.index(last)
        kept = Slice(last.state, last.generation, last.columns, offset)
        self.slices[index : index + 1] = [kept, last.from_offset(offset)]
        self._give_back(index + 1)

    def commit(self) -> None:
        """The caller has all of it: move the positions, all or, where an interrupt comes, none; see the module."""
        before = [(piece.state, piece.generation, piece.state.position) for piece in self.slices]
        try:
            for piece in self.slices:
                piece.move_position()
        except BaseException:
            for state, generation, position in before:
                state.move_past(generation, position)
            raise
        self.slices = []

    def commit_first(self) -> None:
        """The caller has all of the first slice."""
        for piece in self.slices[:1]:
            piece.move_position()
        del self.slices[:1]

    def roll_back(self) -> None:
        """The caller has got nothing, or nothing behind the positions: it is handed out again."""
        if self.slices:
            self._give_back(0)
            self._changed()

    def withdraw(self, state: PartitionState) -> None:
        """Give back what is of one partition; what a seek has made useless is dropped."""
        if not any(piece.state is state for piece in self.slices):
            return
        is_first = self.slices[0].state is state
        others = [piece for piece in self.slices if piece.state is not state]
        self.slices[:] = [*others, *(piece for piece in self.slices if piece.state is state)]
        self._give_back(len(others))
        if is_first:
            self._changed()

    def _give_back(self, first: int) -> None:
        for taken in self.slices[: first - 1 if first else None : -1]:
            piece = taken.unread()
            if piece.is_current:
                self._put_back(piece)
            del self.slices[-1:]  # only now: an interrupt in between hands it out twice rather than never
        self.count = sum(len(piece.columns) for piece in self.slices)

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change()
