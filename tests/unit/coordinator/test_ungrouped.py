"""A subscription without a group."""

from __future__ import annotations

import pytest

from fakes.cluster import FakeCluster
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.coordinator.membership import Membership, Partitions, Step, StepKind
from kafka.coordinator.ungrouped import UngroupedMembership
from kafka.errors import CommitFailedError
from unit.coordinator.scripted_group import partitions

_fits: type[Membership] = UngroupedMembership


class UngroupedConsumer:
    """The consumer, with the cluster that it sees."""

    def __init__(self, *topics: str) -> None:
        self.topics = frozenset(topics)
        self.cluster = FakeCluster()
        self.ready = 0
        self.still_there: Partitions = frozenset()
        self.held: Partitions = frozenset()
        self.membership = UngroupedMembership(lambda: self.metadata, self, lambda tp: tp in self.still_there)

    @property
    def metadata(self) -> ClusterMetadata:
        return self.cluster.metadata

    def see(self, *topics: str, **counts: int) -> None:
        """The cluster has these topics now, and is asked about those that are named, too."""
        self.cluster.topics = counts
        self.cluster.publish([*topics, *counts])

    def subscribed_topics(self) -> frozenset[str]:
        return self.topics

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        raise AssertionError("there is no group")

    def step_ready(self) -> None:
        self.ready += 1

    def membership_failed(self, error: Exception) -> None:
        raise AssertionError("nothing can fail")

    def take_steps(self) -> list[tuple[StepKind, Partitions]]:
        """Carry out all steps, as `poll()` does."""
        taken: list[Step] = []
        while (step := self.membership.next_step(self.held)) is not None:
            self.held = self.held | step.partitions if step.kind is StepKind.ADD else self.held - step.partitions
            self.membership.step_done(step, self.held)
            taken.append(step)
        assert len({step.turn for step in taken}) == len(taken)
        return [(step.kind, step.partitions) for step in taken]


def test_all_partitions_of_the_topics_are_taken() -> None:
    consumer = UngroupedConsumer("t", "u")
    consumer.see(t=2, u=1, other=3)
    assert consumer.take_steps() == [(StepKind.ADD, partitions("t", 0, 1) | partitions("u", 0))]
    assert consumer.take_steps() == []


def test_partitions_that_come_are_added_and_the_others_stay() -> None:
    consumer = UngroupedConsumer("t")
    consumer.see(t=2)
    consumer.take_steps()
    consumer.see(t=3)
    assert consumer.take_steps() == [(StepKind.ADD, partitions("t", 2))]
    assert consumer.held == partitions("t", 0, 1, 2)


def test_a_topic_that_cannot_be_described_for_a_moment_keeps_its_partitions() -> None:
    consumer = UngroupedConsumer("t")
    consumer.see(t=2)
    consumer.take_steps()
    consumer.see()
    assert consumer.take_steps() == []
    assert consumer.held == partitions("t", 0, 1)


def test_a_deleted_topic_is_given_up_and_added_when_it_returns() -> None:
    consumer = UngroupedConsumer("t", "u")
    consumer.see(t=2, u=1)
    consumer.take_steps()
    consumer.see("t", u=1)
    assert consumer.take_steps() == [(StepKind.REVOKE, partitions("t", 0, 1))]
    consumer.see(t=1, u=1)
    assert consumer.take_steps() == [(StepKind.ADD, partitions("t", 0))]


def test_removed_partitions_are_given_up_unless_metadata_are_stale() -> None:
    consumer = UngroupedConsumer("t")
    consumer.see(t=3)
    consumer.take_steps()
    consumer.still_there = partitions("t", 0, 1)
    consumer.see(t=1)
    assert consumer.take_steps() == [(StepKind.REVOKE, partitions("t", 2))]
    assert consumer.held == partitions("t", 0, 1)


def test_other_topics_take_the_place_of_those_that_are_no_longer_subscribed_to() -> None:
    consumer = UngroupedConsumer("t", "u")
    consumer.see(t=2, u=1, v=1)
    consumer.take_steps()
    consumer.topics = frozenset({"u", "v"})
    consumer.membership.subscription_changed("the test wants it")
    assert consumer.ready == 1
    assert consumer.take_steps() == [(StepKind.REVOKE, partitions("t", 0, 1)), (StepKind.ADD, partitions("v", 0))]


def test_news_of_the_cluster_are_looked_at() -> None:
    consumer = UngroupedConsumer("t")
    consumer.membership.metadata_changed(consumer.metadata)
    assert consumer.ready == 1


def test_leaving_without_a_group_revokes_and_cannot_commit() -> None:
    consumer = UngroupedConsumer("t")
    assert consumer.membership.leave_step(partitions("t", 0))[:2] == (StepKind.REVOKE, partitions("t", 0))
    assert not consumer.membership.generation.is_valid
    with pytest.raises(CommitFailedError):
        consumer.membership.commit_generation()
