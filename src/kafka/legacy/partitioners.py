"""The partitioners of 0.9 to 1.4, which are created with a topic's partitions and use only a record's key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from kafka.legacy.deprecation import warn_deprecated
from kafka.partitioner.murmur2 import murmur2 as murmur2_of_bytes


class Partitioner:
    """Base class of these partitioners. Subclasses define `partition`, as in 0.9, or are callable, as in 1.4.

    Arguments:
        partitions: the partitions to choose from if a call does not pass any.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        self.partitions = partitions

    def __call__(
        self,
        key: Any,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
    ) -> int:
        """Use `partition` to choose one of the available partitions, or one of all partitions if none is available."""
        return self.partition(key, available_partitions or all_partitions)

    def partition(self, key: Any, partitions: Sequence[int] | None = None) -> int:
        """Return the partition for a key."""
        raise NotImplementedError("partition function has to be implemented")

    def _choices(self, partitions: Sequence[int] | None) -> Sequence[int]:
        choices = partitions or self.partitions
        if not choices:
            raise ValueError("expected at least one partition to choose from, got none")
        return choices


class Murmur2Partitioner(Partitioner):
    """Chooses partitions by the murmur2 hash of the key, as Java does."""

    def __call__(
        self, key: Any, partitions: Sequence[int] | None = None, available: Sequence[int] | None = None
    ) -> int:
        """Choose one of the available partitions, or one of all partitions if none is available."""
        return self.partition(key, available or partitions)

    def partition(self, key: Any, partitions: Sequence[int] | None = None) -> int:
        """Return the partition for a key."""
        choices = self._choices(partitions)
        return choices[(murmur2(key) & 0x7FFFFFFF) % len(choices)]


class LegacyPartitioner(Partitioner):
    """Chooses partitions by the ``hash(key)`` of 64-bit Python 2.7, so that keys stay where old producers put them.

    Python 3 hashes text and bytes differently in each process, so its `hash` would not keep a key in one partition. New
    programs should use `Murmur2Partitioner`, or no partitioner.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        warn_deprecated("HashedPartitioner is deprecated: use Murmur2Partitioner")
        super().__init__(partitions)

    def partition(self, key: Any, partitions: Sequence[int] | None = None) -> int:
        """Return the partition for a key."""
        choices = self._choices(partitions)
        return choices[python2_hash(key) % len(choices)]


HashedPartitioner = LegacyPartitioner


def murmur2(key: Any) -> int:
    """Return the unsigned murmur2 hash of bytes; other values are converted to text first."""
    return murmur2_of_bytes(key if isinstance(key, bytes | bytearray | memoryview) else str(key).encode())


_MASK = (1 << 64) - 1
_FACTOR = 1000003
_DIGIT_BITS = 30
_HASH_OF_INF, _HASH_OF_MINUS_INF = 314159, -271828


def python2_hash(value: object) -> int:
    """Return the `hash()` of 64-bit Python 2.7, with which the oldest producers chose partitions.

    Text is hashed by character, as in the Python builds of Linux distributions (UCS-4). None and most objects, which
    Python 2 hashed by their address in memory, had no stable hash there either; for them, the result is the hash of the
    running Python.

    Raises `TypeError` if the value is not hashable.
    """
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
    """Return a hash as a C long; -1, which Python reserves for errors, becomes -2."""
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
    """Return a number unchanged if it fits into a C long; otherwise combine its 30-bit digits by rotation."""
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
