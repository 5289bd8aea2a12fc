"""kafka-python's import path of numbers of variable length and checksums."""

from kafka.legacy.record.numbers import (
    calc_crc32,
    calc_crc32c,
    crc32c_c,
    crc32c_py,
    decode_varint,
    encode_varint,
    size_of_varint,
)

__all__ = [
    "calc_crc32",
    "calc_crc32c",
    "crc32c_c",
    "crc32c_py",
    "decode_varint",
    "encode_varint",
    "size_of_varint",
]
