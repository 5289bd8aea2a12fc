"""The evidence for each offset in a range of a source partition, in a few bytes for each offset, and its faults.

A `Ledger` has an entry for each offset: whether the log contains a record, what the declaration makes of it (its
outcome), how often it is in the sink, and its dead letters. `Ledger.examine` compares them. An offset is in order if

- its record passed and is in the sink as often as the query returns it, or
- it has a dead letter, and each replay of that dead letter led to rows in the sink, to a dead letter with a higher
  attempt, or to nothing, as the current declaration says, or
- a rule dropped its row or the query filtered it out, and it is neither in the sink nor in the dead letters.

All arithmetic is on arrays. Counts above 255 are treated as 255.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from kafka.consumer.bounds import OffsetRange
from kafka.pipelines.audit.faults import FaultList, ranges_in
from kafka.pipelines.audit.offset_evidence import MOST, Balance, BatchCounts, Evidence, Letters, Outcome, Reader
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafka.pipelines.header_columns import Integers, Mask

    Counts = NDArray[np.int32]
    Bytes = NDArray[np.uint8]

_CHUNK = 1 << 20
"""Number of offsets that are examined at a time, because comparisons need more memory than the entries."""


class Outcomes:
    """The outcome of each offset, and how many rows the query returns for it."""

    def __init__(self, size: int) -> None:
        self.codes: Bytes = np.zeros(size, np.uint8)
        self.rows: Bytes = np.zeros(size, np.uint8)
        self.largest = 0
        """The largest number in `rows`."""

    def add(self, at: Integers, codes: Bytes) -> None:
        """Add outcomes. A record of which the query returns several rows is added once for each, or once in total."""
        self.codes[at] = codes
        out = at[codes == Outcome.OUT]
        _count(self.rows, out)
        self.largest = max(self.largest, int(self.rows[out].max(initial=0)))


class Ledger:
    """The evidence for the offsets from `start` to `end` (exclusive) of a partition.

    Arguments:
        partition: the partition of the source.
        start, end: the offsets.
        positions: whether rows in the sink have positions, as those of row-by-row queries.
        exact: whether the outcomes are those of the declaration with which the records were processed. Otherwise, a
            record may be in the sink or in the dead letters although the outcome says otherwise.
        compacted: whether the log is compacted, so that a processed record may be gone.
        stream: the offsets that the stream had to read; None for all. Others count only if a backfill has read them.
    """

    def __init__(
        self,
        partition: TopicPartition,
        start: int,
        end: int,
        *,
        positions: bool = True,
        exact: bool = True,
        compacted: bool = False,
        stream: OffsetRange | None = None,
    ) -> None:
        self.partition = partition
        self.start = start
        self.end = end
        self._positions = positions
        self._exact = exact
        self._compacted = compacted
        self._stream = OffsetRange(start, end) if stream is None else stream
        size = end - start
        self._log: Mask = np.zeros(size, np.bool_)
        self._read: dict[Reader, Bytes] = {by: np.zeros(size, np.uint8) for by in Reader}
        self._sink: Bytes = np.zeros(size, np.uint8)
        self._outcomes: Outcomes | None = None
        self._after: Outcomes | None = None
        self._letters: list[tuple[Integers, Integers, Integers]] = []
        self._sorted: tuple[Integers, Integers, Integers] | None = None

    def cover(self, start: int, end: int, by: Reader) -> None:
        """Note who has read these offsets."""
        counts = self._read[by]
        part = slice(max(start - self.start, 0), max(min(end, self.end) - self.start, 0))
        np.add(counts[part], 1, out=counts[part], where=counts[part] < MOST)

    def add_log(self, offsets: Integers) -> None:
        """Add offsets of records in the log."""
        self._log[self._within(offsets)[0]] = True

    def add_sink(self, offsets: Integers) -> None:
        """Add the positions of rows in the sink."""
        _count(self._sink, self._within(offsets)[0])

    def add_outcomes(self, offsets: Integers, codes: Bytes, *, replay: bool = False) -> None:
        """Add outcomes.

        Arguments:
            offsets: the offsets of records.
            codes: the `Outcome` of each.
            replay: whether these are the outcomes with the declaration of the replays.
        """
        at, is_within = self._within(offsets)
        if replay:
            self._after = self._after or Outcomes(self.end - self.start)
            self._after.add(at, codes[is_within])
        else:
            self.evaluated().add(at, codes[is_within])

    def evaluated(self) -> Outcomes:
        """Return the outcomes; from the first call on, a record without an outcome is a fault."""
        self._outcomes = self._outcomes or Outcomes(self.end - self.start)
        return self._outcomes

    def add_dead(self, offsets: Integers, attempts: Integers, replayed: Integers) -> None:
        """Add dead letters.

        Arguments:
            offsets: the positions of their input records.
            attempts: the attempt of each.
            replayed: how many replays have processed each; -1 if that is unknown: the record is left out then.
        """
        at, is_within = self._within(offsets)
        if len(at):
            replays = replayed[is_within]
            self._read[Reader.UNFINISHED][at[replays < 0]] = 1
            self._letters.append((at, attempts[is_within], np.maximum(replays, 0)))
            self._sorted = None

    def _within(self, offsets: Integers) -> tuple[Integers, Mask]:
        is_within = (offsets >= self.start) & (offsets < self.end)
        return offsets[is_within] - self.start, is_within

    def examine(self, faults: FaultList) -> Balance:
        """Add the faults of all offsets to a list, and return what became of the records."""
        total = Balance()
        for part in self._chunks(0, self.end - self.start):
            evidence = self._evidence(part)
            for kind, mask in evidence.faults().items():
                faults.add(kind, self.partition, ranges_in(mask, self.start + part.start))
            evidence.add_to(total)
        return total

    def counted(self, start: int, end: int) -> BatchCounts:
        """Return the counts of the records in a range of offsets, to be compared with those of a micro-batch."""
        total = BatchCounts()
        for part in self._chunks(max(start - self.start, 0), min(end, self.end) - self.start):
            total.add(self._evidence(part, with_unfinished=True).counts())
        return total

    def _chunks(self, first: int, last: int) -> Iterator[slice]:
        return (slice(at, min(at + _CHUNK, last)) for at in range(first, last, _CHUNK))

    def _evidence(self, part: slice, with_unfinished: bool = False) -> Evidence:
        if self._sorted is None:
            self._sorted = _by_offset(self._letters)
            self._letters = [self._sorted]
        at, attempts, replayed = self._sorted
        mine = slice(*np.searchsorted(at, (part.start, part.stop)).tolist())
        batches = self._read[Reader.BATCH][part]
        runs = np.minimum(batches, 1).astype(np.int32) + self._read[Reader.BACKFILL][part]
        counts = (runs > 0) | self._is_of_stream(part)
        if not with_unfinished:
            counts &= self._read[Reader.UNFINISHED][part] == 0
        at, attempts, replayed = at[mine] - part.start, attempts[mine], replayed[mine]
        kept = counts[at]
        return Evidence(
            log=self._log[part] & counts,
            runs=runs,
            dead_runs=runs + self._read[Reader.ELSEWHERE][part],
            batches=batches,
            sink=np.where(counts, self._sink[part], 0).astype(np.int32),
            codes=None if self._outcomes is None else self._outcomes.codes[part],
            rows=None if self._outcomes is None else self._outcomes.rows[part].astype(np.int32),
            after=None if self._after is None else self._after.codes[part],
            after_rows=None if self._after is None else self._after.rows[part].astype(np.int32),
            letters=Letters(part.stop - part.start, at[kept], attempts[kept], replayed[kept]),
            positions=self._positions,
            exact=self._exact,
            compacted=self._compacted,
            rows_each=0 if self._outcomes is None else self._outcomes.largest,
        )

    def _is_of_stream(self, part: slice) -> Mask:
        offsets = np.arange(self.start + part.start, self.start + part.stop)
        found: Mask = (offsets >= self._stream.start) & (offsets < self._stream.end)
        return found


def _count(counts: Bytes, at: Integers) -> None:
    """Count indexes, up to 255 for each."""
    found, numbers = np.unique(at, return_counts=True)
    counts[found] = np.minimum(counts[found] + numbers, MOST).astype(np.uint8)


def _by_offset(letters: list[tuple[Integers, Integers, Integers]]) -> tuple[Integers, Integers, Integers]:
    """Return all dead letters, sorted by offset and attempt."""
    if not letters:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    at, attempts, replayed = (np.concatenate(each) for each in zip(*letters, strict=True))
    order = np.lexsort((attempts, at))
    return at[order], attempts[order], replayed[order]
