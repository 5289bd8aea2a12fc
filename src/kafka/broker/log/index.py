"""A segment's sparse index: from an offset or a time to a position in the file, without reading the file."""

from array import array
from bisect import bisect_left, bisect_right


class SparseIndex:
    """One entry about every `interval` bytes, each at the start of a batch.

    An entry holds the batch's base offset, its position, and the largest timestamp of the batches before it; all three
    never decrease, so each is searched by bisection. The first entry stands at position 0.
    """

    __slots__ = ("_next_position", "earlier_timestamps", "interval", "offsets", "positions")

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.offsets = array("q")
        self.positions = array("q")
        self.earlier_timestamps = array("q")
        self._next_position = 0

    def __len__(self) -> int:
        return len(self.positions)

    def add(self, offset: int, position: int, earlier_timestamp: int) -> None:
        """Note the batch at `position` if the last entry is far enough back; `earlier_timestamp` as explained above."""
        if position >= self._next_position:
            self.offsets.append(offset)
            self.positions.append(position)
            self.earlier_timestamps.append(earlier_timestamp)
            self._next_position = position + self.interval

    def position_of(self, offset: int) -> int:
        """Where to begin to look for the batch that holds `offset`: it starts there or later."""
        entry = bisect_right(self.offsets, offset) - 1
        return self.positions[entry] if entry >= 0 else 0

    def position_of_time(self, timestamp: int) -> int:
        """Where to begin to look for the first batch with a record at or after `timestamp`."""
        entry = bisect_left(self.earlier_timestamps, timestamp) - 1
        return self.positions[entry] if entry >= 0 else 0

    def boundary_before(self, position: int) -> int:
        """The last position known to be a batch's start at or before `position`."""
        entry = bisect_right(self.positions, position) - 1
        return self.positions[entry] if entry >= 0 else 0

    def restore(self, offsets: "array[int]", positions: "array[int]", earlier_timestamps: "array[int]") -> None:
        """Take over the entries of a checkpoint."""
        self.offsets, self.positions, self.earlier_timestamps = offsets, positions, earlier_timestamps
        self._next_position = positions[-1] + self.interval if positions else 0
