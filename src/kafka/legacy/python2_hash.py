"""`hash()` of 64-bit Python 2.7, by which the oldest producers chose partitions.

Text is hashed by its characters, as builds of Linux distributions did (UCS-4). What Python 2 hashed by its address in
memory (None, most objects) had no lasting hash there either, and gets Python's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

_MASK = (1 << 64) - 1
_FACTOR = 1000003
_DIGIT_BITS = 30
_HASH_OF_INF, _HASH_OF_MINUS_INF = 314159, -271828


def python2_hash(value: object) -> int:
    """Return the hash that 64-bit Python 2.7 gave; `TypeError` for what has none."""
    if isinstance(value, bytes):
        return _hash_of_text(value)
    if isinstance(value, str):
        return _hash_of_text([ord(character) for character in value])
    if isinstance(value, int):
        return _hash_of_int(value)
    if isinstance(value, float):
        return _hash_of_float(value)
    if isinstance(value, tuple):
        return _hash_of_tuple(value)
    return hash(value)


def _finished(number: int) -> int:
    """The number as C's long; -1, which says that there is no hash, becomes -2."""
    number &= _MASK
    signed = number - (1 << 64) if number >> 63 else number
    return -2 if signed == -1 else signed


def _hash_of_text(characters: bytes | list[int]) -> int:
    if not characters:
        return 0
    result = characters[0] << 7
    for character in characters:
        result = ((_FACTOR * result) & _MASK) ^ character
    return _finished(result ^ len(characters))


def _hash_of_int(value: int) -> int:
    """The number itself where it fits into C's long; else its digits of 30 bits, rotated into each other."""
    if -(1 << 63) <= value < 1 << 63:
        return _finished(value)
    rest, result = abs(value), 0
    for at in reversed(range(0, rest.bit_length(), _DIGIT_BITS)):
        digit = (rest >> at) & ((1 << _DIGIT_BITS) - 1)
        result = ((result << _DIGIT_BITS) & _MASK) | (result >> (64 - _DIGIT_BITS))
        result = (result + digit) & _MASK
        if result < digit:
            result += 1
    return _finished(result if value > 0 else -result)


def _hash_of_float(value: float) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return _HASH_OF_INF if value > 0 else _HASH_OF_MINUS_INF
    if value.is_integer():
        return _hash_of_int(int(value))
    fraction, exponent = math.frexp(value)
    fraction *= 2147483648.0
    high = int(fraction)
    low = int((fraction - high) * 2147483648.0)
    return _finished(high + low + (exponent << 15))


def _hash_of_tuple(items: Iterable[object]) -> int:
    hashes = [python2_hash(item) for item in items]
    result, factor = 0x345678, _FACTOR
    for left, item in zip(reversed(range(len(hashes))), hashes, strict=True):
        result = ((result ^ item) * factor) & _MASK
        factor += 82520 + 2 * left
    return _finished(result + 97531)
