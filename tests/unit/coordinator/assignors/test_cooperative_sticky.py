"""The cooperative sticky assignor: what members tell, and that nothing moves before its owner gave it up."""

from __future__ import annotations

import random

import pytest

from kafka.coordinator.assignors.abstract import RebalanceProtocol, Subscription
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.consumer_protocol import assigned_partitions
from kafka.structs import TopicPartition
from kafka.wire.api import consumer_protocol as wire
from unit.coordinator.assignors.test_sticky import Counts

Held = dict[str, set[TopicPartition]]


def of(*numbers: int) -> set[TopicPartition]:
    return {TopicPartition("t", number) for number in numbers}


def assign(held: Held, generations: dict[str, int] | None = None, **counts: int) -> Held:
    """One round: what each member is assigned, by what it holds and since when."""
    members = {
        name: Subscription(
            sorted(counts or {"t": 0}), owned_partitions=sorted(owned), generation=(generations or {}).get(name, 5)
        )
        for name, owned in held.items()
    }
    made = CooperativeStickyAssignor.assign(Counts(**counts), members)
    return {name: set(assigned_partitions(assignment)) for name, assignment in made.items()}


def test_moving_partitions_are_assigned_in_the_second_round() -> None:
    first = assign({"a": of(0, 1, 2, 3), "b": set()}, t=4)
    assert len(first["a"]) == 2
    assert first["b"] == set()
    second = assign(first, t=4)
    assert second["a"] == first["a"]
    assert second["b"] == of(0, 1, 2, 3) - first["a"]


def test_unowned_partitions_are_assigned_in_the_first_round() -> None:
    made = assign({"a": of(0), "b": set()}, t=2)
    assert made == {"a": of(0), "b": of(1)}


def test_a_claim_of_an_older_generation_is_ignored_but_must_be_revoked_first() -> None:
    made = assign({"a": of(0, 1), "b": of(1, 2, 3)}, {"a": 4, "b": 5}, t=4)
    assert made["b"] >= of(2, 3) or made["b"] >= of(1, 2) or made["b"] >= of(1, 3)
    assert 0 in {tp.partition for tp in made["a"]}
    assert not made["a"] & made["b"]


def test_the_generation_is_read_from_user_data_if_the_subscription_lacks_it() -> None:
    assignor = CooperativeStickyAssignor()
    assert assignor.metadata(["t"]).user_data == b"\xff\xff\xff\xff"
    assignor.on_assignment(wire.ConsumerProtocolAssignment(), 7)
    told = assignor.metadata(["u", "t"])
    assert (told.topics, told.user_data) == (["t", "u"], b"\x00\x00\x00\x07")
    read = CooperativeStickyAssignor.parse_member_metadata
    assert read(Subscription(["t"], b"\x00\x00\x00\x07", sorted(of(1)))) == (["t"], sorted(of(1)), 7)
    assert read(Subscription(["t"], b"\x00\x00\x00\x07", generation=9)).generation == 9
    for unreadable in (None, b"", b"\x00\x00\x07"):
        assert read(Subscription(["t"], unreadable)).generation == -1


def test_a_message_is_read_as_a_subscription_is() -> None:
    owned = [wire.TopicPartition(topic="t", partitions=[1, 2])]
    message = wire.ConsumerProtocolSubscription(topics=["t"], owned_partitions=owned, generation_id=3)
    assert CooperativeStickyAssignor.parse_member_metadata(message) == (["t"], sorted(of(1, 2)), 3)


def test_it_serves_both_protocols() -> None:
    assert set(CooperativeStickyAssignor().supported_protocols()) == set(RebalanceProtocol)
    assert CooperativeStickyAssignor.name == "cooperative-sticky"


@pytest.mark.parametrize("seed", range(20))
def test_no_partition_has_two_owners_and_two_rounds_suffice(seed: int) -> None:
    rng = random.Random(seed)
    counts = {"t": rng.randrange(1, 12), "u": rng.randrange(1, 6)}
    everything = {TopicPartition(topic, number) for topic, count in counts.items() for number in range(count)}
    held: Held = {"m0": set()}
    for step in range(1, 12):
        if len(held) > 1 and rng.random() < 0.5:
            held.pop(rng.choice(sorted(held)))
        else:
            held[f"m{step}"] = set()
        for _ in range(2):
            made = assign(held, **counts)
            for name, given in made.items():
                for other in held.keys() - {name}:
                    assert not given & held[other], "given while another member still holds it"
            held = made
        assert set().union(*held.values()) == everything
        assert sum(map(len, held.values())) == len(everything)
        assert max(map(len, held.values())) - min(map(len, held.values())) <= 1
