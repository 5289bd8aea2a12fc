"""A share-partition: one partition as read by one share group. It delivers records and applies acknowledgements.

Counterpart: Kafka's class SharePartition.
"""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from kafka.broker.clock import Clock, Timer
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import PartitionLog
from kafka.broker.log.segment import AbortedTransaction
from kafka.broker.share.record_state import AckType, RecordState, Run, Runs
from kafka.broker.share.share_journal import Key
from kafka.record import BatchHeader, batch_headers

log = logging.getLogger(__name__)

_AVAILABLE, _ACQUIRED, _ARCHIVED = RecordState.AVAILABLE, RecordState.ACQUIRED, RecordState.ARCHIVED
_SETTLED: Final = {
    AckType.GAP: _ARCHIVED,
    AckType.ACCEPT: RecordState.ACKNOWLEDGED,
    AckType.RELEASE: _AVAILABLE,
    AckType.REJECT: _ARCHIVED,
}


class Limits(NamedTuple):
    """The delivery limits from a group's configs."""

    lock_s: float
    deliveries: int
    records: int
    committed_only: bool
    renewable: bool = True


class AcquireRequest(NamedTuple):
    """A member's request: the member's id, the record limit, the batch size, and whether the limit is strict."""

    member: str
    max_records: int
    batch_size: int
    strict: bool


class Acknowledged(NamedTuple):
    """A member's acknowledgement of a range of records: one type for all of them, or one type per record."""

    first: int
    last: int
    types: Sequence[int]


class Acquired(NamedTuple):
    """Whole batches from the log, and the ranges of acquired records in them: first, last, and number of deliveries."""

    records: bytes
    ranges: list[tuple[int, int, int]]


NOTHING: Final = Acquired(b"", [])


class SharePartitionListener(Protocol):
    """The coordinator of share-partitions."""

    def limits(self, group_id: str) -> Limits:
        """Return the group's current limits."""

    def store(self, key: Key, start: int, changed: Sequence[tuple[int, int, int, int]]) -> None:
        """Store the start offset, and the first, last, state and count of each changed run. Raises OSError."""

    def records_available(self) -> None:
        """Notify the waiting requests that released records are available again."""


