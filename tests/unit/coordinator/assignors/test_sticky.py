"""The sticky assignor: balanced, near to what was before, and what members tell one another of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka.coordinator.assignors.abstract import Subscription
from kafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyAssignorMemberMetadataV1,
    StickyPartitionAssignor,
    decode_user_data,
    encode_user_data,
)
from kafka.coordinator.consumer_protocol import assigned_partitions, make_assignment, partitions_by_topic
from kafka.coordinator.protocol import ConsumerProtocolMemberAssignment_v0, ConsumerProtocolMemberMetadata_v0
from kafka.structs import TopicPartition

Assigned = dict[str, list[TopicPartition]]


class Counts:
    """A cluster of which only the numbers of partitions are known."""

    def __init__(self, **counts: int) -> None:
        self._counts = counts

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(self._counts[topic])) if topic in self._counts else None


class Group:
    """A group through its rebalances: each member remembers what it got."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts
        self.assigned: Assigned = {}
        self._assignors: dict[str, StickyPartitionAssignor] = {}
        self._generation = 0

    def rebalance(self, **topics: str) -> Assigned:
        """Assign anew to the members named, of the topics given."""
        self._generation += 1
        members = {}
        for name, wanted in topics.items():
            told = self._assignors.setdefault(name, StickyPartitionAssignor()).metadata(wanted.split())
            members[name] = Subscription(told.topics, told.user_data)
        made = StickyPartitionAssignor.assign(Counts(**self.counts), members)
        for name, assignment in made.items():
            self._assignors[name].on_assignment(assignment, self._generation)
        self.assigned = {name: assigned_partitions(assignment) for name, assignment in made.items()}
        return self.assigned


def readable(assigned: Assigned) -> dict[str, str]:
    return {name: " ".join(f"{tp.topic}{tp.partition}" for tp in owned) for name, owned in assigned.items()}


def moved(before: Assigned, after: Assigned) -> int:
    """How many partitions have left a member that is still there."""
    return sum(len(set(owned) - set(after[name])) for name, owned in before.items() if name in after)


def check(assigned: Assigned, counts: Mapping[str, int], topics: Mapping[str, str]) -> None:
    """Each partition that anybody wants has one owner, who wants it; none could go to one with two fewer."""
    everything = [tp for owned in assigned.values() for tp in owned]
    wanted = {topic for each in topics.values() for topic in each.split()}
    assert sorted(everything) == [TopicPartition(t, n) for t in sorted(wanted) for n in range(counts.get(t, 0))]
    for name, owned in assigned.items():
        for tp in owned:
            assert tp.topic in topics[name].split()
            least = min(len(assigned[other]) for other in assigned if tp.topic in topics[other].split())
            assert len(owned) - least <= 1, f"{tp} of {name} could move: {readable(assigned)}"


