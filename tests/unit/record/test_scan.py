"""Batches read at one go: the same comes out as when each is read by itself, also where something is special."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka.record import BatchBuilder, BatchDecoder, Compression, decode, set_offsets, whole_batches
from kafka.record.batch import batch_headers
from kafka.record.scan import plain_run

from .samples import batch, control_batch, rows, with_attributes

LOG_APPEND_TIME = 0x08
_ANYWHERE = (0, 1 << 61)


def small_batches(rng: random.Random, count: int) -> bytes:
    """Batches of zero to three records each; now and then one that is of another kind."""
    log = bytearray()
    offset = rng.randrange(50)
    for number in range(count):
        data = _one(rng, offset, number)
        header = next(batch_headers(data))
        set_offsets(data, header, offset, rng.choice((0, 0, 0, 0, 0, 0, 0, 1)))
        log += data
        offset = next(batch_headers(data)).last_offset + 1 + rng.choice((0, 0, 0, 5))
    return bytes(log)


def _one(rng: random.Random, offset: int, number: int) -> bytearray:
    kind = rng.randrange(24)
    if kind == 0:
        return bytearray(control_batch(offset, 7, commit=rng.random() < 0.5))
    if kind == 1:
        return bytearray(batch(b"transactional", b"too", producer_id=7, transactional=True))
    if kind == 2:
        return bytearray(batch(b"packed" * 20, compression=rng.choice(list(Compression))))
    if kind == 3:
        return bytearray(batch(b"old", magic=rng.randrange(2)))
    builder = BatchBuilder()
    for index in range(rng.choice((1, 1, 1, 2, 3))):
        headers = [("h" * rng.randrange(3), rng.choice((None, b"", b"v" * 9)))] if rng.random() < 0.1 else []
        builder.append(1_000 * number + index, rng.choice((None, b"", b"key")), rng.choice((None, b"v" * 40)), headers)
    data = builder.build(producer_id=rng.choice((-1, 3)))
    return bytearray(with_attributes(data, LOG_APPEND_TIME) if rng.random() < 0.03 else data)


def seen(data: bytes, max_bytes: int, **options: Any) -> list[Any]:
    """All that a decoder says until the end, or until damage."""
    decoder = BatchDecoder(data, topic="t", partition=1, **options)
    said: list[Any] = []
    while not decoder.finished:
        columns, damage = decoder.part(max_bytes)
        said.append((rows(columns), columns.runs(), columns.next_offset, columns.bytes_consumed, columns.leader_epoch))
        said.append(repr(damage))
        if damage is not None:
            break
    return said


@pytest.mark.parametrize("seed", range(60))
def test_what_is_read_at_one_go_is_what_is_read_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    data = bytearray(small_batches(rng, 60))
    if seed % 3:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    options = {
        "check_crcs": seed % 3 != 2,
        "read_committed": rng.random() < 0.5,
        "aborted_transactions": [(7, rng.randrange(100))],
        "start_offset": rng.choice((0, 0, 41)),
        "stop_offset": rng.choice((None, None, 97)),
    }
    max_bytes = rng.choice((1, 300, 1 << 20))
    at_one_go = seen(bytes(data), max_bytes, **options)
    monkeypatch.setattr(decode, "plain_run", lambda *args: None)
    assert at_one_go == seen(bytes(data), max_bytes, **options)


def test_a_run_goes_on_until_something_is_special() -> None:
    plain = batch(b"a", b"b") + batch(b"c", base_offset=2)
    special = {
        "compressed": batch(b"d" * 50, base_offset=3, compression=Compression.LZ4),
        "control": control_batch(3, 7, commit=True),
        "log append time": with_attributes(batch(b"d", base_offset=3), LOG_APPEND_TIME),
        "old": batch(b"d", base_offset=3, magic=1),
        "cut off": batch(b"d", base_offset=3)[:-1],
        "damaged": batch(b"d", base_offset=3)[:-1] + b"\x55",
        "at the stop": batch(b"d", base_offset=1000),
        "for which there is no room": batch(b"d" * 4000, base_offset=3),
    }
    for what, data in special.items():
        run = plain_run(memoryview(plain + data), 0, 0x27, 0, 1000, 4000, 0)
        assert run is not None, what
        assert run == (len(plain), len(plain) - 2 * 61, 3, 2, -1, False), what


@pytest.mark.parametrize(("at", "value"), [(0, 0x80), (23, 0x80), (27, 0x7F), (57, 0x80), (59, 1)])
def test_a_batch_whose_header_cannot_be_is_left_to_be_told_of(at: int, value: int) -> None:
    data = bytearray(batch(b"a"))
    data[at] = value
    assert plain_run(memoryview(bytes(data)), 0, 0x27, *_ANYWHERE, 1 << 20, len(data)) is None


def test_a_run_is_read_while_it_is_in_the_caches() -> None:
    data = b"".join(batch(bytes(1000), base_offset=n) for n in range(1000))
    run = plain_run(memoryview(data), 0, 0x27, *_ANYWHERE, 1 << 30, 0)
    assert run is not None
    assert 128 << 10 <= run.end < (128 << 10) + 1100


def test_batches_too_short_for_what_they_claim_are_measured_all_the_same() -> None:
    data = bytearray(26)
    data[11], data[16] = 14, 2
    assert whole_batches(memoryview(bytes(data))) == (26, 1)