class SharePartition:
    """A share-partition and its records in flight."""

    def __init__(
        self,
        log: PartitionLog,
        runs: Runs,
        clock: Clock,
        key: Key,
        listener: SharePartitionListener,
    ) -> None:
        self.log = log
        self.runs = runs
        self._clock = clock
        self._key = key
        self._listener = listener
        self._written, self._written_start = set(runs.kept()), runs.start
        self._timer: Timer | None = None
        self._timer_at = 0.0

    def close(self) -> None:
        """Stop the timer for lock expiration."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- acquiring records --------------------------------------------------------------------------------------------

    def acquire(self, wanted: AcquireRequest, max_bytes: int, at_least_one: bool = True) -> Acquired:
        """Acquire records for a member, starting at the first available one; raises `RequestFailed` or OSError."""
        limits, runs = self._listener.limits(self._key[0]), self.runs
        runs.drop_before(min(self.log.start_offset, self.log.end_offset))
        again = runs.first_available()
        room = limits.records - (runs.end - runs.start)
        position = runs.end if again is None else again
        if position >= self.log.end_offset or (again is None and room <= 0):
            return NOTHING
        aborted: list[AbortedTransaction] = []
        if limits.committed_only:
            data, aborted = self.log.read_committed(position, max_bytes, at_least_one)
        else:
            data = self.log.read(position, max_bytes, at_least_one)
        batches = list(batch_headers(data))
        if not batches:
            return NOTHING
        with self._changing():
            taken = self._take_again(wanted, batches[-1].last_offset)
            left = wanted.max_records - sum(run.last - run.first + 1 for run in taken)
            if left > 0 and room > 0:
                taken += self._take_new(wanted, batches, min(left, room), aborted)
            deadline = self._clock.time() + limits.lock_s
            for run in taken:
                run.acquire(wanted.member, deadline)
            ranges = [(run.first, run.last, run.count) for run in taken]
        return Acquired(_cut(data, batches, ranges), ranges) if ranges else NOTHING

    def bytes_at_hand(self, max_bytes: int) -> int:
        """Return the total size of the available batches in bytes, up to a limit; raises `RequestFailed`."""
        again = self.runs.first_available()
        position = max(self.runs.end if again is None else again, self.log.start_offset)
        return len(self.log.read(position, max_bytes)) if position < self.log.end_offset else 0

    def _take_again(self, wanted: AcquireRequest, last: int) -> list[Run]:
        """Acquire previously delivered runs up to `last` that are available again, within the record limit."""
        taken: list[Run] = []
        left = wanted.max_records
        for run in list(self.runs.rows):
            if left <= 0 or run.first > last:
                break
            if run.state is not _AVAILABLE:
                continue
            end = min(run.last, last)
            if wanted.strict:
                end = min(end, run.first + left - 1)
            [part] = self.runs.cut(run.first, end)
            taken.append(part)
            left -= part.last - part.first + 1
        return taken

    def _take_new(
        self, wanted: AcquireRequest, batches: list[BatchHeader], left: int, aborted: Sequence[AbortedTransaction]
    ) -> list[Run]:
        """Acquire runs from batches that have not been delivered yet. Batches are split only if the limit is strict."""
        taken: list[Run] = []
        for batch in batches:
            first, last = max(batch.base_offset, self.runs.end), batch.last_offset
            if last < first:
                continue
            if left <= 0:
                break
            if first > self.runs.end:  # records removed by compaction
                self.runs.rows.append(Run(self.runs.end, first - 1, _ARCHIVED))
            if _is_aborted(batch, aborted):
                self.runs.rows.append(Run(first, last, _ARCHIVED))
                continue
            if wanted.strict:
                last = min(last, first + left - 1)
            left -= last - first + 1
            run = taken[-1] if taken else None
            if run is not None and run.last + 1 == first and run.last - run.first + 1 < wanted.batch_size:
                run.last = last
            else:
                run = Run(first, last, _AVAILABLE)
                self.runs.rows.append(run)
                taken.append(run)
        return taken

    # -- acknowledgements ---------------------------------------------------------------------------------------------

    def acknowledge(self, member: str, batches: Sequence[Acknowledged]) -> None:
        """Apply a member's acknowledgements. If this raises `RequestFailed` or OSError, none of them is applied."""
        limits = self._listener.limits(self._key[0])
        self._check(batches, limits)
        with self._changing():
            parts = list(self._parts(batches))
            found = [(run, kind) for first, last, kind in parts for run in self._acquired(member, first, last)]
            deadline = self._clock.time() + limits.lock_s
            for run, kind in found:
                if kind is AckType.RENEW:
                    run.deadline = deadline
                else:
                    self._settle(run, _SETTLED[kind], limits)
        if any(kind is AckType.RELEASE for _, kind in found):
            self._listener.records_available()

    @staticmethod
    def _check(batches: Sequence[Acknowledged], limits: Limits) -> None:
        expected = -1
        for batch in batches:
            if batch.first > batch.last or batch.first <= expected:
                raise RequestFailed(ErrorCode.INVALID_REQUEST, "batches of acknowledgements must be in order")
            if len(batch.types) not in (1, batch.last - batch.first + 1):
                raise RequestFailed(ErrorCode.INVALID_REQUEST, "expected one type, or one per offset")
            if any(kind not in (0, 1, 2, 3, 4) for kind in batch.types):
                raise RequestFailed(ErrorCode.INVALID_REQUEST, "unknown type of acknowledgement")
            if AckType.RENEW in batch.types and not limits.renewable:
                raise RequestFailed(ErrorCode.INVALID_RECORD_STATE, "this group does not allow lock renewal")
            expected = batch.last

    @staticmethod
    def _parts(batches: Sequence[Acknowledged]) -> Iterator[tuple[int, int, AckType]]:
        for batch in batches:
            if len(batch.types) == 1:
                yield batch.first, batch.last, AckType(batch.types[0])
                continue
            first = batch.first
            for offset, (kind, following) in enumerate(
                zip(batch.types, [*batch.types[1:], -1], strict=True), batch.first
            ):
                if kind != following:
                    yield first, offset, AckType(kind)
                    first = offset + 1

    def _acquired(self, member: str, first: int, last: int) -> list[Run]:
        """Return the runs with these offsets. Those not in a final state must have been acquired by `member`."""
        if last >= self.runs.end:
            raise RequestFailed(ErrorCode.INVALID_REQUEST, f"the record at offset {last} was never delivered")
        first = expected = max(first, self.runs.start)
        if last < first:
            return []
        for run in self.runs.rows:
            if run.last < first or run.first > last:
                continue
            if run.first > expected or run.state is not _ACQUIRED or run.member != member:
                break
            expected = run.last + 1
        if expected <= last:
            raise RequestFailed(
                ErrorCode.INVALID_RECORD_STATE,
                f"the record at offset {expected} is not, or no longer, acquired by member {member}",
            )
        return self.runs.cut(first, last)

    def _settle(self, run: Run, state: RecordState, limits: Limits) -> None:
        if state is _AVAILABLE and run.count >= limits.deliveries:
            state = _ARCHIVED
        run.settle(state)

    def release(self, member: str) -> None:
        """Release the records that a leaving member holds."""
        found = [run for run in self.runs.rows if run.state is _ACQUIRED and run.member == member]
        limits = self._listener.limits(self._key[0])
        for run in found:
            self._settle(run, _AVAILABLE, limits)
        self._given_back(found)

    # -- locks --------------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Set a timer for the lock that expires next."""
        due = min((run.deadline for run in self.runs.rows if run.state is _ACQUIRED), default=None)
        if self._timer is not None and due is not None and self._timer_at <= due:
            return
        self.close()
        if due is not None:
            self._timer_at = due
            self._timer = self._clock.call_later(max(0.0, due - self._clock.time()), self._run_out)

    def _run_out(self) -> None:
        self._timer = None
        limits, now = self._listener.limits(self._key[0]), self._clock.time()
        late = [run for run in self.runs.rows if run.state is _ACQUIRED and run.deadline <= now]
        for run in late:
            self._settle(run, _AVAILABLE, limits)
        self._given_back(late)

    def _given_back(self, found: Sequence[Run]) -> None:
        """Release runs outside of a request. If the change cannot be written, it is written with the next change."""
        if found:
            self.runs.advance()
            try:
                self._write_changes()
            except OSError as error:
                log.error("the states of records of a share group could not be stored: %s", error)
            self._listener.records_available()
        self._watch()

    # -- storage ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Store the changes made in the block. If storing them fails or the block raises, undo them."""
        kept = self.runs.copy()
        try:
            yield
            self.runs.advance()
            self._write_changes()
        except BaseException:
            self.runs = kept
            raise
        finally:
            self._watch()

    def _write_changes(self) -> None:
        rows = self.runs.kept()
        changed = [row for row in rows if row not in self._written]
        if changed or self.runs.start != self._written_start:
            self._listener.store(self._key, self.runs.start, changed)
            self._written, self._written_start = set(rows), self.runs.start


def _is_aborted(batch: BatchHeader, aborted: Sequence[AbortedTransaction]) -> bool:
    return (
        batch.is_transactional
        and not batch.is_control
        and any(
            one.producer_id == batch.producer_id and one.first_offset <= batch.base_offset <= one.last_offset
            for one in aborted
        )
    )


def _cut(data: bytes, batches: Sequence[BatchHeader], ranges: Sequence[tuple[int, int, int]]) -> bytes:
    """Return the batches that contain the acquired records."""
    first, last = ranges[0][0], ranges[-1][1]
    held = [batch for batch in batches if batch.last_offset >= first and batch.base_offset <= last]
    return data[held[0].position : held[-1].position + held[-1].size] if held else b""
