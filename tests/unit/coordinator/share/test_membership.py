"""A share group's member against a scripted coordinator, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from fakes.cluster import FakeCluster
from kafka.cluster import Backoff
from kafka.coordinator.group_metrics import PollClock
from kafka.coordinator.share.membership import TRANSITIONS, ShareMembership, ShareMemberState, check_move
from kafka.errors import GroupMaxSizeReachedError, IllegalStateError, KafkaConnectionError, UnsupportedVersionError
from kafka.wire.api.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from unit.virtual_loop import simulate

TOPIC_ID = UUID(int=9)
S = ShareMemberState


class Listener:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.assignments: list[dict[UUID, list[int]]] = []
        self.errors: list[Exception] = []
        self.refusals: list[Exception] = []

    def assigned(self, partitions: dict[UUID, list[int]]) -> None:
        self.assignments.append(partitions)

    def failed(self, error: Exception) -> None:
        self.errors.append(error)

    def refused(self, error: Exception) -> None:
        self.refusals.append(error)


class ShareMember:
    """A member, its listener, and what it has sent."""

    def __init__(self, *answers: Any) -> None:
        self.cluster = FakeCluster({"t": 1})
        self.sent: list[ShareGroupHeartbeatRequest] = []
        self.times: list[float] = []
        self._answers = list(answers)
        self.cluster.serve("ShareGroupHeartbeat", self._answer)
        self.listener = Listener()
        self.clock = PollClock(asyncio.get_running_loop().time())
        self.clock.begin(0)
        self.member = ShareMembership(
            self.cluster, "g", "rack", 60_000, 5_000, self.clock, Backoff(100, 1000), self.listener
        )

    async def until_asked(self) -> None:
        """Until a first heartbeat is out, and not answered yet."""
        while not self.cluster.requests("ShareGroupHeartbeat"):
            await asyncio.sleep(0.0001)

    def _answer(self, call: Any) -> Any:
        self.sent.append(call.request)
        self.times.append(asyncio.get_running_loop().time())
        answer = self._answers.pop(0) if self._answers else ok(call.request.member_epoch or 1)
        return answer


def ok(epoch: int, *partitions: int) -> ShareGroupHeartbeatResponse:
    assignment = None
    if partitions:
        rows = [TopicPartitions(topic_id=TOPIC_ID, partitions=list(partitions))]
        assignment = Assignment(topic_partitions=rows)
    return ShareGroupHeartbeatResponse(member_epoch=epoch, heartbeat_interval_ms=5000, assignment=assignment)


def failed(code: int) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(error_code=code, error_message="so it is")


def play(scenario: Callable[[ShareMember], Awaitable[None]], *answers: Any) -> None:
    async def run() -> None:
        scene = ShareMember(*answers)
        await scene.cluster.start()
        try:
            await scenario(scene)
        finally:
            await scene.member.close(1000)

    simulate(run)


def test_it_joins_stays_and_leaves() -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(11)
        await scene.member.close(1000)
        assert [request.member_epoch for request in scene.sent] == [0, 3, 3, -1]
        assert [request.subscribed_topic_names for request in scene.sent] == [["t"], None, None, None]
        assert [request.rack_id for request in scene.sent] == ["rack", None, None, None]
        assert {request.member_id for request in scene.sent} == {scene.member.member_id}
        assert scene.listener.assignments == [{TOPIC_ID: [0, 1]}, {}]

    play(scenario, ok(3, 0, 1))


@pytest.mark.parametrize("closes", [True, False])
def test_one_that_leaves_before_its_join_is_answered_says_so(closes: bool) -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await scene.until_asked()
        assert scene.member.state is S.JOINING
        await (scene.member.close(1000) if closes else scene.member.leave(1000))
        asked = scene.cluster.requests("ShareGroupHeartbeat")
        assert [request.member_epoch for request in asked] == [0, -1], "or it has partitions until its session ends"

    play(scenario)


def test_the_answer_to_a_join_that_was_given_up_is_not_one_to_the_next() -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await scene.until_asked()
        leaving = asyncio.ensure_future(scene.member.leave(1000))
        await asyncio.sleep(0)
        scene.member.subscribe(frozenset({"u"}))
        await leaving
        await asyncio.sleep(1)
        assert [each.subscribed_topic_names for each in scene.sent if each.member_epoch == 0] == [["t"], ["u"]]
        assert scene.listener.assignments == [{}, {TOPIC_ID: [1]}]

    play(scenario, ok(3, 0), ok(-1), ok(4, 1))


def test_a_changed_subscription_is_sent_immediately() -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(1)
        scene.member.subscribe(frozenset({"t", "u"}))
        await asyncio.sleep(0.1)
        assert [request.subscribed_topic_names for request in scene.sent] == [["t"], ["t", "u"]]
        assert scene.sent[1].member_epoch == 3

    play(scenario, ok(3, 0))


@pytest.mark.parametrize("code", [25, 110])
def test_one_that_is_unknown_or_fenced_joins_again(code: int) -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(7)
        assert [request.member_epoch for request in scene.sent] == [0, 3, 0]
        assert scene.sent[2].subscribed_topic_names == ["t"]
        assert scene.listener.assignments == [{TOPIC_ID: [0]}, {}, {TOPIC_ID: [1]}]
        assert scene.member.state is S.STABLE

    play(scenario, ok(3, 0), failed(code), ok(5, 1))


@pytest.mark.parametrize("trouble", [failed(15), failed(16), failed(14), KafkaConnectionError("lost")])
def test_transient_errors_are_retried_with_a_complete_request(trouble: Any) -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(6.5)
        assert [request.member_epoch for request in scene.sent][:3] == [0, 3, 3]
        assert scene.sent[2].subscribed_topic_names == ["t"]
        assert scene.times[2] - scene.times[1] < 0.5
        assert not scene.listener.refusals

    play(scenario, ok(3, 0), trouble)


def test_a_permanent_error_ends_the_membership_until_resubscription() -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(20)
        assert len(scene.sent) == 1
        [refusal] = scene.listener.refusals
        assert isinstance(refusal, GroupMaxSizeReachedError)
        assert "so it is" in str(refusal)
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(1)
        assert scene.member.state is S.STABLE

    play(scenario, failed(81))


def test_brokers_without_share_groups_are_named() -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(1)
        [refusal] = scene.listener.refusals
        assert isinstance(refusal, UnsupportedVersionError)
        assert "share.version" in str(refusal)
        assert "4.2" in str(refusal)

    play(scenario, failed(35))


def test_unauthorized_topics_raise_and_are_requested_again() -> None:
    async def scenario(scene: ShareMember) -> None:
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(1)
        assert len(scene.listener.errors) == 1
        assert scene.member.state is S.STABLE

    play(scenario, failed(29))


def test_a_caller_that_does_not_poll_loses_the_membership_and_gets_it_back() -> None:
    async def scenario(scene: ShareMember) -> None:
        loop = asyncio.get_running_loop()
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(1)
        scene.clock.end(loop.time())
        await asyncio.sleep(70)
        assert scene.member.state is S.STALE
        assert scene.sent[-1].member_epoch == -1
        scene.clock.begin(loop.time())
        scene.member.polled()
        await asyncio.sleep(1)
        assert scene.member.state is S.STABLE
        assert scene.sent[-1].member_epoch == 0

    play(scenario, ok(3, 0))


def test_leaving_observes_its_timeout() -> None:
    async def scenario(scene: ShareMember) -> None:
        loop = asyncio.get_running_loop()
        scene.member.subscribe(frozenset({"t"}))
        await asyncio.sleep(1)

        async def never() -> None:
            await asyncio.sleep(3600)

        scene._answers.append(never())
        begun = loop.time()
        await scene.member.leave(2000)
        assert loop.time() - begun <= 2.1
        assert scene.member.state is S.UNSUBSCRIBED

    play(scenario, ok(3, 0))


def test_moves_that_are_not_in_the_table_are_errors() -> None:
    assert set(TRANSITIONS) == set(ShareMemberState)
    with pytest.raises(IllegalStateError, match="STALE"):
        check_move(S.STALE, S.STABLE)