def groups(seed: int, is_mixed: bool) -> Iterator[tuple[Group, dict[str, str], Assigned]]:
    """A group of which members come and go, and topics grow; each round, what was and what is."""
    chance = random.Random(seed)
    group = Group(**{topic: chance.randrange(1, 9) for topic in "abcd"})
    topics: dict[str, str] = {}

    def draw() -> str:
        return " ".join(chance.sample("abcde", chance.randrange(1, 5))) if is_mixed else "a b c d e"

    for _ in range(8):
        for _ in range(chance.randrange(3)):
            topics[f"m{chance.randrange(100)}"] = draw()
        for name in chance.sample(sorted(topics), chance.randrange(len(topics) + 1) // 2):
            del topics[name]
        if chance.random() < 0.3:
            group.counts[chance.choice("abcd")] += chance.randrange(3)
        topics = topics or {"m": draw()}
        before = group.assigned
        group.rebalance(**topics)
        yield group, topics, before


@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_every_partition_has_one_owner_and_no_member_has_too_many(seed: int, is_mixed: bool) -> None:
    for group, topics, _ in groups(seed, is_mixed):
        check(group.assigned, group.counts, topics)


@pytest.mark.parametrize("seed", range(40))
def test_with_equal_subscriptions_as_many_partitions_stay_as_can(seed: int) -> None:
    for group, topics, before in groups(seed, False):
        least, larger = divmod(sum(group.counts.values()), len(topics))
        had = sorted((len(before.get(name, ())) for name in topics), reverse=True)
        could_stay = sum(min(count, least + (position < larger)) for position, count in enumerate(had))
        stayed = sum(len(set(before.get(name, ())) & set(owned)) for name, owned in group.assigned.items())
        assert stayed == could_stay


@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_nothing_moves_in_a_group_that_stays_as_it_is(seed: int, is_mixed: bool) -> None:
    for group, topics, _ in groups(seed, is_mixed):
        before = group.assigned
        assert group.rebalance(**topics) == before


@pytest.mark.parametrize("seed", range(40))
def test_with_different_subscriptions_no_exchange_would_bring_a_partition_back(seed: int) -> None:
    for group, topics, before in groups(seed, True):
        previous = {tp: name for name, owned in before.items() for tp in owned}
        new = {name: [tp for tp in owned if previous.get(tp) != name] for name, owned in group.assigned.items()}
        for holder, owned in new.items():
            for tp in owned:
                owner = previous.get(tp)
                if owner not in topics or tp.topic not in topics[owner].split():
                    continue
                for other in new[owner]:
                    if other.topic not in topics[holder].split():
                        continue
                    exchanged = {name: [*each] for name, each in group.assigned.items()}
                    exchanged[holder] = [each for each in exchanged[holder] if each != tp] + [other]
                    exchanged[owner] = [each for each in exchanged[owner] if each != other] + [tp]
                    with pytest.raises(AssertionError):
                        check(exchanged, group.counts, topics)


def test_the_first_assignment_is_dealt_out_in_turn() -> None:
    assert readable(Group(a=3, b=3).rebalance(n="a b", m="b a")) == {"m": "a0 a2 b1", "n": "a1 b0 b2"}
    assert readable(Group(a=2).rebalance(m="a", n="a", o="a")) == {"m": "a0", "n": "a1", "o": ""}


def test_a_member_that_joins_takes_only_its_share() -> None:
    group = Group(t=9)
    group.rebalance(m="t", n="t")
    before = group.assigned
    after = group.rebalance(m="t", n="t", o="t")
    assert {name: len(owned) for name, owned in after.items()} == {"m": 3, "n": 3, "o": 3}
    assert moved(before, after) == 3


def test_partitions_of_a_leaving_member_are_shared_by_the_others() -> None:
    group = Group(t=9)
    group.rebalance(m="t", n="t", o="t")
    before = group.assigned
    after = group.rebalance(m="t", o="t")
    assert moved(before, after) == 0
    assert sorted(map(len, after.values())) == [4, 5]


def test_partitions_of_a_topic_that_a_member_gave_up_go_to_others() -> None:
    group = Group(a=4, b=2)
    group.rebalance(m="a b", n="a b")
    after = group.rebalance(m="b", n="a b")
    assert readable(after)["m"] == "b0 b1"


def test_partitions_that_no_longer_exist_are_forgotten() -> None:
    group = Group(a=4)
    group.rebalance(m="a", n="a")
    group.counts["a"] = 2
    assert readable(group.rebalance(m="a", n="a")) == {"m": "a0", "n": "a1"}


def told(generation: int, *partitions: int, topics: str = "t") -> Subscription:
    owned = [TopicPartition("t", number) for number in partitions]
    return Subscription(topics.split(), encode_user_data(owned, generation))


def assign(members: dict[str, Subscription], **counts: int) -> dict[str, str]:
    made = StickyPartitionAssignor.assign(Counts(**counts), members)
    return readable({name: assigned_partitions(assignment) for name, assignment in made.items()})


def test_a_member_that_missed_rebalances_does_not_reclaim_partitions() -> None:
    late_first = {"late": told(3, 0, 1), "there": told(5, 1, 2), "too": told(5, 3)}
    assert assign(late_first, t=6) == {"late": "t0 t4", "there": "t1 t2", "too": "t3 t5"}
    late_last = {name: late_first[name] for name in reversed(late_first)}
    assert assign(late_last, t=6) == assign(late_first, t=6)


def test_partitions_claimed_twice_in_a_generation_count_as_unowned() -> None:
    assert assign({"m": told(4, 2, 3, 0), "n": told(4, 0, 1)}, t=4) == {"m": "t2 t3", "n": "t0 t1"}
    both = {"m": told(4, 0), "n": told(4, 0), "o": told(4, 1, 2, 3)}
    assert assign(both, t=4) == {"m": "t0", "n": "t3", "o": "t1 t2"}


def test_user_data_are_those_of_javas_clients() -> None:
    data = encode_user_data([TopicPartition("t", 1), TopicPartition("u", 0), TopicPartition("t", 3)], 7)
    assert data == bytes.fromhex("00000002 0001 74 00000002 00000001 00000003 0001 75 00000001 00000000 00000007")
    read = decode_user_data(data)
    assert (read.partitions, read.generation) == (
        [TopicPartition("t", 1), TopicPartition("t", 3), TopicPartition("u", 0)],
        7,
    )
    first_version = decode_user_data(data[:-4])
    assert (first_version.partitions, first_version.generation) == (read.partitions, -1)


@pytest.mark.parametrize("data", [None, b"", b"\x00", b"\xff" * 8, b"\x7f\xff\xff\xff" * 3])
def test_user_data_that_cannot_be_read_are_nothing(data: bytes | None) -> None:
    assert decode_user_data(data).partitions == []
    assert assign({"m": Subscription(["t"], data)}, t=2) == {"m": "t0 t1"}


def test_a_member_reports_its_previous_assignment_once_it_has_one() -> None:
    assignor = StickyPartitionAssignor()
    assert assignor.metadata(["t", "a"]).topics == ["a", "t"]
    assert assignor.metadata(["t"]).user_data is None
    assignor.on_assignment(make_assignment({"t": [0, 2]}), 4)
    had = StickyPartitionAssignor.parse_member_metadata(assignor.metadata(["t"]))
    assert had == StickyAssignorMemberMetadataV1(["t"], [TopicPartition("t", 0), TopicPartition("t", 2)], 4)
    assert StickyPartitionAssignor().metadata(["t"]).user_data is None, "each consumer's own"


def test_a_program_of_2_x_may_call_the_class_and_tells_the_generation_apart() -> None:
    class Own(StickyPartitionAssignor):
        """Keeps what is told to the class from other tests."""

    Own.on_assignment(make_assignment({"t": [1]}))
    assert (Own.generation, Own.member_assignment) == (-1, [TopicPartition("t", 1)])
    Own.on_generation_assignment(6)
    assert Own.parse_member_metadata(Own.metadata({"t"})) == (["t"], [TopicPartition("t", 1)], 6)
    assert StickyPartitionAssignor.member_assignment is None


def test_a_derived_assignor_may_override_previous_partitions() -> None:
    class Pinned(StickyPartitionAssignor):
        def metadata(self, topics: Any) -> Any:  # type: ignore[override]  # what it overrides is a descriptor
            return self._metadata(topics, [TopicPartition("a", 1)], 4)

    for told in (Pinned().metadata(["b", "a"]), Pinned._metadata(["b", "a"], [TopicPartition("a", 1)], generation=4)):
        had = StickyPartitionAssignor.parse_member_metadata(told)
        assert had == StickyAssignorMemberMetadataV1(["a", "b"], [TopicPartition("a", 1)], 4)
    assert Pinned._metadata(["a"], None).user_data is None
    assert StickyPartitionAssignor.parse_member_metadata(Pinned._metadata(["a"], [])).generation == -1


def test_subscriptions_and_assignments_of_2_x_are_taken() -> None:
    assignor: Any = StickyPartitionAssignor()
    assignor.on_assignment(ConsumerProtocolMemberAssignment_v0(0, [("t", [1])], b""))
    assert assignor.member_assignment == [TopicPartition("t", 1)]
    metadata = ConsumerProtocolMemberMetadata_v0(0, ["t"], encode_user_data([TopicPartition("t", 1)], 2))
    assert assignor.parse_member_metadata(metadata) == (["t"], [TopicPartition("t", 1)], 2)


def test_a_large_group_with_different_subscriptions_is_balanced() -> None:
    counts = {f"t{number}": 40 for number in range(50)}
    group = Group(**counts)
    topics = {f"m{n}": " ".join(f"t{(n * 7 + k) % 50}" for k in range(n % 9 + 1)) for n in range(120)}
    topics["all"] = " ".join(counts)
    group.rebalance(**topics)
    check(group.assigned, counts, topics)
    before = group.assigned
    del topics["m8"]
    group.rebalance(**topics)
    check(group.assigned, counts, topics)
    assert moved(before, group.assigned) < len(before["m8"]) * 2


def test_partitions_are_grouped_by_topic() -> None:
    made = StickyPartitionAssignor.assign(Counts(a=2, b=2), {"m": Subscription(["b", "a"])})
    assert partitions_by_topic(assigned_partitions(made["m"])) == {"a": [0, 1], "b": [0, 1]}


JAVAS = (Path(__file__).parents[3] / "data" / "sticky_assignments.txt").read_text().splitlines()


def read_partitions(text: str) -> list[TopicPartition]:
    return [TopicPartition(name, int(number)) for name, number in (each.rsplit("-", 1) for each in text.split())]


@pytest.mark.parametrize("case", [line for line in JAVAS if not line.startswith("#")])
def test_equal_subscriptions_are_assigned_as_in_java(case: str) -> None:
    asked, answer = case.split(" => ")
    counts, *told_by = asked.split("|")
    members = {}
    for each in told_by:
        name, generation, topics, owned = each.split(";")
        user_data = None if generation == "-1" else encode_user_data(read_partitions(owned), int(generation))
        members[name] = Subscription(topics.split(), user_data)
    cluster = Counts(**{topic: int(number) for topic, number in (each.split("=") for each in counts.split())})
    made = StickyPartitionAssignor.assign(cluster, members)
    expected = dict(each.split(";") for each in answer.split("|"))
    assert {name: assigned_partitions(each) for name, each in made.items()} == {
        name: read_partitions(text) for name, text in expected.items()
    }
