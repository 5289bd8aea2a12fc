"""Decodes the bytes of a fetched partition into columns.

Each batch passes through these stages while it is in the processor's caches, until the data ends or the columns have
the requested size: its header is checked (`layout` defines the fields), aborted transactions are left out
(`AbortedTransactions`), the records are decompressed (`codecs`) and read into columns (`Collector` enforces the bounds,
`reader` reads). Ordinary batches pass the first stages together (`batch_runs`). Magic 0 and 1 messages have their own
stages (`legacy_messages`). A `Cursor` keeps the position for all of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import partial

from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError
from kafka.record.batch_runs import RunFinder, expected_contents
from kafka.record.batch_types import Buffer
from kafka.record.codecs import MAX_DECOMPRESSED_SIZE, SMALL_CODECS, SMALL_SIZE
from kafka.record.columns import Columns, Run
from kafka.record.decode_state import Collector, Cursor
from kafka.record.layout import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    CONTROL,
    HEADER,
    HEADER_SIZE,
    LENGTH_AT,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAX_OFFSET,
    MIN_RECORD_SIZE,
    TRANSACTIONAL,
    crc32c,
    smallest_size,
)
from kafka.record.legacy_messages import take_messages
from kafka.record.read_status import STATUS_TEXT
from kafka.record.reader import ColumnReader


class AbortedTransactions:
    """Tracks aborted transactions across a partition's batches in order, using the list in a fetch response (KIP-98).

    Args:
        listed: `(producer_id, first_offset)` of the transactions that the response lists as aborted.
    """

    def __init__(self, listed: Iterable[tuple[int, int]]) -> None:
        self._ahead = sorted(listed, key=_first_offset, reverse=True)
        self._open: set[int] = set()

    @property
    def any(self) -> bool:
        """Whether the response lists any aborted transactions."""
        return bool(self._ahead or self._open)

    def reach(self, last_offset: int) -> None:
        """Process the transactions that started up to the last offset of a batch."""
        while self._ahead and self._ahead[-1][1] <= last_offset:
            self._open.add(self._ahead.pop()[0])

    def has(self, producer_id: int) -> bool:
        """Return whether a producer's records at the current position are aborted."""
        return producer_id in self._open

    def end(self, producer_id: int) -> None:
        """Process a marker that ends an aborted transaction."""
        self._open.discard(producer_id)


def _first_offset(transaction: tuple[int, int]) -> int:
    return transaction[1]


MAX_COLUMN_SIZE = 0x7FFFFFFF
"""Maximum total size in bytes of the keys or values in one `Columns` object, because Arrow's positions are int32."""

_LENGTH = struct.Struct(">i")
_run = partial(tuple.__new__, Run)
"""Creates a `Run` from a tuple, without calling a Python function."""
_SCRATCH_BYTES = 256 << 10
_MARGIN = 1.125
"""Factor by which other batches may exceed the estimate based on the first one."""
_ABORT_MARKER = b"\x00\x00"
_NO_LIMIT = 1 << 62


def decode_batches(
    data: Buffer,
    *,
    topic: str = "",
    partition: int = -1,
    check_crcs: bool = True,
    read_committed: bool = False,
    aborted_transactions: Iterable[tuple[int, int]] = (),
    start_offset: int = 0,
    stop_offset: int | None = None,
    max_decompressed_size: int = MAX_DECOMPRESSED_SIZE,
) -> Columns:
    """Decode the batches of one partition, of any magic and codec, into columns.

    Args:
        data, topic, partition, check_crcs, read_committed, aborted_transactions: as for `BatchDecoder`.
        start_offset, stop_offset, max_decompressed_size: as for `BatchDecoder`.

    Returns:
        The columns; `next_offset` and `bytes_consumed` indicate where to continue. The columns end before a batch with
        which keys or values could exceed 2 GiB; decoding the rest of `data` can continue there.

    Raises:
        CorruptRecordException: a batch is damaged; the message names topic, partition and offset.
        DecompressionLimitError: a batch has more than `max_decompressed_size` bytes of records.
        UnsupportedCompressionTypeError: a batch specifies a codec that does not exist.
    """
    decoder = BatchDecoder(
        data,
        topic=topic,
        partition=partition,
        check_crcs=check_crcs,
        read_committed=read_committed,
        aborted_transactions=aborted_transactions,
        start_offset=start_offset,
        stop_offset=stop_offset,
        max_decompressed_size=max_decompressed_size,
    )
    columns, damage = decoder.part(_NO_LIMIT)
    if damage is not None:
        raise damage
    return columns


