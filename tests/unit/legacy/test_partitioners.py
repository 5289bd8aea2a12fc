"""Partitioners of kafka-python 0.9 to 1.4 assign keys to the same partitions as on 64-bit Python 2.7."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kafka
from kafka.legacy.partitioners import python2_hash
from kafka.partitioner import HashedPartitioner, LegacyPartitioner, Murmur2Partitioner, RoundRobinPartitioner
from kafka.partitioner.base import Partitioner
from kafka.partitioner.hashed import murmur2
from kafka.partitioner.partitioner_adapter import adapt_partitioner

pytestmark = pytest.mark.filterwarnings("ignore:HashedPartitioner is deprecated:DeprecationWarning")
PARTITIONS = list(range(97))


def numbers() -> Iterator[int]:
    """Yield the same numbers in every Python."""
    state = 2026
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 11


def keys() -> dict[str, list[Any]]:
    """Return ten thousand hashable keys of all kinds."""
    source = numbers()

    def n(limit: int) -> int:
        return next(source) % limit

    made: dict[str, tuple[int, Callable[[int], Any]]] = {
        "bytes": (2000, lambda i: bytes(n(256) for _ in range(n(40)))),
        "ascii": (2000, lambda i: "".join(chr(32 + n(95)) for _ in range(n(40)))),
        "text": (2000, lambda i: "".join(chr(1 + n(0xD7FF)) for _ in range(n(20)))),
        "int": (1000, lambda i: n(2**50) - 2**49 if i % 2 else n(100) - 50),
        "long": (1000, lambda i: (n(2**53) ** (2 + n(4))) * (1 if n(2) else -1)),
        "float": (1000, lambda i: (n(2**53) - 2**52) / float(2 ** n(80))),
        "tuple": (1000, lambda i: ("abc" * n(3), n(100) - 50, b"x" * n(9), (n(9), float(n(5))))[: n(5)]),
    }
    return {kind: [make(i) for i in range(count)] for kind, (count, make) in made.items()}


KEYS = keys()
BY_HASH = {
    "ascii": ("204bd89a12715b72d31349324c28f811", [16, 54, 48, 51, 22, 56, 74, 79]),
    "bytes": ("21f45850aa27a962dc7eecec05cc3b98", [78, 83, 54, 17, 37, 48, 83, 43]),
    "float": ("66ce0a53fef4eca19188bc338b73ced1", [9, 65, 92, 48, 45, 71, 27, 89]),
    "int": ("9ab92a134009b5c6a50ab3eabc2e799a", [9, 92, 19, 5, 89, 87, 81, 74]),
    "long": ("0482369f7ebe114613a7cecca74f72bb", [96, 12, 10, 56, 10, 53, 54, 94]),
    "text": ("47d13b6c4480297829dc15e3d9c256af", [85, 86, 14, 84, 35, 49, 23, 53]),
    "tuple": ("4107b02252c15a610d8747d066d83f0d", [41, 13, 51, 78, 37, 81, 37, 92]),
}
BY_MURMUR2 = {
    "ascii": ("426a72bcb469a4f79fdeb4bb3749fb09", [30, 38, 31, 39, 83, 30, 32, 42]),
    "bytes": ("9573ab2af43cacee72247c88c720bf22", [42, 37, 91, 83, 27, 36, 63, 34]),
    "int": ("303dd17ef25257fe63ef6ebfd053c38c", [67, 22, 61, 9, 34, 93, 67, 54]),
}
"""By kind of key, the digest of all partitions, and the first ones, from kafka-python 0.9.5 (Python 2.7.18)."""


def digest(partitions: list[int]) -> str:
    return hashlib.sha256(",".join(map(str, partitions)).encode()).hexdigest()[:32]


@pytest.mark.parametrize("kind", BY_HASH)
def test_partitions_match_python_2_hashes(kind: str) -> None:
    partitioner = LegacyPartitioner(PARTITIONS)
    picked = [partitioner.partition(key) for key in KEYS[kind]]
    assert (digest(picked), picked[:8]) == BY_HASH[kind]


@pytest.mark.parametrize("kind", BY_MURMUR2)
def test_partitions_match_murmur2(kind: str) -> None:
    partitioner = Murmur2Partitioner(PARTITIONS)
    picked = [partitioner.partition(key) for key in KEYS[kind]]
    assert (digest(picked), picked[:8]) == BY_MURMUR2[kind]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"", 0),
        (-1, -2),
        (2**63 - 1, 9223372036854775807),
        (-(2**63), -9223372036854775808),
        (2**64 - 1, -2),
        (float("inf"), 314159),
        (float("-inf"), -271828),
        (0.5, 1073741824),
        (True, 1),
        ((), 3527539),
    ],
)
def test_edge_case_hashes_match_python_2(value: object, expected: int) -> None:
    assert python2_hash(value) == expected


def test_unhashable_keys_are_rejected() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        LegacyPartitioner([0, 1]).partition(bytearray(b"key"))


@pytest.mark.parametrize("cls", [HashedPartitioner, Murmur2Partitioner])
def test_partitions_passed_to_a_call_take_precedence(cls: type[Partitioner]) -> None:
    assert cls([0]).partition(b"key", [7]) == 7
    assert cls([0]).partition(b"key", partitions=[]) == 0
    with pytest.raises(ValueError, match="at least one partition"):
        cls([]).partition(b"key")


def test_murmur2_is_unsigned_and_accepts_text() -> None:
    assert murmur2(b"21") == murmur2("21") == murmur2(21) == -973932308 & 0xFFFFFFFF
    assert murmur2(bytearray(b"a")) == murmur2(memoryview(b"a")) == kafka.partitioner.murmur2(b"a")


def test_old_partitioners_are_deprecated() -> None:
    with pytest.warns(DeprecationWarning, match="HashedPartitioner") as caught:
        HashedPartitioner([0])
    assert caught[0].filename == __file__


def test_round_robin_keeps_the_given_order() -> None:
    partitioner = kafka.RoundRobinPartitioner([2, 0, 1])
    assert partitioner is not None
    assert [partitioner.partition(b"key") for _ in range(4)] == [2, 0, 1, 2]
    assert [partitioner.partition(None, partitions=[5, 6]) for _ in range(3)] == [6, 5, 6]
    assert kafka.RoundRobinPartitioner is RoundRobinPartitioner


class Cluster:
    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0, 1, 2}

    def available_partitions_for_topic(self, topic: str) -> set[int]:
        return {1}


class Last(Partitioner):
    """A partitioner as written for 0.9."""

    def partition(self, key: Any, partitions: Any = None) -> int:
        return int((partitions or self.partitions)[-1])


@pytest.mark.parametrize("make", [Murmur2Partitioner, LegacyPartitioner, Last])
def test_the_current_producer_accepts_an_old_partitioner(make: Callable[[list[int]], Partitioner]) -> None:
    pick = adapt_partitioner(make([0]))
    assert pick is not None
    key = bytes(random.Random(1).randbytes(9))
    assert pick("t", key, key, None, None, Cluster()) == 1


def test_the_base_class_requires_a_partition_method() -> None:
    with pytest.raises(NotImplementedError):
        Partitioner().partition(b"key")
    with pytest.raises(NotImplementedError):
        Partitioner([0])(b"key", [0], [0])
