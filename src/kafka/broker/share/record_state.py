"""What can become of a record in a share group, and runs of neighbouring records that are in the same state."""

from enum import IntEnum
from typing import Final


class RecordState(IntEnum):
    """The state of a record in flight, as the share coordinator's log of Apache Kafka numbers it."""

    AVAILABLE = 0
    """To be handed out, again."""
    ACQUIRED = 1
    """A member has it, and a lock that runs out."""
    ACKNOWLEDGED = 2
    """Done with."""
    ARCHIVED = 4
    """Given up: rejected, tried too often, or no record at all."""

    @property
    def is_final(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self in (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


class AckType(IntEnum):
    """What a member says about records that it has acquired."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


NOBODY: Final = ""


class Run:
    """Neighbouring offsets in one state, from `first` to `last`.

    Attributes:
        count: how often they were handed out.
        member: who has acquired them.
        deadline: when the lock runs out, in the clock's seconds.
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
        """Cut it before `offset`, which lies inside; returns the part from there on."""
        rest = Run(offset, self.last, self.state, self.count, self.member, self.deadline)
        self.last = offset - 1
        return rest

    def acquire(self, member: str, deadline: float) -> None:
        """Give it to a member."""
        self.state, self.member, self.deadline = RecordState.ACQUIRED, member, deadline
        self.count += 1

    def settle(self, state: RecordState) -> None:
        """Take it from its member."""
        self.state, self.member, self.deadline = state, NOBODY, 0.0

    def joins(self, other: "Run") -> bool:
        """Whether `other`, which follows, can be one with it."""
        return (
            self.state is other.state
            and self.state is not RecordState.ACQUIRED
            and self.last + 1 == other.first
            and (self.count == other.count or self.state.is_final)
        )


class Runs:
    """The records in flight of a share-partition: from `start`, where it goes on, to before `end`, without gaps."""

    __slots__ = ("rows", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.rows: list[Run] = []

    @property
    def end(self) -> int:
        """The first offset that was never handed out."""
        return self.rows[-1].last + 1 if self.rows else self.start

    def cut(self, first: int, last: int) -> list[Run]:
        """The runs within `first` to `last`; those that reach beyond are split."""
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
        """Move the start past what is done with, and join what can be one."""
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
        """Forget what is before `offset`: the log begins there now."""
        if offset <= self.start:
            return
        self.cut(self.start, offset - 1)
        self.rows = [run for run in self.rows if run.first >= offset]
        self.start = offset

    def copy(self) -> "Runs":
        """The same runs, in objects of their own."""
        other = Runs(self.start)
        other.rows = [Run(run.first, run.last, run.state, run.count, run.member, run.deadline) for run in self.rows]
        return other

    def kept(self) -> list[tuple[int, int, int, int]]:
        """What is kept on disk: first, last, state and count of each run that is not as if it had never been read.

        What is acquired is kept as it was before: after a start nobody has it, and it is not known to be delivered.
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
        """Take over a row that was kept; offsets between such rows are available, and were never delivered."""
        if last < self.start:
            return
        first = max(first, self.start)
        if self.end <= last:
            self.rows.append(Run(self.end, last, RecordState.AVAILABLE))
        for run in self.cut(first, last):
            run.state, run.count = state, count

    def first_available(self) -> int | None:
        """The first offset that can be handed out again."""
        return next((run.first for run in self.rows if run.state is RecordState.AVAILABLE), None)
