"""Damaged bytes raise one kind of error and nothing else, compiled and plain."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka._variant import HOT_MODULES, compiled_modules
from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError, UnsupportedForMessageFormatError
from kafka.record import batch_headers, check_batch, decode_batches, set_offsets

from .samples import kafka_batches, rows

DAMAGE = (CorruptRecordException, UnsupportedCompressionTypeError)
SMALL = [sample.data for sample in kafka_batches() if len(sample.data) < 1500]


def read_everything(data: bytes) -> None:
    """Use all that reads batches on some bytes."""
    try:
        columns = decode_batches(data, check_crcs=False, read_committed=True, aborted_transactions=[(42, 0)])
        assert len(rows(columns)) == len(columns)
        columns.to_arrow().validate(full=True)
    except DAMAGE:
        pass
    try:
        for header in batch_headers(data):
            try:
                check_batch(data, header)
                set_offsets(bytearray(data), header, 7, 1, 5)
            except (CorruptRecordException, UnsupportedForMessageFormatError):
                pass
    except DAMAGE:
        pass


def damaged(rng: random.Random) -> bytes:
    """A batch of Apache Kafka, or two, with some bytes changed, cut out or put in."""
    data = bytearray(rng.choice(SMALL) + (rng.choice(SMALL) if rng.random() < 0.3 else b""))
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(min(len(data), rng.choice((90, 2000))))
        kind = rng.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice((0, 1, 2, 127, 128, 254, 255, rng.randrange(256)))
        elif kind == 2:
            del data[at : at + rng.randrange(1, 5)]
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.randrange(1, 5))
        else:
            del data[max(at, 1) :]
        data = data or bytearray(1)
    return bytes(data)


@given(st.integers(0, 2**32))
@settings(max_examples=400, deadline=None)
def test_damaged_batches(seed: int) -> None:
    read_everything(damaged(random.Random(seed)))


@given(st.binary(max_size=300))
@example(b"\x00" * 17)
@example(b"\xff" * 100)
def test_bytes_that_never_were_a_batch(data: bytes) -> None:
    read_everything(data)
    read_everything(data[:16] + b"\x02" + data[17:])


def test_the_other_variant_reads_the_same() -> None:
    """Compiled and plain agree on what a damaged batch is, and on what can be read of one."""
    if set(compiled_modules().values()) != {True}:
        pytest.skip("needs the compiled variant: python setup.py build_ext --inplace")
    environment = {**os.environ, "KAFKA_PURE": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    plain = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import digest; print(digest(1500))"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert plain.strip() == digest(1500)


def digest(count: int) -> str:
    """A checksum over what decoding many damaged batches gave, with the number of those that could be read."""
    import zlib

    readable, checksum = 0, 0
    for seed in range(count):
        data = damaged(random.Random(seed))
        try:
            found = repr(rows(decode_batches(data, check_crcs=False)))
            readable += 1
        except DAMAGE as error:
            found = f"{type(error).__name__} {error}"
        checksum = zlib.crc32(found.encode("utf-8", "surrogatepass"), checksum)
    assert len(HOT_MODULES) > 0
    return f"{readable} of {count} readable, checksum {checksum}"
