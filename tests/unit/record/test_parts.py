"""Decoding part by part: bounds, what goes on from one part to the next, room that was guessed wrong, damage."""

from __future__ import annotations

import gzip
import itertools
import random

import pytest

from kafka.errors import CorruptRecordException
from kafka.record import BatchBuilder, BatchDecoder, Columns, Compression, decode_batches

from .samples import batch, control_batch, rows, with_attributes


def parts(decoder: BatchDecoder, max_bytes: int) -> list[Columns]:
    """All parts of what a decoder decodes; damage is raised."""
    found: list[Columns] = []
    while not decoder.finished:
        columns, damage = decoder.part(max_bytes)
        if damage is not None:
            raise damage
        found.append(columns)
    return found


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_parts_together_equal_the_whole(magic: int, codec: Compression) -> None:
    data = b"".join(
        batch(*[b"%d" % n * 40 for n in range(first, first + 10)], base_offset=first, magic=magic, compression=codec)
        for first in range(0, 200, 10)
    )
    whole = decode_batches(data, start_offset=13, stop_offset=187)
    found = parts(BatchDecoder(data, start_offset=13, stop_offset=187), 4000)
    assert len(found) > 3
    assert [row for columns in found for row in rows(columns)] == rows(whole)
    assert sum(columns.bytes_consumed for columns in found) == whole.bytes_consumed
    assert [columns.next_offset for columns in found][-1] == whole.next_offset == 187
    for columns, after in itertools.pairwise(found):
        assert columns.next_offset <= after.offsets[0]


@pytest.mark.parametrize("codec", list(Compression))
def test_a_part_respects_its_bound_and_has_at_least_one_batch(codec: Compression) -> None:
    data = b"".join(batch(bytes(30_000), base_offset=n, compression=codec) for n in range(100))
    found = parts(BatchDecoder(data), 1_000_000)
    assert sum(map(len, found)) == 100
    assert all(columns.nbytes <= 1_000_000 for columns in found)
    assert len(found) <= 8
    assert [len(columns) for columns in parts(BatchDecoder(data), 1)] == [1] * 100


def test_a_part_grows_if_later_batches_compress_better() -> None:
    first = batch(random.Random(1).randbytes(20_000), compression=Compression.GZIP)
    builder = BatchBuilder(2, Compression.GZIP)
    for _ in range(2000):
        builder.append(0, None, bytes(50), [("h", b"v")])
    rest = b"".join(builder.build(base_offset=1 + 2000 * n) for n in range(5))
    columns = decode_batches(first + rest + batch(b"old", base_offset=20_000, magic=1))
    records = columns.to_records()
    assert len(records) == 10_002
    assert {(r.value, tuple(r.headers)) for r in records[1:-1]} == {(bytes(50), (("h", b"v"),))}
    assert [r.offset for r in records[:-1]] == list(range(10_001))
    assert [records[0].checksum, records[1].checksum] == [None, None]
    assert records[-1].checksum is not None


def test_gzip_with_several_members_exceeds_the_estimate() -> None:
    plain = batch(*[b"value %d" % n * 20 for n in range(100)])
    body = plain[61:]
    packed = gzip.compress(body[:10_000]) + gzip.compress(body[10_000:])
    data = bytearray(plain[:61] + packed)
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[22] |= Compression.GZIP
    assert len(body) - 10_000 < 10_000
    assert rows(decode_batches(bytes(data), check_crcs=False)) == rows(decode_batches(plain))


def test_aborted_transactions_continue_across_parts() -> None:
    data = (
        batch(b"aborted", producer_id=7, transactional=True)
        + batch(b"aborted too", base_offset=1, producer_id=7, transactional=True)
        + control_batch(2, 7, commit=False)
        + batch(b"committed", base_offset=3, producer_id=7, transactional=True)
        + control_batch(4, 7, commit=True)
    )
    decoder = BatchDecoder(data, read_committed=True, aborted_transactions=[(7, 0)])
    assert [r.value for columns in parts(decoder, 1) for r in columns.to_records()] == [b"committed"]
    assert decoder.next_offset == 5


@pytest.mark.parametrize("damage_at", [-1, 69])
def test_batches_before_damage_form_a_part_and_the_decoder_stays_there(damage_at: int) -> None:
    broken = bytearray(batch(b"x", b"broken", base_offset=2))
    broken[damage_at] ^= 0x55
    decoder = BatchDecoder(batch(b"a", b"b") + bytes(broken) + batch(b"c", base_offset=4), check_crcs=damage_at < 0)
    columns, damage = decoder.part(1 << 20)
    assert [r.value for r in columns.to_records()] == [b"a", b"b"]
    assert (columns.next_offset, decoder.finished) == (2, False)
    for _ in range(2):
        assert isinstance(damage, CorruptRecordException)
        columns, damage = decoder.part(1 << 20)
        assert (len(columns), columns.bytes_consumed) == (0, 0)


def test_an_empty_compacted_batch_only_moves_the_position() -> None:
    empty = bytearray(batch(b"a", b"b", base_offset=5)[:61])
    empty[8:12] = (61 - 12).to_bytes(4, "big")
    empty[57:61] = bytes(4)
    sound = with_attributes(bytes(empty), 0)
    for data, expected in ((sound, []), (batch(b"0") + sound, [b"0"]), (sound + batch(b"7", base_offset=7), [b"7"])):
        for check_crcs in (True, False):
            columns, damage = BatchDecoder(data, check_crcs=check_crcs).part(1 << 20)
            assert damage is None
            assert [record.value for record in columns.to_records()] == expected
            assert columns.next_offset == (8 if expected == [b"7"] else 7)
            assert columns.bytes_consumed == len(data)
            assert (columns.topic, columns.partition) == ("", -1)
