"""Groups of the type "consumer" (KIP-848) on virtual time: epochs, targets, reconciliation, and sessions."""

from __future__ import annotations

import random
from pathlib import Path
from uuid import UUID

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.groups import consumer_journal
from kafka.broker.groups.consumer_group import ConsumerGroupState, ConsumerMember, assign_range, assign_uniform
from kafka.broker.groups.consumer_members import Heartbeat
from kafka.broker.log.entry_file import EntryFile
from unit.broker.grouped import GROUP, GroupCoordinatorHarness

pytestmark = pytest.mark.once

T, U = UUID(int=1), UUID(int=2)
E = ErrorCode


def of(*numbers: int, topic: UUID = T) -> set[tuple[UUID, int]]:
    return {(topic, number) for number in numbers}


class ConsumerGroupHarness:
    """The coordinator of consumer groups, and requests of members. The topic `t` has four partitions."""

    def __init__(self, folder: Path) -> None:
        self.harness = GroupCoordinatorHarness(folder)
        self.topics = {"t": (T, 4)}
        self.members = self.harness.coordinator.consumers
        self.members._topics = lambda: self.topics

    @property
    def state(self) -> ConsumerGroupState:
        group = self.harness.coordinator.groups[GROUP].consumer
        assert group is not None
        return group.state

    def beat(
        self,
        member_id: str,
        epoch: int,
        owned: set[tuple[UUID, int]] | None = None,
        *,
        topics: set[str] | None = None,
        instance: str | None = None,
        regex: str | None = None,
        assignor: str | None = None,
        rebalance_ms: int = -1,
    ) -> tuple[ConsumerMember, bool]:
        """Send a heartbeat; return the member, and whether the response contains its assignment."""
        wanted = None if topics is None else frozenset(topics)
        said = Heartbeat(
            GROUP, member_id, epoch, instance, None, "client", "/host", rebalance_ms, wanted, regex, assignor, owned
        )
        if epoch < 0:
            self.members.leave(said)
            return ConsumerMember(member_id, instance, "", ""), False
        return self.members.heartbeat(said)

    def restart(self) -> None:
        """Stop the coordinator, and open another one on its files."""
        self.harness.coordinator.close()
        self.members = self.harness.reopened().consumers
        self.members._topics = lambda: self.topics

    @property
    def names(self) -> set[str]:
        """The ids of the members."""
        group = self.harness.coordinator.groups[GROUP].consumer
        return set() if group is None else set(group.members)

    def join(self, member_id: str, **more: object) -> ConsumerMember:
        """Join the group with a subscription to `t`."""
        return self.beat(member_id, 0, set(), **{"topics": {"t"}, "rebalance_ms": 60_000, **more})[0]  # type: ignore[arg-type]

    def refused(self, *arguments: object, **more: object) -> ErrorCode:
        with pytest.raises(RequestFailed) as caught:
            self.beat(*arguments, **more)  # type: ignore[arg-type]
        return caught.value.code


@pytest.fixture
def consumers(tmp_path: Path) -> ConsumerGroupHarness:
    return ConsumerGroupHarness(tmp_path)


def test_the_first_member_gets_everything_at_once(consumers: ConsumerGroupHarness) -> None:
    member = consumers.join("a")
    assert (member.assigned, member.epoch) == (of(0, 1, 2, 3), 1)
    assert consumers.state is ConsumerGroupState.STABLE
    assert consumers.beat("a", 1) == (member, False)


def test_a_partition_moves_only_after_it_was_revoked(consumers: ConsumerGroupHarness) -> None:
    first, second = consumers.join("a"), consumers.join("b")
    assert (second.assigned, second.epoch) == (set(), 2)
    assert consumers.state is ConsumerGroupState.RECONCILING
    _, told = consumers.beat("a", 1)
    assert told
    assert (first.epoch, len(first.assigned), len(first.revoking)) == (1, 2, 2)
    assert consumers.beat("b", 2)[1] is False
    kept = set(first.assigned)
    consumers.beat("a", 1, of(0, 1, 2, 3))
    assert first.epoch == 1, "it still has what it is to give up"
    consumers.beat("a", 1, kept)
    assert (first.epoch, first.revoking) == (2, set())
    assert consumers.beat("b", 2)[1]
    assert second.assigned == of(0, 1, 2, 3) - kept
    assert consumers.state is ConsumerGroupState.STABLE


