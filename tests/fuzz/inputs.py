"""Bytes to be read: what Apache Kafka and this client wrote, changed here and there."""

from __future__ import annotations

import itertools
import json
import lzma
import struct
import zlib
from functools import cache
from pathlib import Path
from random import Random

from crc32c import crc32c

from kafka.record import BatchBuilder, Compression
from kafka.record.codecs import CODECS

DATA = Path(__file__).parents[1] / "data"
EXTREMES = [0, 1, -1, 2, 127, 128, 255, 0x7FFF, 0x7FFFFFFF, -0x80000000, 2**62 - 1, 2**62, 2**63 - 1, -(2**63)]
"""Numbers at which something ends."""


@cache
def batches() -> list[bytes]:
    """Batches of all formats and codecs, small ones, with and without headers, control batches too."""
    with lzma.open(DATA / "batches.jsonl.xz", "rt") as lines:
        found = [data for line in lines if len(data := bytes.fromhex(json.loads(line)["hex"])) < 4000]
    for magic, codec, count in itertools.product((0, 1, 2), Compression, (1, 3)):
        if codec and magic < CODECS[codec].oldest_magic:
            continue
        builder = BatchBuilder(magic, codec)
        for number in range(count):
            headers = [("name", b"value"), ("", None)] if magic == 2 and number else []
            key = [None, b"", b"key"][number % 3]
            builder.append(1_700_000_000_000 + number, key, None if number == 2 else b"v" * 40, headers)
        found.append(builder.build())
    return found


@cache
def messages() -> list[tuple[str, str, int, bytes]]:
    """Release, name, version and bytes of messages of the protocol."""
    with lzma.open(DATA / "protocol" / "messages.jsonl.xz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return [(case["release"], case["name"], case["version"], bytes.fromhex(case["hex"])) for case in cases]


def log(rng: Random) -> bytes:
    """What a fetch of a partition may hold: a few batches with growing offsets."""
    parts = []
    base = rng.choice((0, 0, 5, 2**31, 2**62 - 9))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        batch = bytearray(rng.choice(batches()))
        if rng.random() < 0.7:
            batch[:8] = base.to_bytes(8, "big")
            base = min(base + rng.choice((1, 3, 10)), 2**63 - 1)
        parts.append(bytes(batch))
    return b"".join(parts)


def changed(rng: Random, data: bytes) -> bytes:
    """The bytes with some changes, now and then none."""
    edited = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        if edited:
            _change(rng, edited)
    return bytes(edited)


def _change(rng: Random, edited: bytearray) -> None:
    """Change something."""
    at = rng.randrange(len(edited))
    kind = rng.randrange(8)
    if kind == 0:
        edited[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        edited[at] = rng.randrange(256)
    elif kind == 2:
        del edited[at:]
    elif kind == 3:
        del edited[at : at + rng.choice((1, 1, 2, 4, 8, 30))]
    elif kind == 4:
        edited[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 30)))
    elif kind == 5:
        other = rng.randrange(len(edited))
        size = rng.choice((1, 4, 8, 30))
        edited[at : at + size] = edited[other : other + size]
    else:
        form, bits = rng.choice(((">q", 64), (">i", 32), (">h", 16), ("<i", 32), ("<q", 64)))
        number = rng.choice(EXTREMES) + rng.choice((0, 0, 0, 1, -1))
        wrapped = (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        packed = struct.pack(form, wrapped)
        edited[at : at + len(packed)] = packed


def with_right_sums(data: bytes) -> bytes:
    """The batches with the checksums of what they hold, and lengths that end with the data, as far as they go."""
    fixed = bytearray(data)
    at = 0
    while len(fixed) - at >= 26:
        size = 12 + int.from_bytes(fixed[at + 8 : at + 12], "big", signed=True)
        end = at + size
        if size < 26 or end > len(fixed):
            end = len(fixed)
            fixed[at + 8 : at + 12] = (end - at - 12).to_bytes(4, "big")
        if fixed[at + 16] >= 2:
            fixed[at + 17 : at + 21] = crc32c(bytes(fixed[at + 21 : end])).to_bytes(4, "big")
        else:
            fixed[at + 12 : at + 16] = zlib.crc32(fixed[at + 16 : end]).to_bytes(4, "big")
        at = end
    return bytes(fixed)
