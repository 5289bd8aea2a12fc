"""Partitioners: equal to Java's by key, and of every generation's shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.partitioner_choices import choices
from kafka.errors import KafkaConfigurationError
from kafka.partitioner import DefaultPartitioner, Partitioner, RoundRobinPartitioner, StickyPartitioner, murmur2
from kafka.partitioner.partitioner_adapter import adapt_partitioner

CHOSEN = Path(__file__).resolve().parents[2] / "data" / "partitioners.jsonl"
"""What the originals chose, by `harness.partitioner_choices`."""


class TwoOfThree:
    """A cluster whose topic has three partitions, the second without a leader."""

    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0, 1, 2}

    def available_partitions_for_topic(self, topic: str) -> set[int]:
        return {0, 2}


@pytest.mark.parametrize(
    ("key", "hashed"),
    [(b"", 681), (b"a", 524), (b"ab", 434), (b"abc", 107), (b"123456789", 566), (b"\x00 ", 742)],
)
def test_keys_are_spread_as_javas_clients_do(key: bytes, hashed: int) -> None:
    assert DefaultPartitioner()(key, list(range(1000)), []) == hashed
    assert (murmur2(key) & 0x7FFFFFFF) % 1000 == hashed


def test_a_key_goes_to_its_partition_even_if_that_has_no_leader() -> None:
    partitioner = DefaultPartitioner()
    key = next(b"%d" % i for i in range(100) if partitioner(b"%d" % i, [0, 1, 2], [0, 2]) == 1)
    assert partitioner.partition("t", None, key, None, None, TwoOfThree()) == 1


def test_without_a_key_only_partitions_with_a_leader_are_chosen() -> None:
    partitioner = DefaultPartitioner()
    assert {partitioner(None, [0, 1, 2], [0, 2]) for _ in range(100)} == {0, 2}
    assert {partitioner(None, [0, 1, 2], []) for _ in range(100)} == {0, 1, 2}
    assert {partitioner.partition("t", None, None, None, None, TwoOfThree()) for _ in range(100)} == {0, 2}


def test_the_sticky_partitioner_moves_only_when_a_batch_is_begun() -> None:
    partitioner = StickyPartitioner()
    picks = {partitioner.partition("t", None, None, None, None, TwoOfThree()) for _ in range(50)}
    assert len(picks) == 1
    (before,) = picks
    partitioner.on_new_batch("t", TwoOfThree(), before)
    assert {partitioner.partition("t", None, None, None, None, TwoOfThree())} == {0, 2} - picks


def test_the_sticky_partitioner_leaves_a_partition_that_has_no_leader_any_more() -> None:
    cluster = TwoOfThree()
    partitioner = StickyPartitioner()
    partitioner.on_new_batch("t", cluster, 0)
    assert partitioner.partition("t", None, None, None, None, cluster) == 2
    cluster.available_partitions_for_topic = lambda topic: {0}  # type: ignore[method-assign]
    assert partitioner.partition("t", None, None, None, None, cluster) == 0
    cluster.available_partitions_for_topic = lambda topic: set()  # type: ignore[method-assign]
    assert partitioner.partition("t", None, None, None, None, cluster) == 0


@pytest.mark.parametrize("partitioner", [DefaultPartitioner(), StickyPartitioner()])
@pytest.mark.parametrize("key", [b"key", None])
def test_a_topic_that_is_not_known_has_no_partition(partitioner: DefaultPartitioner, key: bytes | None) -> None:
    class Nothing(TwoOfThree):
        def partitions_for_topic(self, topic: str) -> set[int]:
            return set()

        available_partitions_for_topic = partitions_for_topic

    with pytest.raises(ValueError, match="Topic missing not found"):
        partitioner.partition("missing", None, key, None, None, Nothing())


def test_round_robin_takes_turns() -> None:
    partitioner = RoundRobinPartitioner()
    assert [partitioner(b"k", [0, 1, 2], [2, 0]) for _ in range(5)] == [2, 0, 2, 0, 2]
    assert [partitioner.partition(None, [0, 1, 2]) for _ in range(4)] == [1, 2, 0, 1]
    assert [RoundRobinPartitioner([5, 7])(None) for _ in range(2)] == [5, 5]
    with pytest.raises(ValueError, match="at least one partition"):
        RoundRobinPartitioner()(None)


@pytest.mark.parametrize("given", [None, DefaultPartitioner(), DefaultPartitioner])
def test_the_default_rule_is_the_producers_own(given: Any) -> None:
    assert adapt_partitioner(given) is None


def test_old_shapes_are_adapted() -> None:
    class Hashed:
        def partition(self, key: Any, all_partitions: Any = None, available: Any = None) -> int:
            return int(all_partitions[-1])

    for given in (Hashed(), lambda key, everything, available: everything[-1]):
        pick = adapt_partitioner(given)
        assert pick is not None
        assert pick("t", None, b"k", None, b"v", TwoOfThree()) == 2


def test_objects_that_see_the_record_are_taken_as_they_are() -> None:
    class First(Partitioner):
        def partition(
            self, topic: str, key: Any, serialized_key: Any, value: Any, serialized_value: Any, cluster: Any
        ) -> int:
            return 0

    given = First()
    assert adapt_partitioner(given) == given.partition


@pytest.mark.parametrize("given", [5, object(), RoundRobinPartitioner])
def test_invalid_partitioners_are_refused(given: Any) -> None:
    with pytest.raises(KafkaConfigurationError, match="partitioner"):
        adapt_partitioner(given)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    with pytest.warns(DeprecationWarning, match="LegacyPartitioner|HashedPartitioner"):
        found: dict[str, Any] = choices((3, 0, 12))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("release", ["0.9.5", "1.0.2", "1.4.7", "2.0.2", "2.3.3", "3.0.12"])
def test_each_partitioner_chooses_like_that_of_a_release(release: str, ours: dict[str, Any]) -> None:
    said = {line["release"]: line["choices"] for line in map(json.loads, CHOSEN.read_text().splitlines())}
    chosen = said[release]
    expected = {name: ours[name] for name in chosen}
    if release in ("0.9.5", "1.0.2"):  # they began anew where the partitions change; from 1.4 on it goes on
        del chosen["RoundRobinPartitioner"]["changing"]
        expected["RoundRobinPartitioner"] = {"same": expected["RoundRobinPartitioner"]["same"]}
    assert chosen == expected
    assert chosen
