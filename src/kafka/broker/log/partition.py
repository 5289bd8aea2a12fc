"""A partition's log: its options, and operations to append, read, search by time, and delete.

There is a single replica, so the high watermark is the log's end. The log is recovered when it is first used, so the
broker starts quickly regardless of the amount of data.
"""

import errno
import logging
import os
import shutil
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from kafka.broker.disk_files import FilePool, replace_file, sync_folders
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.batch_head import BatchHead, Marker, marker_batch, read_head
from kafka.broker.log.log_options import NEVER, LogOptions
from kafka.broker.log.log_recovery import Checkpoint, note_marker, recover, save_checkpoint
from kafka.broker.log.segment import NO_TIMESTAMP, AbortedTransaction, Segment, aborted_between
from kafka.record import BatchHeader, batch_headers, decode_batches, set_offsets

LEADER_EPOCH: Final = 0
"""The only leader epoch: there are no leader elections with a single broker."""


log = logging.getLogger(__name__)

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
WAKE: Final = 1 << 62
"""A number of bytes that is large enough to wake every waiting fetch request."""


class PartitionLog:
    """The log of one partition in `folder`, below the existing folder `top`.

    If a disk error leaves it uncertain which data is stored, the log is marked as failed: its methods raise
    KAFKA_STORAGE_ERROR until the broker restarts and recovers the log.
    """

    def __init__(self, folder: Path, options: LogOptions, files: FilePool, top: Path | None = None) -> None:
        self.options = options
        self.waiters: dict[Callable[[int], None], None] = {}
        """Called after each append with its number of bytes, in the order of arrival. A callable may remove itself."""
        self._folder = folder
        self._top = folder if top is None else top
        self._files = files
        self._unflushed = 0
        self._synced_name: Path | None = None
        self._failure: OSError | None = None
        self._segments, self.producers = recover(folder, files, options.index_interval_bytes)
        self._start_file = folder / "log-start-offset"
        self.start_offset = self._segments[0].base_offset if self._segments else 0
        self.start_offset = max(self.start_offset, self._saved_start())
        if not self._segments:
            self._segments.append(self._new_segment(self.start_offset))
        self._active = self._segments[-1]
        self.end_offset = max(self._active.next_offset, self.start_offset)

    def __repr__(self) -> str:
        return f"<PartitionLog {self._folder.name} {self.start_offset}..{self.end_offset}>"

    @property
    def size(self) -> int:
        """Size on disk in bytes."""
        return sum(segment.size for segment in self._segments)

    def _saved_start(self) -> int:
        if not self._start_file.exists():
            return 0
        try:
            return int(self._start_file.read_text(encoding="ascii"))
        except ValueError:
            log.warning("%s is damaged: deleted records may reappear", self._start_file)
            return 0

    # -- failures -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise `RequestFailed` with KAFKA_STORAGE_ERROR if the log has failed."""
        if self._failure is not None:
            raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._folder} has failed: {self._failure}")

    def _fail(self, error: OSError) -> None:
        log.error("%s has failed, and is not used until the broker is restarted: %s", self._folder, error)
        self._failure = error
        self.wake()

    def wake(self) -> None:
        """Make all requests that wait for records read the log again."""
        for waiter in tuple(self.waiters):
            waiter(WAKE)

    # -- writes -------------------------------------------------------------------------------------------------------

    def append(self, batch: memoryview, header: BatchHeader, now_ms: int, log_append_time_ms: int | None = None) -> int:
        """Append one valid magic 2 batch, and return its base offset once the batch has been written.

        `batch` must be writable: offsets, leader epoch and, if set, the log append time are stored in it. If an
        idempotent producer sends a batch again, the batch is not written again. `now_ms` is the wall clock time. Raises
        `RequestFailed`.
        """
        self.check()
        if header.size > self.options.segment_bytes:
            raise RequestFailed(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch of {header.size} bytes is larger than segment.bytes={self.options.segment_bytes}",
            )
        if header.producer_id >= 0:
            head = read_head(batch)
            earlier = self.producers.repeated(head)
            if earlier is not None:
                return earlier.base_offset
            self.producers.check_transaction(head)
        head = self._appended(batch, header, now_ms, log_append_time_ms)
        if header.producer_id >= 0:
            self.producers.note(head)
        self._tell(head)
        return head.base_offset

    def append_marker(self, producer_id: int, producer_epoch: int, marker: Marker, now_ms: int) -> None:
        """Append the marker that ends a producer's transaction, even if none is open; raises `RequestFailed`."""
        self.check()
        self.producers.check_marker(producer_id, producer_epoch, marker)
        batch = marker_batch(marker, producer_id, producer_epoch, now_ms)
        head = self._appended(batch, next(batch_headers(batch)), now_ms)
        note_marker(self._active, self.producers, head, marker)
        self._tell(head)

    def _appended(
        self, batch: memoryview, header: BatchHeader, now_ms: int, log_append_time_ms: int | None = None
    ) -> BatchHead:
        """Write a batch to the end of the log, and return its head as written."""
        set_offsets(batch, header, self.end_offset, LEADER_EPOCH, log_append_time_ms)
        head = read_head(batch)
        try:
            if self._is_full(head):
                self._roll()
            self._write(batch)
            self._unflushed += head.records
            if self._unflushed >= self.options.flush_messages:
                self._flush(self._active.size + head.size)
        except OSError as error:
            self._undo(error)
            raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._active.path}: {error}") from error
        self._active.note(head, now_ms)
        self.end_offset = head.last_offset + 1
        return head

    def _tell(self, head: BatchHead) -> None:
        for waiter in tuple(self.waiters):
            waiter(head.size)

    def _is_full(self, head: BatchHead) -> bool:
        active = self._active
        if not active.size:
            return False
        if active.size + head.size > self.options.segment_bytes:
            return True
        first = active.first_timestamp
        return first >= 0 and head.max_timestamp - first > self.options.segment_ms

    def _write(self, batch: memoryview) -> None:
        fd, position = self._active.fd, self._active.size
        done = 0
        while done < len(batch):
            done += os.pwrite(fd, batch[done:], position + done)

    def _undo(self, error: OSError) -> None:
        """Undo a failed write.

        Unless the disk was full, the log fails, as it is uncertain which bytes are stored.
        """
        try:
            os.ftruncate(self._active.fd, self._active.size)
        except OSError as worse:
            error = worse
        if error.errno not in _NO_ROOM:
            self._fail(error)

    def _flush(self, size: int) -> None:
        """Sync the active segment, which has `size` bytes."""
        os.fsync(self._active.fd)
        self._unflushed = 0
        self._active.synced_size = size
        if self._synced_name != self._active.path:
            # A new file is durable only once its folder has been synced as well; the same is true of a new folder.
            sync_folders(self._folder, self._top if self._synced_name is None else self._folder)
            self._synced_name = self._active.path

    def _roll(self) -> None:
        self._save_checkpoint()
        self._active = self._new_segment(self.end_offset)
        self._segments.append(self._active)

    def _new_segment(self, base_offset: int) -> Segment:
        return Segment(self._folder, base_offset, self._files, self.options.index_interval_bytes)

    def _save_checkpoint(self) -> None:
        active = self._active
        if self._unflushed and self.options.flush_messages < NEVER:
            self._flush(active.size)
        known = Checkpoint(
            active.size,
            active.next_offset,
            active.max_timestamp,
            active.written_ms,
            active.index,
            self.producers,
            active.aborted,
        )
        save_checkpoint(active.checkpoint_path, known)

    # -- reads --------------------------------------------------------------------------------------------------------

    @property
    def last_stable_offset(self) -> int:
        """The start of the first open transaction, or the log's end. All transactions before it have ended."""
        first = self.producers.first_open_offset
        return self.end_offset if first is None else max(first, self.start_offset)

    def read(self, offset: int, max_bytes: int, at_least_one: bool = True) -> bytes:
        """Read whole batches, up to `max_bytes`, starting with the one that contains `offset`; empty at the log's end.

        With `at_least_one` the first batch is returned even if it is larger than `max_bytes` (KIP-74). Raises
        `RequestFailed` with OFFSET_OUT_OF_RANGE.
        """
        self._check_offset(offset)
        return b"" if offset == self.end_offset else read(self._segments, offset, max_bytes, at_least_one)

    def read_committed(
        self, offset: int, max_bytes: int, at_least_one: bool = True
    ) -> tuple[bytes, list[AbortedTransaction]]:
        """Read batches like `read`, but only up to the last stable offset.

        Also returns the aborted transactions in the range of these batches.
        """
        self._check_offset(offset)
        stable = self.last_stable_offset
        if offset >= stable:
            return b"", []
        return read_until(self._segments, offset, stable, max_bytes, at_least_one)

    def _check_offset(self, offset: int) -> None:
        self.check()
        if not self.start_offset <= offset <= self.end_offset:
            raise RequestFailed(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {offset} is not within {self.start_offset}..{self.end_offset}"
            )

    def offset_of_time(self, timestamp: int) -> tuple[int, int] | None:
        """Return the timestamp and offset of the first record at or after `timestamp` (in ms), or None."""
        self.check()
        return offset_of_time(self._segments, self.start_offset, timestamp)

    def offset_of_max_timestamp(self) -> tuple[int, int] | None:
        """Return the timestamp and offset of the record with the largest timestamp (KIP-734), or None."""
        self.check()
        return offset_of_max_timestamp(self._segments, self.start_offset)

    # -- deletion -----------------------------------------------------------------------------------------------------

    def delete_before(self, offset: int) -> None:
        """Make `offset` the log start offset (KIP-107), and remove segments that lie completely before it."""
        if not 0 <= offset <= self.end_offset:
            raise RequestFailed(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"cannot delete up to {offset}, the log ends at {self.end_offset}"
            )
        if offset > self.start_offset:
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                replace_file(self._start_file, str(offset).encode(), sync_name=self.options.flush_messages < NEVER)
            except OSError as error:
                raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._start_file}: {error}") from error
            self.start_offset = offset
        # Remove these segments even if the log already starts at `offset`, as an earlier removal may have failed.
        while len(self._segments) > 1 and self._segments[1].base_offset <= offset:
            self._segments.pop(0).remove()

    def apply_retention(self, now_ms: int) -> None:
        """Delete the oldest segments according to ``retention.ms`` and ``retention.bytes``; raises `RequestFailed`."""
        options = self.options
        if not options.delete_old or self._failure is not None:
            return
        if options.retention_ms >= 0:
            oldest = now_ms - options.retention_ms
            while self._segments[0].size and self._segments[0].newest_ms < oldest:
                if len(self._segments) == 1:
                    self._roll()
                self.delete_before(self._segments[1].base_offset)
        if options.retention_bytes >= 0:
            while len(self._segments) > 1 and self.size - self._segments[0].size >= options.retention_bytes:
                self.delete_before(self._segments[1].base_offset)

    # -- shutdown -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write checkpoints for a quick restart. The pool closes the files."""
        if self._active.size and self._failure is None:
            try:
                self._save_checkpoint()
            except OSError as error:
                log.warning(
                    "%s: could not write a checkpoint, so the next start reads the log: %s", self._folder, error
                )

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the log afterwards."""
        for segment in self._segments:
            if segment.size > segment.synced_size:
                segment.checkpoint_path.unlink(missing_ok=True)
                if segment.synced_size:
                    os.ftruncate(segment.fd, segment.synced_size)
                else:
                    segment.remove()

    def remove(self) -> None:
        """Delete the whole log."""
        for segment in self._segments:
            segment.remove()
        shutil.rmtree(self._folder, ignore_errors=True)


def read(segments: Sequence[Segment], offset: int, max_bytes: int, at_least_one: bool) -> bytes:
    """Read whole batches, starting with the one that contains `offset`, which must be in the log."""
    segment = segments[_number_of(segments, offset)]
    position = segment.position_of(offset)
    return segment.read(position, segment.end_of_read(position, max_bytes, at_least_one))


def read_until(
    segments: Sequence[Segment], offset: int, stop: int, max_bytes: int, at_least_one: bool
) -> tuple[bytes, list[AbortedTransaction]]:
    """Read batches like `read`, but only up to the batch that starts at `stop`.

    Also returns the aborted transactions in the range of these batches.
    """
    number = _number_of(segments, offset)
    segment = segments[number]
    position = segment.position_of(offset)
    size = segment.position_of(stop) if stop < segment.next_offset else segment.size
    end = segment.end_of_read(position, max_bytes, at_least_one, size)
    indexes = (one.aborted for one in segments[number:])
    return segment.read(position, end), list(aborted_between(indexes, offset, segment.offset_at(end)))


def _number_of(segments: Sequence[Segment], offset: int) -> int:
    """Return the index of the segment that contains `offset`."""
    number = bisect_right(segments, offset, key=_base_offset) - 1
    if offset >= segments[number].next_offset:
        # Recovery cut off the damaged tail of this segment.
        number += 1
    return number


def _base_offset(segment: Segment) -> int:
    return segment.base_offset


def offset_of_time(segments: Sequence[Segment], start_offset: int, timestamp: int) -> tuple[int, int] | None:
    """Return the timestamp and offset of the first record at or after `start_offset` and `timestamp` (ms), or None."""
    for segment in segments:
        if segment.max_timestamp < timestamp or segment.next_offset <= start_offset:
            continue
        for position, head in segment.heads(segment.index.position_of_time(timestamp)):
            if head.max_timestamp < timestamp or head.last_offset < start_offset:
                continue
            if head.is_control:
                return head.max_timestamp, head.base_offset
            found = _first_since(segment.read(position, position + head.size), start_offset, timestamp)
            if found is not None:
                return found
    return None


def offset_of_max_timestamp(segments: Sequence[Segment], start_offset: int) -> tuple[int, int] | None:
    """Return the timestamp and offset of the record with the largest timestamp (KIP-734), or None."""
    newest = max((segment.max_timestamp for segment in segments), default=NO_TIMESTAMP)
    return None if newest == NO_TIMESTAMP else offset_of_time(segments, start_offset, newest)


def _first_since(batch: bytes, start_offset: int, timestamp: int) -> tuple[int, int] | None:
    columns = decode_batches(batch, check_crcs=False, start_offset=start_offset)
    for when, offset in zip(columns.timestamps, columns.offsets, strict=True):
        if when >= timestamp:
            return when, offset
    return None
