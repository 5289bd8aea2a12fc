"""Compression: round trips, foreign framings, damage, and data that would grow without end."""

from __future__ import annotations

import contextlib
import gzip
import random
import tracemalloc
import zlib
from collections.abc import Iterable
from pathlib import Path

import cramjam
import pytest
import zstandard

from kafka.errors import CorruptRecordException, UnsupportedCompressionTypeError
from kafka.record import Compression, codecs, decode_batches
from kafka.record.codecs import SMALL_CODECS, CodecError, SizeLimitError, compress, decompress, lz4, zstd

from .samples import batch

CODECS = [codec for codec in Compression if codec]


@pytest.fixture(params=[True, False], ids=["zstandard", "no zstandard"], autouse=True)
def _reader_of_zstd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the library that keeps contexts, and where it is not installed."""
    if not request.param:
        monkeypatch.setattr(zstd, "zstandard", None)
        monkeypatch.setattr(zstd, "_contexts", zstd._Contexts())
        assert zstd._contexts.decompressor is None


_random = random.Random(7)
TEXTS = {
    "empty": b"",
    "one byte": b"x",
    "text": b"some text that repeats itself, " * 9000,
    "zeros": bytes(3_000_000),
    "noise": _random.randbytes(200_000),
    "mixed": (_random.randbytes(100) + bytes(900)) * 300,
    "a whole block": b"0123456789abcdef" * 4096,
}


@pytest.mark.parametrize("level", [None, 1, 6])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", TEXTS)
def test_round_trip(codec: Compression, name: str, level: int | None) -> None:
    text = TEXTS[name]
    packed = bytes(compress(codec, text, level=level))
    assert decompress(codec, memoryview(packed)) == text
    assert decompress(codec, memoryview(packed), len(text)) == text


@pytest.mark.parametrize("name", ["one byte", "text", "mixed"])
@pytest.mark.parametrize("codec", CODECS)
def test_output_above_the_limit_is_refused(codec: Compression, name: str) -> None:
    packed = bytes(compress(codec, TEXTS[name]))
    with pytest.raises(CodecError):
        decompress(codec, memoryview(packed), len(TEXTS[name]) - 1)


@pytest.mark.parametrize("codec", CODECS)
def test_decompression_bombs_are_stopped(codec: Compression) -> None:
    packed = bytes(compress(codec, bytes(64 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises(CodecError):
            decompress(codec, memoryview(packed), 1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


LZ4_HEADER = bytes.fromhex("04224d18604082")
XERIAL_HEADER = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2


def lz4_frame(*blocks: bytes, stored: bool = False) -> bytes:
    parts = [(len(block) | stored << 31).to_bytes(4, "little") + block for block in blocks]
    return LZ4_HEADER + b"".join(parts) + bytes(4)


def xerial(*blocks: bytes) -> bytes:
    return XERIAL_HEADER + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


MANY = 4000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("codec", "packed", "plain"),
    [
        pytest.param(Compression.LZ4, lz4_frame(*[b"\x00"] * MANY), b"", id="lz4, empty"),
        pytest.param(Compression.LZ4, lz4_frame(*[b"\x10A"] * MANY), b"A" * MANY, id="lz4, a literal"),
        pytest.param(Compression.LZ4, lz4_frame(*[b"A"] * MANY, stored=True), b"A" * MANY, id="lz4, stored"),
        pytest.param(Compression.SNAPPY, xerial(*[b"\x00"] * MANY), b"", id="snappy, empty"),
        pytest.param(Compression.SNAPPY, xerial(*[b"\x01\x00A"] * MANY), b"A" * MANY, id="snappy, a literal"),
    ],
)
def test_many_tiny_blocks_take_no_memory_each(codec: Compression, packed: bytes, plain: bytes) -> None:
    tracemalloc.start()
    try:
        assert decompress(codec, memoryview(packed), MANY) == plain
        assert tracemalloc.get_traced_memory()[1] < 64 * 1024
    finally:
        tracemalloc.stop()


def test_many_gzip_members_are_not_copied_repeatedly(monkeypatch: pytest.MonkeyPatch) -> None:
    given = 0

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._inner = decompressobj(wbits=wbits)

        def decompress(self, data: memoryview, max_length: int) -> bytes:
            nonlocal given
            given += len(data)
            return self._inner.decompress(data, max_length)

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

    decompressobj = zlib.decompressobj
    packed = gzip.compress(b"x", mtime=0) * 2000
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    assert decompress(Compression.GZIP, memoryview(packed)) == b"x" * 2000
    assert given < 16 * len(packed)


def test_gzip_members_exceed_the_limit_by_at_most_one_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = []

    class Noting:
        def __init__(self, wbits: int) -> None:
            self._inner = decompressobj(wbits=wbits)

        def decompress(self, data: memoryview, max_length: int) -> bytes:
            allowed.append(max_length)
            return self._inner.decompress(data, max_length)

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

    decompressobj = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Noting)
    packed = gzip.compress(bytes(300)) + gzip.compress(bytes(1000))
    with pytest.raises(CodecError, match="more than the 400 bytes allowed"):
        decompress(Compression.GZIP, memoryview(packed), 400)
    assert allowed == [401, 101]


@pytest.mark.parametrize("sizes", [(0, 1, 255, 256, 257), (100_000, 3), (5000, 0, 70_000)])
def test_consecutive_gzip_members_of_any_size(sizes: tuple[int, ...]) -> None:
    texts = [_random.randbytes(size) for size in sizes]
    packed = b"".join(gzip.compress(text) for text in texts)
    assert decompress(Compression.GZIP, memoryview(packed)) == b"".join(texts)
    with pytest.raises(CodecError):
        decompress(Compression.GZIP, memoryview(packed[:-1]))


def read_here(codec: Compression, packed: bytes) -> object:
    """What comes out, or None if it is refused."""
    try:
        return decompress(codec, memoryview(packed))
    except CodecError:
        return None


def read_by_library(codec: Compression, block: bytes) -> object:
    """The same of one block, by the library alone."""
    if codec == Compression.SNAPPY and not block:
        return None  # Java refuses it
    try:
        if codec == Compression.SNAPPY:
            return bytes(cramjam.snappy.decompress_raw(block))
        room = bytearray(1 << 16)
        return bytes(room[: cramjam.lz4.decompress_block_into(block, room, output_len=len(room))])
    except cramjam.DecompressionError:
        return None


def tiny_blocks(first: Iterable[int]) -> list[bytes]:
    rng = random.Random(5)
    blocks = [bytes((one, *rng.randbytes(size))) for one in first for size in range(18)]
    return blocks + [rng.randbytes(rng.randrange(1, 70)) for _ in range(300)]


def test_tiny_lz4_blocks_are_read_as_the_library_reads_them() -> None:
    blocks = tiny_blocks(range(0, 256, 8))
    expected = [read_by_library(Compression.LZ4, block) for block in blocks]
    assert [read_here(Compression.LZ4, lz4_frame(block)) for block in blocks] == expected
    assert len(set(expected)) > 15


def test_tiny_snappy_blocks_are_read_as_the_library_reads_them() -> None:
    blocks = tiny_blocks(range(70)) + [bytes((size, (size - 1) << 2, *range(size))) for size in range(1, 62)]
    blocks += [b"\x81\x00A", b"\x81\x00\x00A", b"\x80\x00", b"\x00A", b""]
    expected = [read_by_library(Compression.SNAPPY, block) for block in blocks]
    assert [read_here(Compression.SNAPPY, xerial(block)) for block in blocks] == expected
    assert len(set(expected)) > 60


def test_an_lz4_block_may_not_reach_into_the_end_of_its_frame() -> None:
    whole = lz4_frame(b"first", stored=True)
    assert decompress(Compression.LZ4, memoryview(whole)) == b"first"
    with pytest.raises(CodecError, match="an lz4 block of 5 bytes begins 4 bytes before the end"):
        decompress(Compression.LZ4, memoryview(whole[:-5]))


@pytest.mark.parametrize("kept", [0, 3])
def test_an_lz4_frame_without_a_whole_end_mark_is_refused(kept: int) -> None:
    whole = lz4_frame(b"first", stored=True)
    with pytest.raises(CodecError, match="ends before its end mark"):
        decompress(Compression.LZ4, memoryview(whole[: len(whole) - 4 + kept]))


def test_an_lz4_frame_with_a_dictionary_is_refused() -> None:
    frame = bytearray(lz4_frame(b"first", stored=True))
    frame[4] |= 0x01
    with pytest.raises(CodecError, match="without a dictionary"):
        decompress(Compression.LZ4, memoryview(frame))


def test_an_empty_stored_lz4_block_ends_the_frame_as_in_java() -> None:
    frame = lz4_frame(b"first", stored=True)[:-4] + bytes.fromhex("00000080") + lz4_frame(b"second", stored=True)[7:]
    assert decompress(Compression.LZ4, memoryview(frame)) == b"first"


@pytest.mark.parametrize("stored", [False, True])
def test_an_lz4_block_larger_than_its_frame_says_is_refused(stored: bool) -> None:
    block = bytes(64 * 1024 + 1)
    with pytest.raises(CodecError, match="65537 bytes where 65536 are possible"):
        decompress(Compression.LZ4, memoryview(lz4_frame(block, stored=stored)))


def test_the_limit_applies_to_a_batch() -> None:
    data = batch(bytes(100_000), compression=Compression.GZIP)
    assert len(decode_batches(data, max_decompressed_size=101_000)) == 1
    with pytest.raises(CorruptRecordException, match="50000"):
        decode_batches(data, max_decompressed_size=50_000)


@pytest.mark.parametrize("codec", CODECS)
def test_truncated_data_is_refused(codec: Compression) -> None:
    packed = bytes(compress(codec, TEXTS["mixed"][:5000]))
    for size in range(17 if codec == Compression.GZIP else 0, len(packed)):
        try:
            plain = decompress(codec, memoryview(packed[:size]))
        except CodecError:
            continue
        assert plain == b""
        assert size <= 16


@pytest.mark.parametrize("codec", CODECS)
def test_damaged_data_raises_only_codec_errors(codec: Compression) -> None:
    packed = bytes(compress(codec, TEXTS["mixed"][:3000]))
    rng = random.Random(3)
    for _ in range(2000):
        damaged = bytearray(packed)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        with contextlib.suppress(CodecError):
            decompress(codec, memoryview(bytes(damaged)), 1 << 20)


def test_a_codec_that_does_not_exist() -> None:
    with pytest.raises(UnsupportedCompressionTypeError, match="got 6"):
        decompress(6, memoryview(b"x"))


def test_raw_snappy_is_read() -> None:
    packed = bytes(cramjam.snappy.compress_raw(TEXTS["mixed"]))
    assert decompress(Compression.SNAPPY, memoryview(packed)) == TEXTS["mixed"]


SNAPPY_A = bytes.fromhex("82 534e41505059 00 00000001 00000001  00000003 01 00 41")
SNAPPY_B = bytes.fromhex("82 534e41505059 00 00000001 00000001  00000003 01 00 42")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        (SNAPPY_A, b"A"),
        (SNAPPY_A + SNAPPY_B, b"AB"),
        (XERIAL_HEADER + SNAPPY_A, b"A"),
        (SNAPPY_A + XERIAL_HEADER, b"A"),
        (SNAPPY_A + XERIAL_HEADER * 200_000 + SNAPPY_B, b"AB"),
        (XERIAL_HEADER, b""),
    ],
)
def test_consecutive_snappy_streams_are_read_as_in_java(packed: bytes, plain: bytes) -> None:
    assert decompress(Compression.SNAPPY, memoryview(packed)) == plain
    room = memoryview(bytearray(2))
    assert bytes(room[: SMALL_CODECS[Compression.SNAPPY](memoryview(packed), room)]) == plain


def test_consecutive_snappy_streams_share_one_limit() -> None:
    stream = bytes(compress(Compression.SNAPPY, bytes(100_000)))
    assert decompress(Compression.SNAPPY, memoryview(stream * 3), 300_000) == bytes(300_000)
    with pytest.raises(SizeLimitError, match="claim to hold 300000 bytes, 299999 are allowed"):
        decompress(Compression.SNAPPY, memoryview(stream * 3), 299_999)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 12, 15])
def test_a_truncated_snappy_header_is_refused(size: int) -> None:
    for before in (b"", SNAPPY_A):
        with pytest.raises(CodecError):
            decompress(Compression.SNAPPY, memoryview(before + XERIAL_HEADER[:size]))


def test_a_damaged_second_snappy_header_is_refused() -> None:
    with pytest.raises(CodecError, match="header at byte 23 is damaged"):
        decompress(Compression.SNAPPY, memoryview(SNAPPY_A + SNAPPY_B.replace(b"SNAPPY", b"SNAXPY")))


def test_an_impossible_snappy_size_is_refused_before_allocating() -> None:
    with pytest.raises(CodecError, match="cannot have"):
        decompress(Compression.SNAPPY, memoryview(b"\xff\xff\xff\xff\x07" + bytes(20)))


def test_gzip_of_several_members_is_read() -> None:
    packed = gzip.compress(b"first, " * 50) + gzip.compress(b"second")
    assert decompress(Compression.GZIP, memoryview(packed)) == b"first, " * 50 + b"second"
    with pytest.raises(CodecError, match="the 355 bytes allowed"):
        decompress(Compression.GZIP, memoryview(packed), 355)


@pytest.mark.parametrize("padding", [1, 4, 5000])
def test_zero_bytes_may_follow_a_gzip_member(padding: int) -> None:
    packed = gzip.compress(b"first, " * 50) + bytes(padding) + gzip.compress(b"second") + bytes(padding)
    assert bytes(decompress(Compression.GZIP, memoryview(packed))) == gzip.decompress(packed)


@pytest.mark.parametrize("rest", [b"\0\0q", b"second", b"\x1f"])
def test_other_bytes_after_a_gzip_member_are_refused(rest: bytes) -> None:
    with pytest.raises(CodecError):
        decompress(Compression.GZIP, memoryview(gzip.compress(b"first") + rest))


def test_gzip_that_lies_about_its_size_is_read_or_refused() -> None:
    packed = gzip.compress(b"some bytes")
    with pytest.raises(CodecError):
        decompress(Compression.GZIP, memoryview(packed[:-4] + b"\xff\xff\xff\xff"))


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("name", ["text", "mixed", "noise", "one byte"])
def test_lz4_frames_of_other_writers_are_read(linked: bool, checksum: bool, name: str) -> None:
    compressor = cramjam.lz4.Compressor(level=1, content_checksum=checksum, block_linked=linked)
    compressor.compress(TEXTS[name])
    frame = bytes(compressor.finish())
    assert decompress(Compression.LZ4, memoryview(frame)) == TEXTS[name]
    assert decompress(Compression.LZ4, memoryview(bytes(cramjam.lz4.compress(TEXTS[name])))) == TEXTS[name]


def test_lz4_header_checksums_are_ignored_in_all_frames() -> None:
    for frame in (bytes(cramjam.lz4.compress(TEXTS["text"])), bytes(compress(Compression.LZ4, TEXTS["text"]))):
        at = 14 if frame[4] & 8 else 6
        broken = frame[:at] + bytes((frame[at] ^ 0xFF,)) + frame[at + 1 :]
        assert decompress(Compression.LZ4, memoryview(broken)) == TEXTS["text"]


def test_lz4_of_magic_0_has_the_header_checksum_of_old_kafka() -> None:
    assert bytes(compress(Compression.LZ4, b"x", magic=0))[:7] == bytes.fromhex("04224d1860401a")
    assert bytes(compress(Compression.LZ4, b"x", magic=1))[:7] == bytes.fromhex("04224d18604082")


def test_lz4_frames_are_read_by_others() -> None:
    for level in (1, 9):
        frame = compress(Compression.LZ4, TEXTS["mixed"], level=level)
        assert bytes(cramjam.lz4.decompress(frame)) == TEXTS["mixed"]


def test_each_codec_has_a_module_and_a_row() -> None:
    folder = Path(codecs.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "codec"}
    assert modules == {codec.kind.option for codec in codecs.CODECS.values()}
    assert [Compression(number) for number in codecs.CODECS] == CODECS
    assert all(codec.kind == number for number, codec in codecs.CODECS.items())


def test_xerial_blocks_are_those_of_java() -> None:
    packed = bytes(compress(Compression.SNAPPY, TEXTS["noise"]))
    assert packed[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    first = int.from_bytes(packed[16:20], "big")
    assert len(bytes(cramjam.snappy.decompress_raw(packed[20 : 20 + first]))) == 32 * 1024


def test_zstd_frames_with_and_without_their_size_are_read() -> None:
    compressor = cramjam.zstd.Compressor(level=3)
    for start in range(0, len(TEXTS["mixed"]), 10_000):
        compressor.compress(TEXTS["mixed"][start : start + 10_000])
    for packed in (bytes(compressor.finish()), bytes(cramjam.zstd.compress(TEXTS["mixed"]))):
        assert decompress(Compression.ZSTD, memoryview(packed)) == TEXTS["mixed"]
        skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
        assert decompress(Compression.ZSTD, memoryview(skippable + packed + packed)) == TEXTS["mixed"] * 2


def test_zstd_frames_above_the_limit_are_refused() -> None:
    text = TEXTS["mixed"][:5000]
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(text)
    assert decompress(Compression.ZSTD, memoryview(packed * 2), 10_000) == text * 2
    for allowed in (9_999, 5_000, 1, 0):
        with pytest.raises(CodecError, match=f"claim to hold 10000 bytes, {allowed} are allowed"):
            decompress(Compression.ZSTD, memoryview(packed * 2), allowed)
    for at in (len(packed) // 2, len(packed) - 1):
        damaged = bytearray(packed)
        damaged[at] ^= 0xFF
        with pytest.raises(CodecError):
            decompress(Compression.ZSTD, memoryview(damaged))


def test_gzip_is_what_zlib_reads() -> None:
    assert zlib.decompress(bytes(compress(Compression.GZIP, TEXTS["mixed"])), wbits=31) == TEXTS["mixed"]


@pytest.mark.parametrize("size", [0, 1, 64 << 10, (64 << 10) + 1])
def test_zstd_frames_of_every_level_and_library_are_complete(size: int) -> None:
    text = (TEXTS["mixed"] * (1 + size // len(TEXTS["mixed"])))[:size]
    sizes = []
    for level in (1, 3, 19, 1, 19):
        packed = bytes(compress(Compression.ZSTD, text, level=level))
        assert bytes(cramjam.zstd.decompress(packed)) == text
        assert decompress(Compression.ZSTD, memoryview(packed)) == text
        sizes.append(len(packed))
    assert sizes[0] == sizes[3] >= sizes[2] == sizes[4]


def test_small_zstd_frames_are_unpacked_and_anything_else_is_refused() -> None:
    text = TEXTS["mixed"][:5000]
    room = memoryview(bytearray(10_000))
    streamed = cramjam.zstd.Compressor(level=3)
    streamed.compress(text)
    sized = zstandard.ZstdCompressor().compress(text)
    for packed in (bytes(streamed.finish()), sized):
        assert zstd.decompress_into(memoryview(packed), room) == len(text)
        assert room[: len(text)] == text
        for refused in (packed + packed, packed[:-1], packed + b"x", b"\x00" + packed, packed[:4]):
            with pytest.raises(ValueError, match=r"zstd|frame"):
                zstd.decompress_into(memoryview(refused), room)
        with pytest.raises((ValueError, *zstd.ERRORS)):
            zstd.decompress_into(memoryview(packed), room[:4999])
    at = 5
    assert sized[at : at + 2] == (len(text) - 256).to_bytes(2, "little")
    boasting = sized[:4] + bytes((sized[4] | 0xC0,)) + (1 << 50).to_bytes(8, "little") + sized[at + 2 :]
    with pytest.raises(ValueError, match="claims to hold more"):
        zstd.decompress_into(memoryview(boasting), room)


def test_other_magic_numbers_are_not_lz4_frames() -> None:
    frame = lz4_frame(b"text", stored=True)
    assert decompress(Compression.LZ4, memoryview(frame)) == b"text"
    for wrong in (b"\x05" + frame[1:], frame[:3] + b"\x19" + frame[4:], frame[:6], b""):
        with pytest.raises(CodecError, match="Expected an lz4 frame, got"):
            decompress(Compression.LZ4, memoryview(wrong))


def test_lz4_blocks_fill_their_memory_to_the_last_byte_and_no_further() -> None:
    frame = memoryview(lz4_frame(b"first", b"second", stored=True))
    room = memoryview(bytearray(11))
    assert lz4.decompress_into(frame, room) == 11
    assert bytes(room) == b"firstsecond"
    with pytest.raises(ValueError, match="stores 6 bytes where 5 are possible"):
        lz4.decompress_into(frame, memoryview(bytearray(10)))


def test_an_lz4_frame_with_only_a_header_has_no_end_mark() -> None:
    assert len(LZ4_HEADER) == 7
    with pytest.raises(CodecError, match="7 bytes ends before its end mark"):
        decompress(Compression.LZ4, memoryview(LZ4_HEADER))


@pytest.mark.parametrize("linked", [False, True])
def test_lz4_frames_of_any_size_are_given_the_right_header_checksum(linked: bool) -> None:
    for size in [*range(1, 260, 3), 65_535, 65_536, 100_000]:
        text = bytes(range(256)) * (size // 256 + 1)
        for frame in (bytes(cramjam.lz4.compress(text[:size])), _streamed(text[:size], linked)):
            at = 14 if frame[4] & 8 else 6
            broken = frame[:at] + bytes((frame[at] ^ 0xFF,)) + frame[at + 1 :]
            assert decompress(Compression.LZ4, memoryview(broken)) == text[:size]


def _streamed(text: bytes, linked: bool) -> bytes:
    compressor = cramjam.lz4.Compressor(level=1, content_checksum=True, block_linked=linked)
    compressor.compress(text)
    return bytes(compressor.finish())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b"\x02\xcc\x5d\x05"),
        (b"a", b"\x55\x0d\x74\x56"),
        (b"abc", b"\x32\xd1\x53\xff"),
        (b"abcd", b"\xa3\x64\x37\x05"),
    ],
)
def test_the_checksum_of_lz4_headers_is_xxh32(data: bytes, expected: bytes) -> None:
    assert lz4._xxh32_of_few(data).to_bytes(4, "big") == expected


ZSTD_MAGIC = bytes.fromhex("28b52ffd")


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        pytest.param("20 00  1d0000 010203", (0, 0), id="claims nothing, blocks could hold something"),
        pytest.param("20 05  290000 6162636465", (5, 5), id="raw, sized"),
        pytest.param("20 03  290000 6162636465", (3, 3), id="raw, claims less"),
        pytest.param("20 09  290000 6162636465", (5, 5), id="raw, claims more"),
        pytest.param("00 00  290000 6162636465", (0, 5), id="raw, without a size"),
        pytest.param("00 00  2b0000 61", (0, 5), id="one byte again and again"),
        pytest.param("04 00  2b0000 61 00000000", (0, 5), id="with a checksum"),
        pytest.param("01 00 07  2b0000 61", (0, 5), id="with a dictionary"),
        pytest.param("02 00 0700  2b0000 61", (0, 5), id="with a dictionary of two bytes"),
        pytest.param("03 00 07000000  2b0000 61", (0, 5), id="with a dictionary of four bytes"),
        pytest.param("60 0000  1d0000 010203", (256, 256), id="a size of two bytes counts from 256"),
        pytest.param("a0 00010000  1d0000 010203", (256, 256), id="a size of four bytes"),
        pytest.param("e0 0001000000000000  1d0000 010203", (256, 256), id="a size of eight bytes"),
        pytest.param("00 00  1d0000 010203", (0, 128 << 10), id="a compressed block"),
        pytest.param("00 00  280000 6162636465  2b0000 61", (0, 10), id="two blocks"),
    ],
)
def test_block_headers_bound_the_size_of_a_zstd_frame(frame: str, expected: tuple[int, int]) -> None:
    data = ZSTD_MAGIC + bytes.fromhex(frame)
    skipped = bytes.fromhex("5f2a4d18 02000000 0000")
    assert zstd.bounds(memoryview(data)) == expected
    assert zstd.bounds(memoryview(skipped + data + skipped + data)) == (2 * expected[0], 2 * expected[1])
    for cut in range(1, len(data)):
        with pytest.raises(CodecError):
            decompress(Compression.ZSTD, memoryview(data[:cut]))


@pytest.mark.parametrize("name", ["text", "mixed", "noise"])
def test_lz4_level_1_is_the_default(name: str) -> None:
    plain = bytes(compress(Compression.LZ4, TEXTS[name]))
    assert bytes(compress(Compression.LZ4, TEXTS[name], level=1)) == plain
    assert len(bytes(compress(Compression.LZ4, TEXTS[name], level=2))) <= len(plain)


@pytest.mark.parametrize("size", [1 << 17, (1 << 24) + 5, 0x7F060504, 0x7FFFFFFF])
@pytest.mark.parametrize("stored", [False, True])
def test_all_bytes_of_an_lz4_blocks_size_are_read(size: int, stored: bool) -> None:
    frame = LZ4_HEADER + (size | stored << 31).to_bytes(4, "little") + bytes(4)
    with pytest.raises(CodecError, match=f"has {size} bytes where 65536 are possible"):
        decompress(Compression.LZ4, memoryview(frame))


@pytest.mark.parametrize(("number", "size"), [(4, 64 << 10), (5, 256 << 10), (6, 1 << 20), (7, 4 << 20)])
def test_lz4_blocks_are_as_large_as_their_frame_allows(number: int, size: int) -> None:
    descriptor = bytes([0x60, number << 4])
    for length, fits in ((size, True), (size + 1, False)):
        frame = LZ4_HEADER[:4] + descriptor + b"?" + lz4_frame(bytes(length), stored=True)[len(LZ4_HEADER) :]
        if fits:
            assert decompress(Compression.LZ4, memoryview(frame)) == bytes(length)
        else:
            with pytest.raises(CodecError, match=f"{length} bytes where {size} are possible"):
                decompress(Compression.LZ4, memoryview(frame))


def test_minus_one_is_the_default_level_of_gzip_as_in_java() -> None:
    data = bytes(range(256)) * 40
    assert bytes(compress(Compression.GZIP, data, level=-1)) == bytes(compress(Compression.GZIP, data))
