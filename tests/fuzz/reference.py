"""A second decoder: slow, short, written from Kafka's description of the formats, and with nothing of the package.

Where it and the package disagree about which records there are, one of them is wrong, also if both variants agree.
Formats: https://kafka.apache.org/documentation/#recordbatch, and KIP-98 for what belongs to aborted transactions.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import cramjam
import zstandard
from crc32c import crc32c

Headers = list[tuple[str, bytes | None]]
Record = tuple[int, int, bytes | None, bytes | None, Headers]
"""Offset, timestamp, key, value, headers."""

LARGEST = 2**62 - 1
"""The largest offset, and the largest amount of a timestamp, that the package believes."""
HEADER = struct.Struct(">qiibIhiqqqhii")
CODEC, APPEND_TIME, TRANSACTIONAL, CONTROL = 7, 8, 16, 32


class Damaged(Exception):
    """The bytes are no batch, or no record, that there can be."""


class Undecided(Exception):
    """What a changed frame of a codec holds is up to the codec's library."""


@dataclass
class Question:
    """What is asked of a decoder; the names are those of `BatchDecoder`'s arguments."""

    start_offset: int = 0
    stop_offset: int = LARGEST
    check_crcs: bool = True
    read_committed: bool = False
    aborted_transactions: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Answer:
    """What there is.

    Attributes:
        records: up to the damage, if there is any.
        damaged: whether something is wrong behind them.
        next_offset: behind the last batch that was taken.
    """

    records: list[Record]
    damaged: bool
    next_offset: int


def decode(data: bytes, question: Question, intact: bool = True) -> Answer:
    """Decode batch after batch.

    Args:
        data: the batches.
        question: which records are asked for.
        intact: whether compressed records are as a codec wrote them.

    Raises:
        Undecided: they are not, and there are some.
    """
    log = _Log(data, question, intact)
    damaged = False
    try:
        while log.take():
            pass
    except (Damaged, zlib.error, zstandard.ZstdError, cramjam.DecompressionError, EOFError, gzip.BadGzipFile):
        damaged = True
    return Answer(log.records, damaged, log.next_offset)


class _Log:
    """How far decoding is."""

    def __init__(self, data: bytes, question: Question, intact: bool) -> None:
        self.data = data
        self.ask = question
        self.stop = min(question.stop_offset, LARGEST)
        self.intact = intact
        self.at = 0
        self.records: list[Record] = []
        self.next_offset = question.start_offset
        self.ahead = sorted(question.aborted_transactions, key=lambda one: one[1])
        self.aborted: set[int] = set()

    def take(self) -> bool:
        """Take a batch; False at the end."""
        rest = self.data[self.at :]
        if len(rest) < 17:
            return False
        base, length = struct.unpack_from(">qi", rest)
        magic, size = rest[16], length + 12
        if magic > 2 or size < (26, 34, 61)[magic]:
            raise Damaged
        if size > len(rest):
            return False
        last = self.take_batch(rest[:size]) if magic == 2 else self.take_message(rest[:size], base, magic)
        if last is None:
            return False
        self.at += size
        self.next_offset = max(self.next_offset, min(last + 1, self.stop))
        return last + 1 < self.stop

    def take_batch(self, batch: bytes) -> int | None:
        """Take a batch of magic 2, and give its last offset; None if it is behind the end."""
        base, _, _, _, crc, attributes, span, first_time, max_time, producer, _, _, count = HEADER.unpack_from(batch)
        last = base + span
        if base < 0 or span < 0 or last > LARGEST:
            raise Damaged
        if base >= self.stop:
            return None
        if self.ask.check_crcs and crc32c(batch[21:]) != crc:
            raise Damaged
        if self.is_wanted(batch, attributes, producer, last) and last >= self.ask.start_offset:
            time = max_time if attributes & APPEND_TIME else first_time
            if abs(time) > LARGEST:
                raise Damaged
            plain = self.plain(attributes & CODEC, batch[61:])
            found = list(self.of_batch(plain, count, base, span, time, bool(attributes & APPEND_TIME)))
            self.records += found
        return last

    def is_wanted(self, batch: bytes, attributes: int, producer: int, last: int) -> bool:
        """Whether a batch is neither a marker nor aborted."""
        if self.ask.read_committed and producer >= 0:
            while self.ahead and self.ahead[0][1] <= last:
                self.aborted.add(self.ahead.pop(0)[0])
            if attributes & CONTROL and producer in self.aborted:
                (marker,) = records_of(self.plain(attributes & CODEC, batch[61:]), 1, 0)
                if (marker[2] or b"")[2:4] == b"\0\0":
                    self.aborted.discard(producer)
            elif attributes & TRANSACTIONAL and producer in self.aborted:
                return False
        return not attributes & CONTROL

    def of_batch(self, plain: bytes, count: int, base: int, span: int, time: int, fixed: bool) -> Iterator[Record]:
        """The records of a batch that are asked for."""
        low, high = self.ask.start_offset - base, self.stop - base
        for delta, when, key, value, headers in records_of(plain, count, span, low, high):
            if low <= delta < high:
                yield base + delta, time if fixed else time + when, key, value, headers

    def take_message(self, message: bytes, offset: int, magic: int) -> int | None:
        """Take a message of magic 0 or 1, and give its offset; None if it is behind the end."""
        attributes = message[17]
        if not 0 <= offset <= LARGEST or (self.ask.check_crcs and zlib.crc32(message[16:]) != _crc(message)):
            raise Damaged
        if attributes & CODEC:
            return self.take_wrapper(message, offset, magic)
        if offset >= self.stop:
            return None
        self.keep(_fields(message, magic), offset)
        return offset

    def take_wrapper(self, message: bytes, offset: int, magic: int) -> int | None:
        """Take a message with others in it (KIP-31)."""
        if offset < self.ask.start_offset:
            return offset
        fixed = bool(magic and message[17] & APPEND_TIME)
        _, time, _, value, _ = _fields(message, magic, check_time=False)
        inside = list(_messages(self.plain(message[17] & CODEC, value or b"")))
        if not inside or not 0 <= inside[-1][0] <= LARGEST:
            raise Damaged
        shift = offset - inside[-1][0] if magic == 1 else 0
        if inside[0][0] + shift >= self.stop:
            return None
        if fixed and abs(time) > LARGEST:
            raise Damaged
        before = len(self.records)
        try:
            for number, each in inside:
                fields = _fields(each, magic)
                if each[16] != magic or each[17] & CODEC or abs(number) > LARGEST:
                    raise Damaged
                if fixed:
                    fields = (fields[0], time, *fields[2:])
                self.keep(fields, number + shift)
        except Damaged:
            del self.records[before:]
            raise
        return offset

    def plain(self, codec: int, data: bytes) -> bytes:
        """Decompress records."""
        if codec and not self.intact:
            raise Undecided
        return decompressed(codec, data)

    def keep(self, fields: Record, offset: int) -> None:
        """Add a record if it is asked for."""
        if self.ask.start_offset <= offset < self.stop:
            self.records.append((offset, *fields[1:]))


