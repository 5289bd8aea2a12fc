"""From the bytes of a fetched partition to columns.

First the batches are gone through: checked, filtered and decompressed, which tells how much memory the columns can
need. Then `reader` fills them in one pass.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from crc32c import crc32c

from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError
from kafka.record.batch import HEADER_SIZE, CorruptMessageSet, offsets_of_messages, wrapper_value
from kafka.record.codecs import MAX_DECOMPRESSED_SIZE, CodecError, decompress
from kafka.record.columns import Columns, Run
from kafka.record.reader import STATUS_TEXT, ColumnReader
from kafka.record.types import Buffer

MAX_COLUMN_SIZE = 0x7FFFFFFF
"""How many bytes the keys, or the values, of one `Columns` may have together: Arrow's positions are int32."""

_V2 = struct.Struct(">qiibIhiqqqhii")
_SIZE = struct.Struct(">i")
_V2_CHECKED_FROM = 21
_MIN_RECORD_SIZE = 7
_MIN_MESSAGE_SIZE = 26
_MAX_OFFSET = (1 << 62) - 1
_CODEC_MASK, _LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20
_ABORT_MARKER = b"\x00\x00"


class _Body(NamedTuple):
    """The records of a batch, or of several neighbours of magic 0 or 1, before they are read."""

    source: Buffer
    start: int
    end: int
    capacity: int
    magic: int
    base_offset: int
    """What is added to an offset found in the records."""
    base_timestamp: int
    fixed_timestamp: bool
    timestamp_type: int
    leader_epoch: int
    position: int
    """Of the batch, for messages."""


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
        data: whole batches, as a fetch response holds them; the last may be cut off and is left out then.
        topic: for the records, and for error messages.
        partition: likewise.
        check_crcs: compare every batch with its checksum.
        read_committed: leave out the records of aborted transactions (KIP-98). Control batches are left out always.
        aborted_transactions: `(producer_id, first_offset)` of the transactions that the response lists as aborted.
        start_offset: records below it are left out: a broker sends whole batches.
        stop_offset: records at or above it are left out, and nothing is read behind it.
        max_decompressed_size: how many bytes the records of one batch may have.

    Returns:
        The columns, with `next_offset` and `bytes_consumed` telling where to go on. They end before the batch with
        which keys or values could pass 2 GiB; decoding the rest of `data` goes on there.

    Raises:
        CorruptRecordException: a batch is damaged; the message has topic, partition and offset.
        UnsupportedCompressionTypeError: a batch names a codec that does not exist.
    """
    scan = _Scan(data, topic, partition, check_crcs, start_offset, stop_offset, max_decompressed_size)
    if read_committed:
        scan.aborted = sorted(aborted_transactions, key=_first_offset, reverse=True)
        scan.read_committed = True
    scan.run()
    return scan.read()


def _first_offset(transaction: tuple[int, int]) -> int:
    """Where an aborted transaction begins."""
    return transaction[1]


class _Scan:
    """One decoding: goes through the batches, then reads their records."""

    def __init__(
        self,
        data: Buffer,
        topic: str,
        partition: int,
        check_crcs: bool,
        start_offset: int,
        stop_offset: int | None,
        max_size: int,
    ) -> None:
        self.view = memoryview(data).cast("B")
        self.topic = topic
        self.partition = partition
        self.check_crcs = check_crcs
        self.start_offset = start_offset
        self.stop_offset = _MAX_OFFSET if stop_offset is None else stop_offset
        self.max_size = min(max_size, MAX_COLUMN_SIZE)
        self.read_committed = False
        self.aborted: list[tuple[int, int]] = []
        self.aborting: set[int] = set()
        self.bodies: list[_Body] = []
        self.capacity = 0
        self.data_capacity = 0
        self.next_offset = start_offset
        self.position = 0
        self.leader_epoch = -1

    def run(self) -> None:
        """Go through the batches until the data, the offsets asked for or the room in the columns end."""
        view = self.view
        total = len(view)
        more = True
        while more and total - self.position >= 17:
            position = self.position
            size = _SIZE.unpack_from(view, position + 8)[0] + 12
            magic = view[position + 16]
            if magic > 2 or size < (HEADER_SIZE if magic == 2 else 26 + 8 * magic):
                raise self.corrupt(f"the batch claims magic {magic} and {size} bytes")
            if size > total - position:
                break
            more = self.take_batch(position, size) if magic == 2 else self.take_message(position, size, magic)

    def corrupt(self, what: str, offset: int | None = None) -> CorruptRecordException:
        """An error that says where the damage is."""
        if offset is None:
            offset = int.from_bytes(self.view[self.position : self.position + 8], "big", signed=True)
        return CorruptRecordException(
            f"Cannot decode the batch of {self.topic}-{self.partition} with offset {offset} at byte {self.position} "
            f"of {len(self.view)}: {what}. Fetching it again helps if it was damaged on the way; seek past it if not."
        )

    def take_batch(self, position: int, size: int) -> bool:
        """Check and take a batch of magic 2; False if nothing behind it (or it itself) is wanted now."""
        view = self.view
        end = position + size
        base, _, epoch, _, crc, attributes, last_delta, first_time, max_time, producer, _, _, count = _V2.unpack_from(
            view, position
        )
        if base < 0 or last_delta < 0 or base + last_delta > _MAX_OFFSET:
            raise self.corrupt(f"its offsets begin at {base} and span {last_delta}")
        if base >= self.stop_offset:
            return False
        if self.check_crcs and crc32c(view[position + _V2_CHECKED_FROM : end]) != crc:
            raise self.corrupt(f"its checksum is {crc:#010x}, but its bytes have another", base)
        last = base + last_delta
        wanted = last >= self.start_offset and not attributes & _CONTROL
        if self.read_committed and producer >= 0:
            wanted = self.is_committed(position, size, attributes, producer, last) and wanted
        if wanted:
            source, start, stop = self.body(attributes & _CODEC_MASK, position + HEADER_SIZE, end)
            if count < 0 or count > (stop - start) // _MIN_RECORD_SIZE:
                raise self.corrupt(f"it claims {count} records in {stop - start} bytes", base)
            fixed = bool(attributes & _LOG_APPEND_TIME)
            time = max_time if fixed else first_time
            if not -_MAX_OFFSET <= time <= _MAX_OFFSET:
                raise self.corrupt(f"its timestamp is {time}", base)
            if not self.add(_Body(source, start, stop, count, 2, base, time, fixed, int(fixed), epoch, position)):
                return False
        self.leader_epoch = epoch
        return self.advance(end, last)

    def advance(self, end: int, last_offset: int) -> bool:
        """Move behind a batch; False if the offset to stop at has been reached."""
        self.position = end
        self.next_offset = max(self.next_offset, min(last_offset + 1, self.stop_offset))
        return last_offset + 1 < self.stop_offset

    def add(self, body: _Body) -> bool:
        """Keep the records of a batch for reading; False if the columns have no room for them beside the others."""
        size = body.end - body.start
        if self.bodies and self.data_capacity + size > MAX_COLUMN_SIZE:
            return False
        self.data_capacity += size
        self.capacity += body.capacity
        self.bodies.append(body)
        return True

    def is_committed(self, position: int, size: int, attributes: int, producer: int, last_offset: int) -> bool:
        """Keep track of aborted transactions; False for a batch that belongs to one."""
        while self.aborted and self.aborted[-1][1] <= last_offset:
            self.aborting.add(self.aborted.pop()[0])
        if attributes & _CONTROL:
            if producer in self.aborting and self.is_abort_marker(position, size, attributes):
                self.aborting.discard(producer)
            return False
        return not (attributes & _TRANSACTIONAL and producer in self.aborting)

    def is_abort_marker(self, position: int, size: int, attributes: int) -> bool:
        """Whether the one record of a control batch ends its transaction by aborting it: bytes 2 and 3 of its key."""
        source, start, end = self.body(attributes & _CODEC_MASK, position + HEADER_SIZE, position + size)
        reader = ColumnReader(1, end - start, 0, 1, False)
        reader.source(source)
        status = reader.read(start, end, 1, 0, 0, True)
        if status or not reader.rows:
            raise self.corrupt(f"its control record cannot be read ({STATUS_TEXT.get(status, 'there is none')})")
        return bytes(reader.finish().keys.data[2:4]) == _ABORT_MARKER

    def body(self, codec: int, start: int, end: int) -> tuple[Buffer, int, int]:
        """Where the records are: in the data itself, or in a buffer of their own after decompressing."""
        if not codec:
            return self.view, start, end
        try:
            plain = decompress(codec, self.view[start:end], self.max_size)
        except CodecError as error:
            raise self.corrupt(f"it cannot be decompressed ({error})") from error
        except UnsupportedCompressionTypeError as error:
            raise UnsupportedCompressionTypeError(str(self.corrupt(str(error)))) from error
        return plain, 0, len(plain)

    def take_message(self, position: int, size: int, magic: int) -> bool:
        """Check and take a message of magic 0 or 1, compressed or not; False if nothing behind it is wanted."""
        view = self.view
        end = position + size
        offset = int.from_bytes(view[position : position + 8], "big", signed=True)
        attributes = view[position + 17]
        if not 0 <= offset <= _MAX_OFFSET:
            raise self.corrupt(f"its offset is {offset}")
        if self.check_crcs and zlib.crc32(view[position + 16 : end]) != int.from_bytes(
            view[position + 12 : position + 16]
        ):
            raise self.corrupt("its checksum and its bytes differ", offset)
        kind = -1 if magic == 0 else attributes >> 3 & 1
        codec = attributes & _CODEC_MASK
        if codec:
            return self.take_wrapper(position, size, magic, offset, codec, kind)
        if offset >= self.stop_offset:
            return False
        last = self.bodies[-1] if self.bodies else None
        if (
            last
            and last.source is view
            and last.end == position
            and last.magic == magic
            and last.timestamp_type == kind
        ):
            if self.data_capacity + size > MAX_COLUMN_SIZE:
                return False
            self.bodies[-1] = last._replace(end=end, capacity=last.capacity + 1)
            self.capacity += 1
            self.data_capacity += size
        elif not self.add(_Body(view, position, end, 1, magic, 0, 0, False, kind, -1, position)):
            return False
        return self.advance(end, offset)

    def take_wrapper(self, position: int, size: int, magic: int, offset: int, codec: int, kind: int) -> bool:
        """Take a compressed message; those inside count their offsets from the first of them in magic 1 (KIP-31)."""
        end = position + size
        if offset < self.start_offset:
            return self.advance(end, offset)
        try:
            value = wrapper_value(self.view, position, size, magic)
            source, start, stop = self.body(codec, end - len(value), end)
            offsets = offsets_of_messages(memoryview(source))
        except CorruptMessageSet as error:
            raise self.corrupt(str(error), offset) from error
        shift = offset - offsets[-1] if magic == 1 else 0
        if offsets[0] + shift >= self.stop_offset:
            return False
        time = int.from_bytes(self.view[position + 18 : position + 26], "big", signed=True) if kind == 1 else 0
        body = _Body(source, start, stop, len(offsets), magic, shift, time, kind == 1, kind, -1, position)
        return self.add(body) and self.advance(end, offset)

    def read(self) -> Columns:
        """Read the records of all batches that were taken."""
        legacy = any(body.magic < 2 for body in self.bodies)
        reader = ColumnReader(self.capacity, self.data_capacity, self.start_offset, self.stop_offset, legacy)
        runs: list[Run] = []
        source: Buffer | None = None
        shared: tuple[int, int] | None = None
        for body in self.bodies:
            if body.source is not source:
                source = body.source
                reader.source(source)
            if shared != (body.leader_epoch, body.timestamp_type):
                shared = (body.leader_epoch, body.timestamp_type)
                runs.append(Run(reader.rows, *shared))
            status = self.read_body(reader, body)
            if status:
                self.position = body.position
                raise self.corrupt(STATUS_TEXT[status])
        return Columns(
            reader.finish(), runs, self.topic, self.partition, self.next_offset, self.position, self.leader_epoch
        )

    @staticmethod
    def read_body(reader: ColumnReader, body: _Body) -> int:
        """Read the records of one batch; returns the reader's status."""
        if body.magic == 2:
            return reader.read(
                body.start, body.end, body.capacity, body.base_offset, body.base_timestamp, body.fixed_timestamp
            )
        return reader.read_legacy(
            body.start, body.end, body.magic, body.base_offset, body.fixed_timestamp, body.base_timestamp
        )
