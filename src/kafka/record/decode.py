"""From the bytes of a fetched partition to columns.

Batch after batch is checked, filtered, decompressed into memory that is used again, and read into the columns while it
is still in the processor's caches, until the data end or the columns have the size that was asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from crc32c import crc32c

from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError
from kafka.record.batch import HEADER_SIZE
from kafka.record.codecs import MAX_DECOMPRESSED_SIZE, SMALL_CODECS, SMALL_SIZE
from kafka.record.collector import Collector
from kafka.record.columns import Columns
from kafka.record.messages import take_messages
from kafka.record.reader import STATUS_TEXT, ColumnReader
from kafka.record.scan import RunScan, following
from kafka.record.types import Buffer
from kafka.record.walk import MAX_OFFSET, Walk

MAX_COLUMN_SIZE = 0x7FFFFFFF
"""How many bytes the keys, or the values, of one `Columns` may have together: Arrow's positions are int32."""

_V2 = struct.Struct(">qiibIhiqqqhii")
_SIZE = struct.Struct(">i")
_V2_CHECKED_FROM = 21
_MIN_RECORD_SIZE = 7
_CODEC_MASK, _LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20
_ATTRIBUTES_AT = 22
_SCRATCH_BYTES = 256 << 10
_MARGIN = 1.125
"""How much more the other batches may hold than the first one lets expect."""
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
    """Decode the batches of one partition, of any magic and codec, into columns; see `BatchDecoder` for arguments.

    Returns:
        The columns, with `next_offset` and `bytes_consumed` telling where to go on. They end before the batch with
        which keys or values could pass 2 GiB; decoding the rest of `data` goes on there.

    Raises:
        CorruptRecordException: a batch is damaged; the message has topic, partition and offset.
        UnsupportedCompressionTypeError: a batch names a codec that does not exist.
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


def _first_offset(transaction: tuple[int, int]) -> int:
    """Where an aborted transaction begins."""
    return transaction[1]


class BatchDecoder(Walk):
    """Decodes the batches of one partition part by part.

    Args:
        data: whole batches, as a fetch response holds them; the last may be cut off and is left out then.
        topic: for the records, and for error messages.
        partition: likewise.
        check_crcs: compare every batch with its checksum.
        read_committed: leave out the records of aborted transactions (KIP-98). Control batches are left out always.
        aborted_transactions: `(producer_id, first_offset)` of the transactions that the response lists as aborted.
        start_offset: records below it are left out: a broker sends whole batches.
        stop_offset: records at or above it are left out, and nothing is read behind it.
        max_decompressed_size: how many bytes the records of one batch may have.

    Attributes:
        next_offset: behind the last batch decoded.
        finished: whether there is nothing left to decode.
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
        super().__init__(data, topic, partition, check_crcs, start_offset, stop_offset, max_size)
        self._read_committed = read_committed
        self._aborted = sorted(aborted_transactions, key=_first_offset, reverse=True) if read_committed else []
        self._aborting: set[int] = set()
        self._checked = 0 if check_crcs else len(self.view)
        special = _CONTROL | (_TRANSACTIONAL if self._aborted else 0)
        self._scan = RunScan(self.view, special, self.start_offset, self.stop_offset)
        self._one_by_one_until = 0
        self._leader_epoch = -1

    def part(self, max_bytes: int) -> tuple[Columns, Exception | None]:
        """Decode on.

        Args:
            max_bytes: the part ends before the batch with which it would pass so many bytes, but has at least one.

        Returns:
            The columns, with `bytes_consumed` counting from where the part began; and what is wrong with the batch
            behind them: a `CorruptRecordException`, or an `UnsupportedCompressionTypeError`. The decoder stays there.
        """
        first = self.position
        into = Collector(self.start_offset, self.stop_offset, max_bytes, MAX_COLUMN_SIZE)
        damage: Exception | None = None
        try:
            while self._take(into):
                pass
        except (CorruptRecordException, UnsupportedCompressionTypeError) as error:
            damage = error
        consumed = self.position - first
        columns = into.finish(self.topic, self.partition, self.next_offset, consumed, self._leader_epoch)
        return columns, damage

    def _take(self, into: Collector) -> bool:
        """Take a batch, or several messages; False if the part ends before it."""
        position, left = self.position, len(self.view) - self.position
        if self.finished or left < 17:
            self.finished = True
            return False
        size = _SIZE.unpack_from(self.view, position + 8)[0] + 12
        magic = self.view[position + 16]
        if magic > 2 or size < (HEADER_SIZE if magic == 2 else 26 + 8 * magic):
            raise self.corrupt(f"the batch claims magic {magic} and {size} bytes")
        if size > left:
            self.finished = True
            return False
        if magic < 2:
            return take_messages(self, size, into)
        return self._take_run(position, size, into) or self._take_batch(position, size, into)

    def _take_run(self, position: int, size: int, into: Collector) -> bool:
        """Take batches of magic 2 at one go, as far as nothing is special about them; False if there are none."""
        if position < self._one_by_one_until:
            return False
        source, run = self.view, None
        codec = self.view[position + _ATTRIBUTES_AT] & _CODEC_MASK
        if not codec:
            run = self._scan.plain(position, into.room, self._checked)
        elif codec in SMALL_CODECS and size <= SMALL_SIZE and self.max_size >= _SCRATCH_BYTES:
            source = into.scratch(_SCRATCH_BYTES)
            run = self._scan.packed(position, into.room, self._checked, SMALL_CODECS[codec], source)
        if run is None:
            return False
        if into.is_empty:
            ratio = max(1.0, _MARGIN * run.size / (run.end - position)) if codec else 1.0
            into.reserve(*self._expected(run.end, run.size, run.records, into.room, ratio))
        start, stop = (0, run.unpacked) if codec else (position, run.end)
        if into.add_run(source, start, stop, run):
            self._one_by_one_until = run.end  # one of them is damaged: find out which
            return False
        self._leader_epoch = run.leader_epoch
        self.advance(run.end, run.last_offset)
        return True

    def _take_batch(self, position: int, size: int, into: Collector) -> bool:
        """Check and take a batch of magic 2; False if it has to wait for the next part, or is not wanted."""
        end = position + size
        base, _, epoch, _, crc, attributes, last_delta, first_time, max_time, producer, _, _, count = _V2.unpack_from(
            self.view, position
        )
        if base < 0 or last_delta < 0 or base + last_delta > MAX_OFFSET:
            raise self.corrupt(f"its offsets begin at {base} and span {last_delta}")
        if base >= self.stop_offset:
            self.finished = True
            return False
        if position >= self._checked:
            if crc32c(self.view[position + _V2_CHECKED_FROM : end]) != crc:
                raise self.corrupt(f"its checksum is {crc:#010x}, but its bytes have another", base)
            self._checked = end
        last = base + last_delta
        wanted = last >= self.start_offset and not attributes & _CONTROL
        if self._read_committed and producer >= 0:
            wanted = self._is_committed(position, size, attributes, producer, last) and wanted
        if wanted:
            fixed = bool(attributes & _LOG_APPEND_TIME)
            time = max_time if fixed else first_time
            if not -MAX_OFFSET <= time <= MAX_OFFSET:
                raise self.corrupt(f"its timestamp is {time}", base)
            if not self._take_records(into, attributes & _CODEC_MASK, end, count, base, time, fixed, epoch):
                return False
        self._leader_epoch = epoch
        self.advance(end, last)
        return True

    def _take_records(
        self, into: Collector, codec: int, end: int, count: int, base: int, time: int, fixed: bool, epoch: int
    ) -> bool:
        """Decompress and take the records of the batch at the position; False if there is no room for them."""
        source: Buffer = self.view
        start, stop = self.position + HEADER_SIZE, end
        if codec:
            packed = self.pack(codec, start, end)
            if not into.has_room(packed.bound, min(count, packed.bound // _MIN_RECORD_SIZE)):
                return False
            source = self.unpack(packed, into)
            start, stop = 0, len(source)
        elif not into.has_room(end - start, min(count, (end - start) // _MIN_RECORD_SIZE)):
            return False
        if count < 0 or count > (stop - start) // _MIN_RECORD_SIZE:
            raise self.corrupt(f"it claims {count} records in {stop - start} bytes", base)
        if into.is_empty:
            encoded = max(end - self.position - HEADER_SIZE, 1)
            ratio = max(1.0, _MARGIN * (stop - start) / encoded) if codec else 1.0
            into.reserve(*self._expected(end, stop - start, count, into.room, ratio))
        status = into.add(source, start, stop, count, base, time, fixed, epoch)
        if status:
            raise self.corrupt(STATUS_TEXT[status], base)
        return True

    def _expected(self, end: int, plain: int, count: int, most: int, ratio: float) -> tuple[int, int]:
        """How many bytes and rows the part will have, by the headers, if all batches compress as well as the first.

        A guess, which saves making room again and again; `Collector` asks for more where it is too low.
        """
        size, rows = following(self.view, end, ratio, most - plain)
        return max(plain, min(plain + size, most)), count + rows

    def _is_committed(self, position: int, size: int, attributes: int, producer: int, last_offset: int) -> bool:
        """Keep track of aborted transactions; False for a batch that belongs to one."""
        while self._aborted and self._aborted[-1][1] <= last_offset:
            self._aborting.add(self._aborted.pop()[0])
        if attributes & _CONTROL:
            if producer in self._aborting and self._is_abort_marker(position, size, attributes):
                self._aborting.discard(producer)
            return False
        return not (attributes & _TRANSACTIONAL and producer in self._aborting)

    def _is_abort_marker(self, position: int, size: int, attributes: int) -> bool:
        """Whether the one record of a control batch ends its transaction by aborting it: bytes 2 and 3 of its key."""
        source: Buffer = self.view
        start, end = position + HEADER_SIZE, position + size
        if attributes & _CODEC_MASK:
            source = self.unpack(self.pack(attributes & _CODEC_MASK, start, end), None)
            start, end = 0, len(source)
        reader = ColumnReader(1, 0, 0, 1)
        reader.reserve(1, end - start)
        reader.source(source)
        status = reader.read(start, end, 1, 0, 0, True)
        if status or not reader.rows:
            raise self.corrupt(f"its control record cannot be read ({STATUS_TEXT.get(status, 'there is none')})")
        return bytes(reader.finish().keys.data[2:4]) == _ABORT_MARKER