def records_of(plain: bytes, count: int, span: int, low: int = 0, high: int = 1) -> Iterator[Record]:
    """The records of a batch of magic 2, with their deltas. Headers are looked at from offset delta `low` to `high`."""
    if not 0 <= count <= len(plain) // 7:
        raise Damaged
    at = 0
    for _ in range(count):
        length, at = varint(plain, at)
        if not 1 <= length <= len(plain) - at:
            raise Damaged
        record = plain[at : at + length]
        at += length
        when, inner = varint(record, 1)
        delta, inner = varint(record, inner)
        if not 0 <= delta <= span or abs(when) > LARGEST:
            raise Damaged
        key, inner = _bytes(record, inner)
        value, inner = _bytes(record, inner)
        number, inner = varint(record, inner)
        if not 0 <= 2 * number <= len(record) - inner:
            raise Damaged
        headers: Headers = []
        if low <= delta < high:
            for _ in range(number):
                name, inner = _bytes(record, inner)
                content, inner = _bytes(record, inner)
                if name is None:
                    raise Damaged
                headers.append((name.decode(errors="replace"), content))
            if inner != len(record):
                raise Damaged
        yield delta, when, key, value, headers
    if at != len(plain):
        raise Damaged


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag number of at most 64 bits, and where it ends."""
    bits = 0
    for index, byte in enumerate(data[at : at + 10]):
        bits |= (byte & 127) << 7 * index
        if byte < 128:
            if bits >> 64:
                break
            return (bits >> 1) ^ -(bits & 1), at + index + 1
    raise Damaged


def _bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    """Bytes with their length before them, -1 for null; and where they end."""
    size, at = varint(data, at)
    if not -1 <= size <= len(data) - at:
        raise Damaged
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def _crc(message: bytes) -> int:
    return int.from_bytes(message[12:16], "big")


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The messages of a set, each with the offset that stands there."""
    at = 0
    while at < len(data):
        if len(data) - at < 12:
            raise Damaged
        offset, length = struct.unpack_from(">qi", data, at)
        if not 14 <= length <= len(data) - at - 12:
            raise Damaged
        yield offset, data[at : at + 12 + length]
        at += 12 + length


def _fields(message: bytes, magic: int, check_time: bool = True) -> Record:
    """What a message of magic 0 or 1 holds; its key and its value fill it."""
    at = 26 if magic else 18
    time = int.from_bytes(message[18:26], "big", signed=True) if magic else -1
    parts: list[bytes | None] = []
    for _ in range(2):
        if len(message) - at < 4:
            raise Damaged
        (size,) = struct.unpack_from(">i", message, at)
        at += 4
        if not -1 <= size <= len(message) - at:
            raise Damaged
        parts.append(None if size < 0 else message[at : at + size])
        at += max(size, 0)
    if at != len(message) or (check_time and abs(time) > LARGEST):
        raise Damaged
    return -1, time, parts[0], parts[1], []


def decompressed(codec: int, data: bytes) -> bytes:
    """What a whole, sound frame holds."""
    if codec == 0:
        return data
    if codec == 1:
        return gzip.decompress(data)
    if codec == 2:
        return b"".join(bytes(cramjam.snappy.decompress_raw(block)) for block in _xerial_blocks(data))
    if codec == 3:
        # The library refuses the wrong header checksum that magic 0 has (KAFKA-3160).
        return bytes(cramjam.lz4.decompress(data.replace(b"\x60\x40\x1a", b"\x60\x40\x82", 1)))
    if codec == 4:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            return reader.read()
    raise Damaged


def _xerial_blocks(data: bytes) -> Iterator[bytes]:
    """The blocks behind the headers of xerial's framing."""
    at = 0
    while at < len(data):
        if data.startswith(b"\x82SNAPPY\x00", at):
            at += 16
            continue
        (size,) = struct.unpack_from(">i", data, at)
        yield data[at + 4 : at + 4 + size]
        at += 4 + size
