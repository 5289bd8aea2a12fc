"""The states of records in a share group, and runs of consecutive records in the same state."""

from enum import IntEnum
from typing import Final


class RecordState(IntEnum):
    """The state of a record in flight. The values are those of Kafka's share coordinator log."""

    AVAILABLE = 0
    """The record can be delivered, possibly again."""
    ACQUIRED = 1
    """A member has locked the record until the lock expires."""
    ACKNOWLEDGED = 2
    """A member has processed the record."""
    ARCHIVED = 4
    """The record is not delivered again: it was rejected or delivered too often, or the offset contains no record."""

    @property
    def is_final(self) -> bool:
        """Whether the state cannot change anymore."""
        return self in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


class AckType(IntEnum):
    """The type of an acknowledgement."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


NOBODY: Final = ""


class Run:
    """A run of consecutive offsets in the same state, from `first` to `last`.

    Attributes:
        count: number of deliveries.
        member: the member that has acquired the records.
        deadline: when the lock expires, in seconds on the broker's clock.
    """

    __slots__ = ("count", "deadline", "first", "last", "member", "state")

    def __init__(
        self, first: int, last: int, state: RecordState, count: int = 0, member: str = NOBODY, deadline: float = 0.0
    ) -> None:
        self.first = first
        self.last = last
        self.state = state
        self.count = count
        self.member = member
        self.deadline = deadline

    def __repr__(self) -> str:
        return f"<Run {self.first}..{self.last} {self.state.name} x{self.count} {self.member}>"

    def split(self, offset: int) -> "Run":
        """Split the run before `offset`, which must be inside the run; return the second part."""
        rest = Run(offset, self.last, self.state, self.count, self.member, self.deadline)
        self.last = offset - 1
        return rest

    def acquire(self, member: str, deadline: float) -> None:
        """Lock the records for a member."""
        self.state, self.member, self.deadline = RecordState.ACQUIRED, member, deadline
        self.count += 1

    def settle(self, state: RecordState) -> None:
        """Release the member's lock and set the state."""
        self.state, self.member, self.deadline = state, NOBODY, 0.0

    def joins(self, other: "Run") -> bool:
        """Return whether the run can be merged with `other`, the run that follows it."""
        return (
            self.state is other.state
            and self.state is not RecordState.ACQUIRED
            and self.last + 1 == other.first
            and (self.count == other.count or self.state.is_final)
        )


class Runs:
    """The records in flight in a share-partition: runs without gaps from offset `start` up to (excluding) `end`."""

    __slots__ = ("rows", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.rows: list[Run] = []

    @property
    def end(self) -> int:
        """The first offset that has never been delivered."""
        return self.rows[-1].last + 1 if self.rows else self.start

    def cut(self, first: int, last: int) -> list[Run]:
        """Return the runs from `first` to `last`, splitting those that extend beyond this range."""
        found = []
        at = 0
        while at < len(self.rows):
            run = self.rows[at]
            if run.first > last:
                break
            if run.last >= first:
                if run.first < first:
                    self.rows.insert(at + 1, run.split(first))
                    at += 1
                    run = self.rows[at]
                if run.last > last:
                    self.rows.insert(at + 1, run.split(last + 1))
                found.append(run)
            at += 1
        return found

    def advance(self) -> None:
        """Move the start past records in a final state, and merge adjacent runs."""
        done = 0
        for run in self.rows:
            if not run.state.is_final:
                break
            self.start = run.last + 1
            done += 1
        del self.rows[:done]
        joined: list[Run] = []
        for run in self.rows:
            if joined and joined[-1].joins(run):
                joined[-1].last = run.last
            else:
                joined.append(run)
        self.rows = joined

    def drop_before(self, offset: int) -> None:
        """Drop all records before `offset`, the log's new start."""
        if offset <= self.start:
            return
        self.cut(self.start, offset - 1)
        self.rows = [run for run in self.rows if run.first >= offset]
        self.start = offset

    def copy(self) -> "Runs":
        """Return a deep copy of the runs."""
        other = Runs(self.start)
        other.rows = [Run(run.first, run.last, run.state, run.count, run.member, run.deadline) for run in self.rows]
        return other

    def kept(self) -> list[tuple[int, int, int, int]]:
        """Return the rows to store: first, last, state and count of each run that is not in its initial state.

        Acquired records are stored in their previous state: after a restart no member holds them, and it is unknown
        whether they were delivered.
        """
        rows = []
        for run in self.rows:
            if run.state is RecordState.ACQUIRED:
                row = (run.first, run.last, int(RecordState.AVAILABLE), run.count - 1)
            else:
                row = (run.first, run.last, int(run.state), run.count)
            if row[2:] != (0, 0):
                rows.append(row)
        return rows

    def paint(self, first: int, last: int, state: RecordState, count: int) -> None:
        """Apply a stored row. Offsets between rows are available and have never been delivered."""
        if last < self.start:
            return
        first = max(first, self.start)
        if self.end <= last:
            self.rows.append(Run(self.end, last, RecordState.AVAILABLE))
        for run in self.cut(first, last):
            run.state, run.count = state, count

    def first_available(self) -> int | None:
        """Return the first offset that is available, or None."""
        return next((run.first for run in self.rows if run.state is RecordState.AVAILABLE), None)
