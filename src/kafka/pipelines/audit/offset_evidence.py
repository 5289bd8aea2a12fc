"""Compares the evidence for a range of offsets: which are faulty, and what became of the records.

`ledger` collects the evidence, and divides it into ranges. Each array here has an entry for each offset of a range.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

import numpy as np

from kafka.pipelines.audit.faults import FaultKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafka.pipelines.header_columns import Integers, Mask

    Counts = NDArray[np.int32]
    Bytes = NDArray[np.uint8]

MOST = 255
"""The largest count of an offset; larger counts are treated as this one."""


class Reader(enum.Enum):
    """Who has read an offset."""

    BATCH = "micro-batch"
    BACKFILL = "backfill to the sink of the pipeline"
    ELSEWHERE = "backfill to another sink"
    UNFINISHED = "unfinished replay or backfill"
    """The record may or may not have been processed, so it is left out of the audit."""


class Outcome(enum.IntEnum):
    """What a declaration makes of a record."""

    UNKNOWN = 0
    FILTERED = 1
    """The query processed the row and returned nothing for it."""
    OUT = 2
    """The query returned at least one row for it. For aggregating queries: the query processed the row."""
    DROPPED = 3
    DEAD = 4


@dataclasses.dataclass(slots=True)
class Balance:
    """What became of the records of a partition. Each record is counted once, except in `rows_out` and `replayed`.

    Arguments:
        records: number of records in the log.
        out: number of records that are in the sink. For aggregating queries: that the query processed.
        filtered: number of records that the query processed without a result.
        dropped: number of records that a rule dropped.
        dead: number of records whose last dead letter was not replayed.
        rows_out: number of rows in the sink.
        replayed: number of records with a dead letter that was replayed.
    """

    records: int = 0
    out: int = 0
    filtered: int = 0
    dropped: int = 0
    dead: int = 0
    rows_out: int = 0
    replayed: int = 0

    @property
    def unaccounted(self) -> int:
        """Number of records of which none of the others is true."""
        return self.records - self.out - self.filtered - self.dropped - self.dead


class Letters:
    """The dead letters of a range of offsets, as counts for each offset.

    Arguments:
        size: number of offsets.
        at: the index of each dead letter's offset, ascending.
        attempts: the attempt of each, ascending for equal offsets.
        replayed: how many replays have processed it.
    """

    def __init__(self, size: int, at: Integers, attempts: Integers, replayed: Integers) -> None:
        self.total = _counted(size, at)
        self.first = _counted(size, at[attempts <= 1])
        self.later = self.total - self.first
        replays: Counts = np.bincount(at, weights=replayed, minlength=size).astype(np.int32)
        self.replayed = np.maximum(replays, self.later)
        """How often dead letters were replayed: as far as is known, but at least once for each later attempt."""
        newest = np.zeros(size, np.int64)
        newest[at] = attempts  # the last assignment to an index counts
        self.open = np.zeros(size, np.bool_)
        """Whether the last dead letter has not been replayed."""
        self.open[at[(replayed == 0) & (attempts == newest[at])]] = True
        self.repeated = np.zeros(size, np.int32)
        """The largest number of dead letters with the same attempt."""
        if len(at):
            begins = np.flatnonzero(np.r_[True, (np.diff(at) != 0) | (np.diff(attempts) != 0)])
            sizes = np.diff(np.r_[begins, len(at)]).astype(np.int32)
            np.maximum.at(self.repeated, at[begins], sizes)


@dataclasses.dataclass(slots=True)
class BatchCounts:
    """Counts of the records in the ranges of a micro-batch.

    Arguments:
        rows: number of records in the log.
        processed, dropped, dead: number of records by outcome.
        out: number of rows that the query returns.
        found_out: number of rows in the sink, without those of records that have dead letters.
        found_dead: number of dead letters of the first attempt.
    """

    rows: int = 0
    processed: int = 0
    dropped: int = 0
    dead: int = 0
    out: int = 0
    found_out: int = 0
    found_dead: int = 0

    def add(self, other: BatchCounts) -> None:
        """Add other counts to these."""
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a range of offsets; each array has an entry for each offset."""

    log: Mask
    runs: Counts
    """How often the record was processed for the sink."""
    dead_runs: Counts
    """How often the record was processed, including backfills to another sink."""
    batches: Bytes
    sink: Counts
    codes: Bytes | None
    rows: Counts | None
    after: Bytes | None
    after_rows: Counts | None
    letters: Letters
    positions: bool
    exact: bool
    compacted: bool
    rows_each: int
    """The largest number of rows that the query returns for a record."""

    def faults(self) -> dict[FaultKind, Mask]:
        """Return which offsets have each kind of fault."""
        letters, log = self.letters, self.log
        is_dead = letters.total > 0
        found = {
            FaultKind.SKIPPED: log & (self.runs == 0) & (self.sink == 0) & ~is_dead,
            FaultKind.READ_TWICE: log & (self.batches > 1),
            FaultKind.DUPLICATED_DEAD_LETTER: letters.repeated > np.maximum(self.dead_runs, 1),
            FaultKind.MISSING_DEAD_LETTER: log & is_dead & (letters.first == 0),
        }
        if not self.compacted:
            found[FaultKind.ROW_WITHOUT_INPUT] = ~log & (self.sink > 0)
            found[FaultKind.DEAD_WITHOUT_INPUT] = ~log & is_dead
        if self.codes is not None:
            self._add_faults_of_outcomes(found, self.codes)
        if self.positions:
            self._add_faults_of_sink(found)
        return found

    def _add_faults_of_outcomes(self, found: dict[FaultKind, Mask], codes: Bytes) -> None:
        letters, log = self.letters, self.log
        is_dead, covered = letters.total > 0, self.runs > 0
        lacking = log & (codes == Outcome.DEAD) & (letters.first < self.dead_runs)
        if not self.exact:
            lacking &= (self.sink == 0) & ~is_dead
        if self.after is not None:
            lacking |= log & (self.after == Outcome.DEAD) & (self._from_replays() > 0) & ~letters.open
        found[FaultKind.MISSING_DEAD_LETTER] |= lacking
        found[FaultKind.UNACCOUNTED] = log & covered & (codes == Outcome.UNKNOWN) & (self.sink == 0) & ~is_dead
        if self.exact:
            is_known = (codes != Outcome.UNKNOWN) & (codes != Outcome.DEAD)
            in_both = letters.open & (self.sink > 0) if self.positions else np.zeros(len(log), np.bool_)
            found[FaultKind.UNEXPECTED_DEAD_LETTER] = log & covered & is_known & is_dead & ~in_both

    def _from_replays(self) -> Counts:
        """Return how many replays of an offset did not end with another dead letter."""
        found: Counts = np.maximum(self.letters.replayed - self.letters.later, 0)
        return found

    def _expected(self) -> tuple[Counts, Counts]:
        """Return the smallest and the largest correct number of rows in the sink for each offset."""
        letters = self.letters
        is_dead = letters.total > 0
        rejected = np.where(is_dead, np.maximum(letters.first, 1), 0)
        passed = np.maximum(self.runs - rejected, 0)
        if self.codes is None or self.rows is None:
            least, most, each = np.zeros_like(passed), passed, np.ones_like(passed)
        else:
            is_unknown = self.codes == Outcome.UNKNOWN
            least = passed * self.rows
            most = np.where(is_unknown, passed, least)
            if not self.exact:
                most = np.maximum(most, passed)
            each = np.maximum(self.rows, max(self.rows_each, 1))
        again = self._from_replays()
        if self.after is None or self.after_rows is None:
            return least, most + again * each
        is_known = self.after != Outcome.UNKNOWN
        more = again * np.where(is_known, self.after_rows, each)
        return least + np.where(is_known, more, 0), most + more

    def _add_faults_of_sink(self, found: dict[FaultKind, Mask]) -> None:
        least, most = (np.minimum(each, MOST) for each in self._expected())
        too_many = self.log & (self.sink > most)
        found[FaultKind.MISSING_IN_SINK] = self.log & (self.sink < least)
        found[FaultKind.DUPLICATED_IN_SINK] = too_many & (most > 0)
        found[FaultKind.IN_SINK_AND_DEAD] = too_many & (most == 0) & self.letters.open
        found[FaultKind.UNEXPECTED_IN_SINK] = too_many & (most == 0) & ~self.letters.open

    def add_to(self, total: Balance) -> None:
        """Add what became of the records to a total."""
        log, letters = self.log, self.letters
        codes = np.zeros(len(log), np.uint8) if self.codes is None else self.codes
        is_dead = letters.total > 0
        is_out = (self.sink > 0) if self.positions else (codes == Outcome.OUT) & ~is_dead
        rest = log & ~is_out & ~letters.open
        final = np.where(is_dead, Outcome.FILTERED if self.after is None else self.after, codes)
        if not self.positions:
            is_out = is_out | (rest & is_dead & (final != Outcome.DROPPED))
            rest = rest & ~is_out
        total.records += int(log.sum())
        total.out += int((log & is_out).sum())
        total.dead += int((log & ~is_out & letters.open).sum())
        total.filtered += int((rest & (final == Outcome.FILTERED)).sum())
        total.dropped += int((rest & (final == Outcome.DROPPED)).sum())
        total.rows_out += int(self.sink[log].sum())
        total.replayed += int((log & is_dead & (letters.replayed > 0)).sum())

    def counts(self) -> BatchCounts:
        """Return the counts of these records."""
        is_first = self.letters.total == 0
        found = BatchCounts(
            rows=int(self.log.sum()),
            found_out=int(self.sink[self.log & is_first].sum()),
            found_dead=int(self.letters.first[self.log].sum()),
        )
        if self.codes is not None and self.rows is not None:
            by_code = np.bincount(self.codes[self.log], minlength=len(Outcome)).tolist()
            found.processed = by_code[Outcome.OUT] + by_code[Outcome.FILTERED]
            found.dropped, found.dead = by_code[Outcome.DROPPED], by_code[Outcome.DEAD]
            found.out = int(self.rows[self.log].sum())
        return found


def _counted(size: int, at: Integers) -> Counts:
    return np.bincount(at, minlength=size).astype(np.int32)
