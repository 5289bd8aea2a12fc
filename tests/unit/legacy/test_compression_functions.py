"""`kafka.codec` reads data written by kafka-python 3.0.12, and its own."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest
import zstandard

import kafka.codec

ORIGINALS = json.loads((Path(__file__).parents[2] / "data" / "legacy" / "codec.json").read_text())
"""By function and payload, the output of kafka-python with python-snappy 0.7.3, lz4 4.4 and zstandard 0.25."""
PAYLOADS = {"empty": b"", "short": b"kafka", "long": b"0123456789abcdef" * 5000}
DECODERS = {
    "gzip": kafka.codec.gzip_decode,
    "snappy": kafka.codec.snappy_decode,
    "snappy_raw": kafka.codec.snappy_decode,
    "snappy_xerial_300": kafka.codec.snappy_decode,
    "lz4": kafka.codec.lz4_decode,
    "lz4_old": kafka.codec.lz4_decode_old_kafka,
    "zstd": kafka.codec.zstd_decode,
}
ENCODERS = {
    "gzip": kafka.codec.gzip_encode,
    "snappy": kafka.codec.snappy_encode,
    "snappy_raw": lambda data: kafka.codec.snappy_encode(data, xerial_compatible=False),
    "snappy_xerial_300": lambda data: kafka.codec.snappy_encode(data, xerial_blocksize=300),
    "lz4": kafka.codec.lz4_encode,
    "lz4_old": kafka.codec.lz4_encode_old_kafka,
    "zstd": kafka.codec.zstd_encode,
}


@pytest.mark.parametrize("case", ORIGINALS)
def test_data_of_the_original_is_decompressed(case: str) -> None:
    function, payload = case.split(".")
    assert DECODERS[function](base64.b64decode(ORIGINALS[case])) == PAYLOADS[payload]


@pytest.mark.parametrize("case", [case for case in ORIGINALS if case.split(".")[0] not in ("gzip", "lz4")])
def test_bytes_match_the_original(case: str) -> None:
    """Except for gzip, which includes the time, and lz4, which there includes the size."""
    function, payload = case.split(".")
    assert ENCODERS[function](PAYLOADS[payload]) == base64.b64decode(ORIGINALS[case])


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("function", ENCODERS)
def test_round_trip(function: str, payload: str) -> None:
    data = PAYLOADS[payload]
    for given in (data, bytearray(data), memoryview(data)):
        encoded = ENCODERS[function](given)
        assert type(encoded) is bytes
        decoded = DECODERS[function](encoded)
        assert type(decoded) is bytes
        assert decoded == data


def test_xerials_framing_is_distinguished_from_raw_snappy() -> None:
    assert kafka.codec._detect_xerial_stream(kafka.codec.snappy_encode(b"a"))
    assert kafka.codec._detect_xerial_stream(memoryview(b"\x82SNAPPY\x00\x01\x00\x00\x00\x01\x00\x00\x00more"))
    assert not kafka.codec._detect_xerial_stream(kafka.codec.snappy_encode(b"SNAPPY" * 50, xerial_compatible=False))
    assert not kafka.codec._detect_xerial_stream(b"\x82SNAPPY\x00")


def test_every_codec_is_available() -> None:
    for name in ("gzip", "snappy", "lz4", "zstd"):
        assert getattr(kafka.codec, f"has_{name}")() is True


def test_gzip_levels_differ() -> None:
    data = bytes(range(256)) * 40 + PAYLOADS["long"]
    dense, quick = kafka.codec.gzip_encode(data), kafka.codec.gzip_encode(data, 1)
    assert gzip.decompress(dense) == gzip.decompress(quick) == data
    assert len(dense) < len(quick)


def test_two_gzip_members_and_empty_data() -> None:
    assert kafka.codec.gzip_decode(gzip.compress(b"a") + gzip.compress(b"b")) == b"ab"
    assert kafka.codec.gzip_decode(b"") == kafka.codec.zstd_decode(b"") == b""


def test_options_of_the_library_lz4_are_accepted() -> None:
    assert kafka.codec.lz4_decode(kafka.codec.lz4_encode(b"kafka" * 99, compression_level=9, store_size=False))


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("gzip", OSError),
        ("lz4", RuntimeError),
        ("lz4_old", RuntimeError),
        ("snappy", ValueError),
        ("zstd", zstandard.ZstdError),
    ],
)
def test_damaged_data_raises_the_originals_error(function: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        DECODERS[function](b"garbage garbage garbage")