def decode_run(
    data: memoryview, topic: str, partition: int, *, check_crcs: bool, start_offset: int, max_bytes: int
) -> Columns | None:
    """Decode data that is a single run of ordinary batches, as most small responses are, without the stages for others.

    Args:
        data, topic, partition, check_crcs, start_offset: as for `BatchDecoder`; there are no aborted transactions.
        max_bytes: maximum size of the columns.

    Returns:
        The columns of all of `data`; None if a `BatchDecoder` has to decode them, because they are compressed,
        truncated, damaged, not magic 2, or have different batch properties.
    """
    run = RunFinder(data, CONTROL, start_offset, MAX_OFFSET).uncompressed(0, max_bytes, 0 if check_crcs else len(data))
    if run is None or run.end != len(data):
        return None
    reader = ColumnReader(run.records, run.size, start_offset, MAX_OFFSET, run.size)
    reader.source(data)
    if reader.read_run(0, run.end):
        return None
    runs = (_run((0, run.leader_epoch, int(run.fixed_timestamp))),)
    return Columns(reader.finish(), runs, topic, partition, run.last_offset + 1, run.end, run.leader_epoch)


class BatchDecoder:
    """Decodes the batches of one partition in parts.

    Args:
        data: batches, as in a fetch response; the last one may be truncated and is then ignored.
        topic: the topic, for the records and for error messages.
        partition: the partition, for the records and for error messages.
        check_crcs: whether to verify the checksum of every batch.
        read_committed: whether to leave out the records of aborted transactions (KIP-98). Control batches are always
            left out.
        aborted_transactions: `(producer_id, first_offset)` of the transactions that the response lists as aborted.
        start_offset: records before this offset are left out, because brokers send whole batches.
        stop_offset: records at or after this offset are left out, and nothing after it is read.
        max_decompressed_size: maximum size in bytes of the records of one batch. A part exceeds the requested size by
            at most one such batch, so this bounds the memory of a fetch.
    """

    def __init__(
        self,
        data: Buffer,
        *,
        topic: str = "",
        partition: int = -1,
        check_crcs: bool = True,
        read_committed: bool = False,
        aborted_transactions: Iterable[tuple[int, int]] = (),
        start_offset: int = 0,
        stop_offset: int | None = None,
        max_decompressed_size: int = MAX_DECOMPRESSED_SIZE,
    ) -> None:
        max_size = min(max_decompressed_size, MAX_COLUMN_SIZE)
        self._cursor = Cursor(data, topic, partition, start_offset, stop_offset, max_size)
        self._check_crcs = check_crcs
        self._checked = 0 if check_crcs else len(self._cursor.view)
        self._aborted = AbortedTransactions(aborted_transactions) if read_committed else None
        special = CONTROL | (TRANSACTIONAL if self._aborted is not None and self._aborted.any else 0)
        self._runs = RunFinder(self._cursor.view, special, start_offset, self._cursor.stop_offset)
        self._leader_epoch = -1

    @property
    def next_offset(self) -> int:
        """The offset after the last decoded batch."""
        return self._cursor.next_offset

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to decode."""
        return self._cursor.finished

    def part(self, max_bytes: int) -> tuple[Columns, Exception | None]:
        """Decode the next part.

        Args:
            max_bytes: maximum size of the part. It ends before the batch that would exceed this, but contains at least
                one batch.

        Returns:
            The columns, with `bytes_consumed` counted from the start of the part, and, if the next batch is damaged,
            one of the errors that `decode_batches` raises. The decoder stays at the damaged batch.
        """
        cursor = self._cursor
        first = cursor.position
        into = Collector(cursor.start_offset, cursor.stop_offset, max_bytes, MAX_COLUMN_SIZE)
        damage: Exception | None = None
        try:
            while self._take(into):
                pass
        except (CorruptRecordException, UnsupportedCompressionTypeError) as error:
            damage = error
        consumed = cursor.position - first
        columns = into.finish(cursor.topic, cursor.partition, cursor.next_offset, consumed, self._leader_epoch)
        return columns, damage

    def _take(self, into: Collector) -> bool:
        """Add one or more batches; return False if the part ends before the next batch."""
        cursor = self._cursor
        view, position = cursor.view, cursor.position
        left = len(view) - position
        if cursor.finished or left <= MAGIC_AT:
            cursor.finished = True
            return False
        size = _LENGTH.unpack_from(view, position + LENGTH_AT)[0] + LOG_OVERHEAD
        magic = view[position + MAGIC_AT]
        if magic > 2 or size < (HEADER_SIZE if magic == 2 else smallest_size(magic)):
            raise cursor.corrupt(f"the batch claims magic {magic} and {size} bytes")
        if size > left:
            cursor.finished = True
            return False
        if magic < 2:
            return take_messages(cursor, size, self._check_crcs, into)
        return self._take_run(position, size, into) or self._take_batch(position, size, into)

    def _take_run(self, position: int, size: int, into: Collector) -> bool:
        """Add consecutive ordinary magic 2 batches together; return False if there are none."""
        cursor, source, run = self._cursor, self._cursor.view, None
        if position < cursor.singly_until:
            return False
        codec = cursor.view[position + ATTRIBUTES_AT + 1] & CODEC_MASK
        if not codec:
            run = self._runs.uncompressed(position, into.room, self._checked)
        elif codec in SMALL_CODECS and size <= SMALL_SIZE and cursor.max_size >= _SCRATCH_BYTES:
            source = into.scratch(_SCRATCH_BYTES)
            run = self._runs.compressed(position, into.room, self._checked, SMALL_CODECS[codec], source)
        if run is None:
            return False
        if into.is_empty:
            ratio = max(1.0, _MARGIN * run.size / (run.end - position)) if codec else 1.0
            into.reserve(*self._expected(run.end, run.size, run.records, into.room, ratio))
        start, stop = (0, run.decompressed) if codec else (position, run.end)
        if into.add_run(source, start, stop, run):
            cursor.singly_until = run.end
            return False
        self._leader_epoch = run.leader_epoch
        cursor.advance(run.end, run.last_offset)
        return True

    def _take_batch(self, position: int, size: int, into: Collector) -> bool:
        """Check and add a magic 2 batch; return False if it must wait for the next part or is not needed."""
        cursor, end = self._cursor, position + size
        base, _, epoch, _, crc, attributes, last_delta, first_time, max_time, producer, _, _, count = (
            HEADER.unpack_from(cursor.view, position)
        )
        if base < 0 or last_delta < 0 or base + last_delta > MAX_OFFSET:
            raise cursor.corrupt(f"its offsets begin at {base} and span {last_delta}")
        if base >= cursor.stop_offset:
            cursor.finished = True
            return False
        if position >= self._checked:
            if crc32c(cursor.view[position + ATTRIBUTES_AT : end]) != crc:
                raise cursor.corrupt(f"its checksum is {crc:#010x}, but its bytes have another", base)
            self._checked = end
        last = base + last_delta
        wanted = last >= cursor.start_offset and not attributes & CONTROL
        if self._aborted is not None and producer >= 0:
            wanted = self._is_committed(self._aborted, position, size, attributes, producer, last) and wanted
        if wanted:
            fixed = bool(attributes & LOG_APPEND_TIME)
            time = max_time if fixed else first_time
            if not -MAX_OFFSET <= time <= MAX_OFFSET:
                raise cursor.corrupt(f"its timestamp is {time}", base)
            if not self._take_records(into, attributes & CODEC_MASK, end, count, base, last_delta, time, fixed, epoch):
                return False
        self._leader_epoch = epoch
        cursor.advance(end, last)
        return True

    def _take_records(
        self,
        into: Collector,
        codec: int,
        end: int,
        count: int,
        base: int,
        last_delta: int,
        time: int,
        fixed: bool,
        epoch: int,
    ) -> bool:
        """Decompress and add the records of the batch at the current position; return False if they do not fit."""
        cursor = self._cursor
        source: Buffer = cursor.view
        start, stop = cursor.position + HEADER_SIZE, end
        if codec:
            records = cursor.compressed(codec, start, end)
            if not into.has_room(records.bound, min(count, records.bound // MIN_RECORD_SIZE)):
                return False
            source = cursor.decompress(records, into.scratch(min(records.bound, cursor.max_size)))
            start, stop = 0, len(source)
        elif not into.has_room(end - start, min(count, (end - start) // MIN_RECORD_SIZE)):
            return False
        if count < 0 or count > (stop - start) // MIN_RECORD_SIZE:
            raise cursor.corrupt(f"it claims {count} records in {stop - start} bytes", base)
        if into.is_empty:
            encoded = max(end - cursor.position - HEADER_SIZE, 1)
            ratio = max(1.0, _MARGIN * (stop - start) / encoded) if codec else 1.0
            into.reserve(*self._expected(end, stop - start, count, into.room, ratio))
        status = into.add(source, start, stop, count, base, last_delta, time, fixed, epoch)
        if status:
            raise cursor.corrupt(STATUS_TEXT[status], base)
        return True

    def _expected(self, end: int, plain: int, count: int, most: int, ratio: float) -> tuple[int, int]:
        """Estimate the bytes and rows of the part from headers, assuming that all batches compress like the first.

        The estimate avoids growing the columns repeatedly; `Collector` allocates more memory if the estimate is too
        low.
        """
        size, rows = expected_contents(self._cursor.view, end, ratio, most - plain)
        return max(plain, min(plain + size, most)), count + rows

    def _is_committed(
        self, aborted: AbortedTransactions, position: int, size: int, attributes: int, producer: int, last_offset: int
    ) -> bool:
        """Return whether a batch contains records that belong to no aborted transaction. Processes control batches."""
        aborted.reach(last_offset)
        if attributes & CONTROL:
            if aborted.has(producer) and self._is_abort_marker(position, size, attributes):
                aborted.end(producer)
            return False
        return not (attributes & TRANSACTIONAL and aborted.has(producer))

    def _is_abort_marker(self, position: int, size: int, attributes: int) -> bool:
        """Return whether a control batch aborts its transaction, according to bytes 2 and 3 of its record's key."""
        cursor = self._cursor
        source: Buffer = cursor.view
        start, end = position + HEADER_SIZE, position + size
        if attributes & CODEC_MASK:
            source = cursor.decompress(cursor.compressed(attributes & CODEC_MASK, start, end), None)
            start, end = 0, len(source)
        reader = ColumnReader(1, 0, 0, 1)
        reader.reserve(1, end - start)
        reader.source(source)
        status = reader.read(start, end, 1, 0, 0, 0, True)
        if status or not reader.rows:
            raise cursor.corrupt(f"its control record cannot be read ({STATUS_TEXT.get(status, 'there is none')})")
        return bytes(reader.finish().keys.data[2:4]) == _ABORT_MARKER
