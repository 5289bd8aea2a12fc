"""Logs in which one number is at, or just beyond, what it can be, and everything around it is right.

Bytes that are changed at random rarely reach a comparison with the two values between which it decides, and a checksum
or a length hides the change. Here batches are written from their numbers: one of them is moved to a boundary, then
lengths and checksums are made to fit, and the records are compressed.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from random import Random

from crc32c import crc32c

from kafka.record import Compression
from kafka.record.codecs import compress

LARGEST = 2**62 - 1
STEPS = [-2, -1, 1, 1, 2]
"""How far from where it belongs a number is moved."""
ENDS = [0, -1, 63, 64, -64, -65, 8191, 8192, 2**31 - 1, 2**31, -(2**31), LARGEST, LARGEST + 1, 2**63 - 1, -(2**63)]
"""Numbers at which a variable-length number becomes longer, or a type ends."""


@dataclass
class Number:
    """A zigzag number; `padding` more bytes than it needs are written."""

    value: int
    padding: int = 0

    def encoded(self) -> bytes:
        """As it stands in a record."""
        bits = (self.value << 1 ^ self.value >> 63) & (1 << 64) - 1
        out = bytearray()
        while bits > 127:
            out.append(bits & 127 | 128)
            bits >>= 7
        out.append(bits)
        for _ in range(self.padding):
            out[-1] |= 128
            out.append(0)
        return bytes(out)


Part = Number | bytes


def moved(rng: Random, value: int, limits: list[int]) -> int:
    """Another number: beside what it was, beside a limit, or where something ends."""
    return rng.choice(
        (
            value + rng.choice(STEPS),
            value + rng.choice(STEPS),
            rng.choice(limits) + rng.choice((-1, 0, 1)),
            rng.choice(ENDS),
        )
    )


def nullable(data: bytes | None) -> list[Part]:
    """A key or a value with its length before it."""
    return [Number(-1)] if data is None else [Number(len(data)), data]


def some_bytes(rng: Random) -> bytes | None:
    return rng.choice((None, b"", b"k", b"value", bytes(63), bytes(64), bytes(200)))


def record(rng: Random, index: int) -> list[Part]:
    """The parts of a record, without its length."""
    parts: list[Part] = [b"\0", Number(rng.choice((0, index, -index, 63, 64))), Number(index)]
    parts += nullable(some_bytes(rng)) + nullable(some_bytes(rng))
    count = rng.choice((0, 0, 1, 3))
    parts.append(Number(count))
    for _ in range(count):
        parts += nullable(some_bytes(rng) or b"") + nullable(some_bytes(rng))
    return parts


def change(rng: Random, parts: list[Part], span: int) -> None:
    """Move one number of a record, or write it longer than it has to be."""
    _, time, offset, *others = parts
    number = rng.choice((time, offset, rng.choice([part for part in others if isinstance(part, Number)])))
    assert isinstance(number, Number)
    if rng.random() < 0.15:
        number.padding = rng.choice((1, 4, 8, 9, 10))
    else:
        limits = [-LARGEST, LARGEST] if number is time else [0, span] if number is offset else [0, -1]
        number.value = max(min(moved(rng, number.value, limits), 2**63 - 1), -(2**63))


def joined(rng: Random, parts: list[Part], wrong: bool) -> bytes:
    """A record with its length, which is now and then wrong if `wrong`."""
    body = b"".join(part.encoded() if isinstance(part, Number) else part for part in parts)
    off = rng.choice((0, 0, 0, 0, -1, 1, -len(body), 2**31)) if wrong else 0
    return Number(len(body) + off, rng.choice((0, 0, 0, 1)) if wrong else 0).encoded() + body


def batch(rng: Random, base: int, faulty: bool) -> tuple[bytes, int]:
    """A batch of magic 2, and the offset behind it."""
    count = rng.choice((1, 1, 2, 3, 10))
    span = count - 1 + rng.choice((0, 0, 0, 1, 5))
    records = [record(rng, index) for index in range(count)]
    claimed, attributes, time = count, rng.choice((0, 0, 0, 8, 16, 32, 48)), rng.choice((0, 10**12))
    where = rng.randrange(4) if faulty else -1
    victim = rng.randrange(count)
    if where in (0, 1):
        change(rng, records[victim], span)
    elif where == 2:
        what = rng.randrange(4)
        if what == 0:
            claimed += rng.choice(STEPS)
        elif what == 1:
            span = max(min(moved(rng, span, [count - 1]), 2**31 - 1), -(2**31))
        elif what == 2:
            time = rng.choice((1, -1)) * LARGEST + rng.choice((-1, 0, 1))
        else:
            base = LARGEST - span + rng.choice((-1, 0, 1))
    plain = b"".join(joined(rng, parts, where == 3 and index == victim) for index, parts in enumerate(records))
    if faulty and rng.random() < 0.1:
        plain += rng.choice((b"\0", bytes(7)))
    codec = rng.choice((0, 0, 0, 1, 2, 3, 4))
    attributes |= codec
    packed = bytes(compress(Compression(codec), plain))
    checked = struct.pack(">hiqqqhii", attributes, span, time, time, rng.choice((-1, 7)), 0, 0, claimed) + packed
    head = struct.pack(">qiibI", base, len(checked) + 9, rng.choice((0, 0, 0, 3)), 2, crc32c(checked))
    return head + checked, base + max(span, 0) + 1


def message(
    rng: Random, magic: int, offset: int, faulty: bool, attributes: int = 0, value: bytes | None = None
) -> bytes:
    """A message of magic 0 or 1."""
    body = struct.pack(">bb", magic, attributes | rng.choice((0, 0, 8 * magic)))
    time = rng.choice((-1, 10**12)) if not faulty else rng.choice((1, -1)) * LARGEST + rng.choice((-1, 0, 1))
    body += struct.pack(">q", time) if magic else b""
    texts = (some_bytes(rng), value if attributes else some_bytes(rng))
    for index, text in enumerate(texts):
        size = -1 if text is None else len(text)
        off = rng.choice((0, 0, -1, 1, -size, 2**31 - 1 - size)) if faulty and not (attributes and index == 0) else 0
        body += struct.pack(">i", max(min(size + off, 2**31 - 1), -(2**31))) + (text or b"")
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrapper(rng: Random, magic: int, base: int, faulty: bool) -> tuple[bytes, int]:
    """A compressed message of magic 0 or 1, and the offset behind it."""
    count = rng.choice((1, 2, 5))
    victim = rng.randrange(2 * count) if faulty else -1
    first = base if magic == 0 else 0
    offsets = [first + index for index in range(count)]
    if faulty and rng.random() < 0.3:
        offsets[rng.randrange(count)] = rng.choice((LARGEST, LARGEST + 1, -1, -LARGEST, -LARGEST - 1, base))
    inner_magic = rng.choice((magic, magic, magic, 1 - magic)) if faulty else magic
    plain = b"".join(message(rng, inner_magic, offset, index == victim) for index, offset in enumerate(offsets))
    codec = rng.choice((1, 2, 3))
    packed = bytes(compress(Compression(codec), plain, magic=1))
    return message(rng, magic, base + count - 1, faulty and rng.random() < 0.2, codec, packed), base + count


def log(rng: Random) -> tuple[bytes, list[int]]:
    """A few batches, of which at most one is wrong, and offsets near which something begins or ends."""
    base = rng.choice((0, 0, 5, 2**31, LARGEST - 20))
    edges = [base]
    parts = []
    count = rng.choice((1, 1, 2, 4))
    victim = rng.randrange(count + 1)
    magics = [rng.choice((0, 1, 2, 2, 2, 2, 2))] * count if rng.random() < 0.8 else rng.choices((0, 1, 2), k=count)
    for index, magic in enumerate(magics):
        faulty = index == victim
        if magic == 2:
            data, base = batch(rng, base, faulty)
        elif rng.random() < 0.5:
            data, base = wrapper(rng, magic, base, faulty)
        else:
            offset = moved(rng, base, [LARGEST, 0]) if faulty and rng.random() < 0.3 else base
            data = message(rng, magic, max(min(offset, 2**63 - 1), -(2**63)), faulty)
            base += 1
        base = min(base, LARGEST)
        edges.append(base)
        parts.append(data)
    return b"".join(parts), edges
