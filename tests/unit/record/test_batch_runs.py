"""Batches read together: the same comes out as when each is read by itself, also where something is special."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka.record import (
    BatchBuilder,
    BatchDecoder,
    Compression,
    batch_headers,
    decode_run,
    set_offsets,
    whole_batches,
)
from kafka.record.batch_runs import BatchRun, RunFinder
from kafka.record.codecs import SMALL_CODECS

from .samples import batch, control_batch, kafka_batches, rows, with_attributes

LOG_APPEND_TIME = 0x08
CONTROL = 0x20
PACKED = [codec for codec in Compression if codec]


def small_batches(rng: random.Random, count: int, codec: Compression) -> bytes:
    """Batches of one to three records each; now and then one that is of another kind."""
    log = bytearray()
    offset = rng.randrange(50)
    for number in range(count):
        data = _one(rng, offset, number, codec)
        header = next(batch_headers(data))
        set_offsets(data, header, offset, rng.choice((0, 0, 0, 0, 0, 0, 0, 1)))
        log += data
        offset = next(batch_headers(data)).last_offset + 1 + rng.choice((0, 0, 0, 5))
    return bytes(log)


def _one(rng: random.Random, offset: int, number: int, codec: Compression) -> bytearray:
    kind = rng.randrange(24)
    if kind == 0:
        return bytearray(control_batch(offset, 7, commit=rng.random() < 0.5))
    if kind == 1:
        return bytearray(batch(b"transactional", b"too", producer_id=7, transactional=True))
    if kind == 2:
        return bytearray(batch(b"packed" * 20, compression=rng.choice(list(Compression))))
    if kind == 3:
        return bytearray(batch(b"old", magic=rng.randrange(2)))
    builder = BatchBuilder(2, codec)
    for index in range(rng.choice((1, 1, 1, 2, 3))):
        headers = [("h" * rng.randrange(3), rng.choice((None, b"", b"v" * 9)))] if rng.random() < 0.1 else []
        builder.append(1_000 * number + index, rng.choice((None, b"", b"key")), rng.choice((None, b"v" * 40)), headers)
    data = builder.build(producer_id=rng.choice((-1, 3)))
    return bytearray(with_attributes(data, LOG_APPEND_TIME | codec) if rng.random() < 0.03 else data)


def seen(data: bytes, max_bytes: int, **options: Any) -> list[Any]:
    """All that a decoder says until the end, or until damage; where its parts end is not of it."""
    decoder = BatchDecoder(data, topic="t", partition=1, **options)
    said: list[Any] = []
    consumed = 0
    while not decoder.finished:
        columns, damage = decoder.part(max_bytes)
        consumed += columns.bytes_consumed
        for start, stop, *same in columns.runs():
            said += [(row, *same) for row in rows(columns.slice(start, stop))]
        if damage is not None:
            said.append(repr(damage))
            break
    return [*said, consumed, columns.next_offset, columns.leader_epoch]


def singly(decoder: BatchDecoder, *args: object) -> bool:
    """In the place of what takes several batches."""
    return False


@pytest.mark.parametrize("codec", list(Compression))
@pytest.mark.parametrize("seed", range(40))
def test_runs_equal_batches_read_one_by_one(codec: Compression, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    data = bytearray(small_batches(rng, 60, codec))
    if seed % 3:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    options = {
        "check_crcs": seed % 3 != 2,
        "read_committed": rng.random() < 0.5,
        "aborted_transactions": rng.choice(([], [(7, rng.randrange(100))])),
        "start_offset": rng.choice((0, 0, 41)),
        "stop_offset": rng.choice((None, None, 97)),
    }
    max_bytes = rng.choice((1, 300, 1 << 20))
    together = seen(bytes(data), max_bytes, **options)
    monkeypatch.setattr(BatchDecoder, "_take_run", singly)
    assert together == seen(bytes(data), max_bytes, **options)


@pytest.mark.parametrize("seed", range(60))
def test_a_response_decoded_as_a_single_run_equals_what_the_decoder_makes_of_it(seed: int) -> None:
    rng = random.Random(seed)
    decoded = 0
    for _ in range(60):
        data = bytearray(small_batches(rng, rng.choice((1, 1, 2, 3, 9)), Compression.NONE))
        if rng.random() < 0.3:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.1:
            del data[-rng.randrange(1, len(data)) :]
        options: dict[str, Any] = {"check_crcs": rng.random() < 0.7, "start_offset": rng.choice((0, 0, 1, 20, 52))}
        columns = decode_run(memoryview(bytes(data)), "t", 1, max_bytes=rng.choice((1 << 20, 200)), **options)
        if columns is None:
            continue
        decoded += 1
        said = [(row, *same) for start, stop, *same in columns.runs() for row in rows(columns.slice(start, stop))]
        assert [*said, len(data), columns.next_offset, columns.leader_epoch] == seen(bytes(data), 1 << 20, **options)
        assert columns.bytes_consumed == len(data)
        assert columns.to_arrow().num_rows == len(columns)
    assert decoded


def test_runs_of_apache_kafkas_batches_equal_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [sample.data for sample in kafka_batches() if sample.facts["magic"] == 2]
    assert len(samples) > 20
    for data in [*(sample * 3 for sample in samples), b"".join(samples)]:
        together = seen(data, 1 << 30)
        with monkeypatch.context() as patch:
            patch.setattr(BatchDecoder, "_take_run", singly)
            assert together == seen(data, 1 << 30)


@pytest.mark.parametrize(("aborted", "singly"), [([], 0), ([(8, 0)], 20)])
def test_transactional_batches_form_runs_if_none_is_aborted(
    aborted: list[tuple[int, int]], singly: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"".join(batch(b"a", base_offset=n, producer_id=7, transactional=True) for n in range(20))
    alone = []
    take_batch = BatchDecoder._take_batch
    monkeypatch.setattr(BatchDecoder, "_take_batch", lambda *args: alone.append(args) or take_batch(*args))
    said = seen(data, 1 << 20, read_committed=True, aborted_transactions=aborted)
    assert len(said) == 20 + 3
    assert len(alone) == singly


def plain(data: bytes, room: int = 1 << 30, stop_offset: int = 1 << 61) -> BatchRun | None:
    """The run with which data begin."""
    return RunFinder(memoryview(data), CONTROL, 0, stop_offset).uncompressed(0, room, 0)


def test_a_run_continues_up_to_a_special_batch() -> None:
    ordinary = batch(b"a", b"b") + batch(b"c", base_offset=2)
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
        run = plain(ordinary + data, room=4000, stop_offset=1000)
        assert run == (len(ordinary), len(ordinary) - 2 * 61, 3, 2, -1, False, 0), what


@pytest.mark.parametrize("codec", PACKED)
def test_small_compressed_batches_are_decompressed_after_their_headers(codec: Compression) -> None:
    packed = [batch(b"a" * 99, b"b", base_offset=5 * n, compression=codec) for n in range(4)]
    bare = [batch(b"a" * 99, b"b", base_offset=5 * n) for n in range(4)]
    scratch = memoryview(bytearray(len(bare[0]) * 4))
    data = b"".join(packed) + batch(bytes(range(256)) * 60, compression=codec)
    finder = RunFinder(memoryview(data), CONTROL, 0, 1 << 61)
    run = finder.compressed(0, 1 << 30, 0, SMALL_CODECS[codec], scratch)
    end = len(packed[0]) * 4
    assert run == (end, 4 * (len(bare[0]) - 61), 8, 16, -1, False, len(scratch))
    for number, one in enumerate(bare):
        unpacked = bytes(scratch[number * len(one) : (number + 1) * len(one)])
        assert (unpacked[:17], unpacked[23:]) == (one[:17], one[23:])
    short = finder.compressed(0, 1 << 30, 0, SMALL_CODECS[codec], scratch[: 2 * len(bare[0]) + 30])
    assert short is not None
    assert short.end == len(packed[0]) * 2


@pytest.mark.parametrize(("at", "value"), [(0, 0x80), (23, 0x80), (27, 0x7F), (57, 0x80), (59, 1), (60, 3)])
def test_a_batch_with_an_impossible_header_is_left_to_single_decoding(at: int, value: int) -> None:
    data = bytearray(batch(b"a"))
    data[at] = value
    finder = RunFinder(memoryview(bytes(data)), CONTROL, 0, 1 << 61)
    assert finder.uncompressed(0, 1 << 20, len(data)) is None


def test_a_run_is_read_while_it_is_in_the_caches() -> None:
    data = b"".join(batch(bytes(1000), base_offset=n) for n in range(1000))
    run = plain(data)
    assert run is not None
    assert 128 << 10 <= run.end < (128 << 10) + 1100


def test_without_a_batch_there_are_no_bytes_and_no_offset() -> None:
    for size in (0, 11, 12, 25):
        assert whole_batches(memoryview(bytes(11) + b"\x0e" + bytes(14))[:size]) == (0, -1, -1)


def test_the_smallest_possible_batch_is_complete() -> None:
    assert whole_batches(memoryview(bytes(7) + b"\x05" + bytes(3) + b"\x0e" + bytes(14))) == (26, 6, -1)
    assert whole_batches(memoryview(bytes(11) + b"\x0d" + bytes(14))) == (0, -1, -1)


def test_batches_with_excessive_claims_are_measured() -> None:
    data = bytearray(26)
    data[11], data[16] = 14, 2
    assert whole_batches(memoryview(bytes(data))) == (26, 1, -1)


def test_a_run_ends_before_a_truncated_batch_without_checksums() -> None:
    ordinary = batch(b"a", b"b") + batch(b"c", base_offset=2)
    last = batch(b"d", base_offset=3)
    too_short = bytearray(last)
    too_short[8:12] = (48).to_bytes(4, "big")
    for data in [*(last[:cut] for cut in range(len(last))), too_short]:
        finder = RunFinder(memoryview(ordinary + data), CONTROL, 0, 1 << 61)
        run = finder.uncompressed(0, 1 << 30, len(ordinary + data))
        assert run is not None
        assert (run.end, run.records, run.last_offset) == (len(ordinary), 3, 2)


@pytest.mark.parametrize("codec", list(Compression))
def test_small_batches_of_every_codec_are_read_together(codec: Compression, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(batch(b"value %d" % n * 9, base_offset=n, compression=codec) for n in range(40))
    expected = [b"value %d" % n * 9 for n in range(40)]
    monkeypatch.setattr(BatchDecoder, "_take_batch", singly)
    decoder = BatchDecoder(data)
    columns, damage = decoder.part(1 << 20)
    assert damage is None
    assert [record.value for record in columns.to_records()] == expected