def test_a_member_that_does_not_revoke_in_time_is_removed(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a")
    second = consumers.join("b")
    for _ in range(6):
        consumers.harness.clock.advance(10)
        consumers.beat("b", 2)
        if "a" in consumers.harness.coordinator.groups[GROUP].consumer.members:  # type: ignore[union-attr]
            consumers.beat("a", 1)
    consumers.harness.clock.advance(11)
    assert consumers.refused("a", 1) is E.UNKNOWN_MEMBER_ID
    consumers.beat("b", second.epoch)
    assert second.assigned == of(0, 1, 2, 3)


def test_an_expired_session_frees_its_partitions(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a")
    consumers.harness.clock.advance(44)
    consumers.beat("a", 1)
    consumers.harness.clock.advance(44)
    second = consumers.join("b")
    consumers.harness.clock.advance(2)
    assert consumers.refused("a", 1) is E.UNKNOWN_MEMBER_ID
    consumers.beat("b", second.epoch)
    assert second.assigned == of(0, 1, 2, 3)


@pytest.mark.parametrize("epoch", [2, 7])
def test_a_wrong_epoch_is_fenced(consumers: ConsumerGroupHarness, epoch: int) -> None:
    consumers.join("a")
    assert consumers.refused("a", epoch) is E.FENCED_MEMBER_EPOCH
    assert consumers.refused("b", 1) is E.UNKNOWN_MEMBER_ID
    with pytest.raises(RequestFailed) as caught:
        consumers.members.heartbeat(
            Heartbeat("other", "a", 1, None, None, "", "", -1, None, None, None, None),
        )
    assert caught.value.code is E.GROUP_ID_NOT_FOUND


def test_the_previous_epoch_is_accepted_after_a_lost_response(consumers: ConsumerGroupHarness) -> None:
    member = consumers.join("a")
    consumers.beat("a", 1, topics={"t", "u"})
    assert (member.epoch, member.previous_epoch) == (2, 1)
    assert consumers.refused("a", 1) is E.FENCED_MEMBER_EPOCH, "as it does not say what it has"
    assert consumers.beat("a", 1, of(0, 1, 2, 3))[0].epoch == 2


def test_new_partitions_and_topics_create_a_new_target(consumers: ConsumerGroupHarness) -> None:
    member = consumers.join("a", topics={"t", "u"})
    consumers.topics = {"t": (T, 5), "u": (U, 1)}
    _, told = consumers.beat("a", 1)
    assert told
    assert (member.epoch, member.assigned) == (2, of(0, 1, 2, 3, 4) | of(0, topic=U))
    consumers.topics = {"u": (U, 1)}
    consumers.beat("a", 2)
    assert member.revoking == of(0, 1, 2, 3, 4)
    consumers.beat("a", 2, of(0, topic=U))
    assert (member.epoch, member.assigned) == (3, of(0, topic=U))


def test_a_returning_static_member_keeps_its_partitions(consumers: ConsumerGroupHarness) -> None:
    first = consumers.join("a", instance="i")
    second = consumers.join("b")
    consumers.beat("a", 1, of(0, 1, 2, 3), instance="i")
    consumers.beat("a", 1, set(first.assigned), instance="i")
    consumers.beat("b", 2)
    had, epoch = set(first.assigned), consumers.harness.coordinator.groups[GROUP].consumer.epoch  # type: ignore[union-attr]
    assert consumers.refused("c", 0, set(), topics={"t"}, instance="i") is E.UNRELEASED_INSTANCE_ID
    consumers.beat("a", -2, instance="i")
    assert consumers.beat("b", 2) == (second, False)
    back = consumers.join("c", instance="i")
    assert back.assigned == had
    assert consumers.refused("a", 2, instance="i") is E.FENCED_INSTANCE_ID
    group = consumers.harness.coordinator.groups[GROUP].consumer
    assert group is not None
    assert group.epoch <= epoch + 1
    assert group.state is ConsumerGroupState.STABLE


def test_a_leaving_member_frees_its_partitions_at_once(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a")
    second = consumers.join("b")
    consumers.beat("a", -1)
    consumers.beat("b", 2)
    assert second.assigned == of(0, 1, 2, 3)
    consumers.beat("b", -1)
    assert consumers.state is ConsumerGroupState.EMPTY
    assert consumers.refused("b", -1) is E.UNKNOWN_MEMBER_ID


def test_an_administrator_can_remove_a_member(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a", instance="i")
    consumers.join("b")
    assert consumers.harness.leave("", "i") is E.NONE
    assert consumers.harness.leave("", "i") is E.UNKNOWN_MEMBER_ID
    assert consumers.harness.leave("b") is E.NONE
    assert consumers.state is ConsumerGroupState.EMPTY


def test_a_regular_expression_must_match_the_whole_name(consumers: ConsumerGroupHarness) -> None:
    consumers.topics = {"t": (T, 1), "tt": (U, 1)}
    member = consumers.join("a", topics=set(), regex="t")
    assert member.assigned == of(0)
    consumers.beat("a", 1, regex="t+")
    assert member.assigned == of(0) | of(0, topic=U)
    assert consumers.refused("a", 2, regex="(") is E.INVALID_REGULAR_EXPRESSION


def test_the_assignor_that_most_members_request_is_used(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a", assignor="range")
    group = consumers.harness.coordinator.groups[GROUP].consumer
    assert group is not None
    assert group.assignor == "range"
    for name in ("b", "c"):
        consumers.join(name, assignor="uniform")
    assert group.assignor == "uniform"
    assert consumers.refused("d", 0, set(), topics={"t"}, assignor="mine") is E.UNSUPPORTED_ASSIGNOR


def test_commits_require_the_current_epoch(
    consumers: ConsumerGroupHarness,
) -> None:
    consumers.join("a")
    coordinator = consumers.harness.coordinator

    def commits(member_id: str, epoch: int, version: int = 9) -> ErrorCode:
        try:
            coordinator.check_commit(GROUP, member_id, None, epoch, version)
        except RequestFailed as error:
            return error.code
        return E.NONE

    assert commits("a", 1) is E.NONE
    assert commits("a", 0) is E.STALE_MEMBER_EPOCH
    assert commits("b", 1) is E.UNKNOWN_MEMBER_ID
    assert commits("a", 1, version=8) is E.UNSUPPORTED_VERSION
    assert commits("", -1) is E.UNKNOWN_MEMBER_ID
    for member_id, epoch, code in (("a", 0, E.ILLEGAL_GENERATION), ("b", 1, E.UNKNOWN_MEMBER_ID)):
        with pytest.raises(RequestFailed) as caught:
            coordinator.check_transactional_commit(GROUP, member_id, None, epoch)
        assert caught.value.code is code
    coordinator.check_transactional_commit(GROUP, "a", None, 1)
    for member_id, epoch, code in (("a", 0, E.STALE_MEMBER_EPOCH), ("b", 1, E.UNKNOWN_MEMBER_ID)):
        with pytest.raises(RequestFailed) as caught:
            consumers.members.check_fetch(GROUP, member_id, epoch)
        assert caught.value.code is code
    consumers.members.check_fetch(GROUP, "a", 1)
    consumers.members.check_fetch(GROUP, None, -1)
    consumers.beat("a", -1)
    assert commits("", -1) is E.NONE


def test_only_an_empty_group_changes_its_type(
    consumers: ConsumerGroupHarness,
) -> None:
    harness = consumers.harness
    (member,) = harness.stable(1)
    assert consumers.refused("a", 0, set(), topics={"t"}) is E.GROUP_ID_NOT_FOUND
    harness.leave(member.member_id)
    consumers.join("a")
    assert harness.coordinator.groups[GROUP].type_name == "consumer"
    assert harness.join()[0].error is E.INCONSISTENT_GROUP_PROTOCOL
    with pytest.raises(RequestFailed) as caught:
        harness.coordinator.delete_group(GROUP)
    assert caught.value.code is E.NON_EMPTY_GROUP
    consumers.beat("a", -1)
    joined = harness.join()[0]
    assert joined.error is E.NONE
    assert joined.generation_id > 2, "generations go on from the epochs"


def test_members_survive_a_restart(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a")
    consumers.join("b", regex="t.*", topics=set())
    _, told = consumers.beat("a", 1)
    assert told
    consumers.restart()
    assert consumers.state is ConsumerGroupState.RECONCILING
    assert consumers.beat("a", 1)[1] is False, "it has been told what to give up"
    kept = set(consumers.beat("a", 1)[0].assigned)
    consumers.restart()
    first, _ = consumers.beat("a", 1, kept)
    second, told = consumers.beat("b", 2)
    assert told
    assert (first.epoch, second.epoch) == (2, 2)
    assert first.assigned | second.assigned == of(0, 1, 2, 3)
    assert not first.assigned & second.assigned
    consumers.restart()
    assert consumers.state is ConsumerGroupState.STABLE
    assert consumers.beat("b", 2)[0].assigned == second.assigned
    assert consumers.join("c").epoch == 3, "no epoch is given twice"


def test_an_old_epoch_may_not_commit_after_a_restart(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a")
    consumers.join("b")
    consumers.beat("b", -1)
    consumers.beat("a", 1, of(0, 1, 2, 3))
    consumers.restart()
    for epoch, refused in ((1, E.STALE_MEMBER_EPOCH), (2, E.STALE_MEMBER_EPOCH), (3, None)):
        if refused is None:
            consumers.harness.coordinator.check_commit(GROUP, "a", None, epoch, 9)
            continue
        with pytest.raises(RequestFailed) as caught:
            consumers.harness.coordinator.check_commit(GROUP, "a", None, epoch, 9)
        assert caught.value.code is refused


def test_a_member_that_does_not_return_after_a_restart_is_removed(consumers: ConsumerGroupHarness) -> None:
    consumers.join("a")
    consumers.join("s", instance="i")
    consumers.beat("s", -2, instance="i")
    consumers.restart()
    assert consumers.names == {"a", "s"}
    consumers.harness.clock.advance(44)
    assert consumers.names == {"a", "s"}
    consumers.harness.clock.advance(2)
    assert consumers.names == set()
    consumers.restart()
    assert (consumers.names, consumers.state) == (set(), ConsumerGroupState.EMPTY)


def test_deleted_and_converted_groups_are_not_stored(consumers: ConsumerGroupHarness) -> None:
    harness = consumers.harness
    consumers.join("a")
    consumers.beat("a", -1)
    harness.coordinator.delete_group(GROUP)
    consumers.restart()
    assert GROUP not in harness.coordinator.groups
    consumers.join("a")
    consumers.beat("a", -1)
    assert harness.join()[0].error is E.NONE
    consumers.restart()
    assert GROUP not in harness.coordinator.groups


def test_a_change_that_cannot_be_stored_is_not_sent(
    consumers: ConsumerGroupHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError("no space")

    consumers.join("a")
    with monkeypatch.context() as patch:
        patch.setattr(EntryFile, "append", full)
        assert consumers.refused("b", 0, set(), topics={"t"}, rebalance_ms=1) is E.COORDINATOR_NOT_AVAILABLE
        assert consumers.refused("a", 1) is E.COORDINATOR_NOT_AVAILABLE, "what b has changed is not kept yet"
    consumers.beat("b", 0, set(), topics={"t"}, rebalance_ms=1)
    consumers.restart()
    assert consumers.names == {"a", "b"}


def test_the_file_is_compacted(
    consumers: ConsumerGroupHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_journal, "_SMALLEST_REWRITE", 1_000)
    consumers.join("a")
    for _ in range(100):
        consumers.join("b")
        consumers.beat("b", -1)
    assert (tmp_path / "consumers.log").stat().st_size < 10_000
    consumers.restart()
    assert consumers.names == {"a"}
    assert consumers.join("a").epoch == 201


@pytest.mark.parametrize("seed", range(10))
def test_uniform_is_even_and_sticky(seed: int) -> None:
    rng = random.Random(seed)
    counts = {T: rng.randrange(1, 12), U: rng.randrange(1, 8)}
    everything = {(topic, number) for topic, count in counts.items() for number in range(count)}
    before: dict[str, set[tuple[UUID, int]]] = {}
    for size in (1, 3, 2, 4):
        wanted = {f"m{number}": frozenset(counts) for number in range(size)}
        held = assign_uniform(wanted, counts, before)
        assert set().union(*held.values()) == everything
        assert sum(map(len, held.values())) == len(everything)
        assert max(map(len, held.values())) - min(map(len, held.values())) <= 1
        assert assign_uniform(wanted, counts, held) == held, "nothing moves without a cause"
        before = held


def test_range_assigns_consecutive_partitions_per_topic() -> None:
    wanted = {"a": frozenset({T, U}), "b": frozenset({T})}
    held = assign_range(wanted, {T: 3, U: 2}, {})
    assert held == {"a": of(0, 1) | of(0, 1, topic=U), "b": of(2)}
