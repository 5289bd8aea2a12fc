"""Subclasses of `BaseCoordinator` of 1.0 to 2.x: a group with its own kind of work."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from kafka.broker import EmbeddedBroker
from kafka.client_async import KafkaClient
from kafka.coordinator.base import (
    BaseCoordinator,
    Generation,
    GroupCoordinatorMetrics,
    HeartbeatTask,
    HeartbeatThread,
    MemberState,
    UnjoinedGroupException,
)
from kafka.coordinator.heartbeat import Heartbeat
from kafka.errors import (
    GroupAuthorizationFailedError,
    InconsistentGroupProtocolError,
    InvalidSessionTimeoutError,
    UnsupportedVersionError,
)
from kafka.metrics import DictReporter, Metrics

WORK = "abcdef"
QUICK_MS = 20


class Workers(BaseCoordinator):
    """Distributes letters over its members."""

    name = "letters"

    def __init__(self, *args: Any, **configs: Any) -> None:
        super().__init__(*args, **configs)
        self.calls: list[tuple[Any, ...]] = []
        self.work = ""

    def protocol_type(self) -> str:
        return "workers"

    def group_protocols(self) -> list[tuple[str, Any]]:
        return [(self.name, "metadata of " + self.name), ("unused", b"")]

    def _on_join_prepare(self, generation: int, member_id: str) -> None:  # type: ignore[override]  # as in 1.0
        self.calls.append(("prepare", generation, member_id))
        self.work = ""

    def _perform_assignment(self, leader_id: str, protocol: str, members: Any) -> dict[str, Any]:
        assert leader_id == self.member_id
        assert {metadata for _, metadata in members} == {b"metadata of letters"}
        names = sorted(member_id for member_id, _ in members)
        assert names == sorted(each.member_id for each in members)
        return {name: WORK[number :: len(names)] for number, name in enumerate(names)}

    def _on_join_complete(self, generation: int, member_id: str, protocol: str, member_assignment_bytes: bytes) -> None:
        self.calls.append(("complete", generation, member_id, protocol))
        self.work = member_assignment_bytes.decode()


Make = Callable[..., Workers]


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(group_min_session_timeout_ms=1) as broker:
        yield broker


@pytest.fixture
def make(broker: EmbeddedBroker) -> Iterator[Make]:
    """Return a function that creates a member with its own client."""
    made: list[tuple[Workers, KafkaClient]] = []

    def make(kind: type[Workers] = Workers, **configs: Any) -> Workers:
        client = KafkaClient(bootstrap_servers=broker.bootstrap_servers)
        member = kind(client, **{"group_id": "group", "heartbeat_interval_ms": QUICK_MS, **configs})
        made.append((member, client))
        return member

    yield make
    for member, client in made:
        member.close()
        client.close()


def join_all(*members: Workers) -> None:
    """Let members join in turn, until the group is stable with all of them."""
    while any(member.need_rejoin() for member in members) or len({int(each.generation) for each in members}) > 1:
        for member in members:
            member.ensure_active_group(timeout_ms=QUICK_MS)


def poll_until(member: Workers, is_so: Callable[[], object]) -> None:
    while not is_so():
        member._client.poll(timeout_ms=QUICK_MS)


def test_one_member_gets_all_the_work(make: Make) -> None:
    member = make()
    assert (member.generation, member.member_id, member.coordinator_id) == (-1, "", None)
    assert member.coordinator_unknown()
    assert member.need_rejoin()
    assert member.generation() is None
    assert member.time_to_next_heartbeat() == float("inf")
    assert member.ensure_active_group()
    assert member.work == WORK
    assert member.generation == 1
    assert member.generation() == Generation(1, member.member_id, "letters")
    assert member.calls == [("prepare", -1, ""), ("complete", 1, member.member_id, "letters")]
    assert member.state == MemberState.STABLE
    assert not member.need_rejoin()
    assert not member.coordinator_unknown()
    assert member.coordinator() == member.coordinator_id == "coordinator-1"
    assert member._client.cluster.coordinator_for_group("group") == "coordinator-1"
    assert member.ensure_active_group()
    assert len(member.calls) == 2


def test_two_members_share_the_work_and_one_takes_over_when_the_other_leaves(make: Make) -> None:
    first, second = make(), make()
    first.ensure_active_group()
    join_all(first, second)
    assert sorted(first.work + second.work) == list(WORK)
    assert first.work
    assert second.work
    assert first.generation() == Generation(int(second.generation), first.member_id, "letters")
    name = second.member_id
    second.close()
    assert (second.generation, second.member_id, second.need_rejoin()) == (-1, "", True)
    poll_until(first, first.need_rejoin)  # noticed by a heartbeat
    first.ensure_active_group()
    assert first.work == WORK
    join_all(first, second)  # a closed member can rejoin
    assert second.member_id not in ("", name)
    assert sorted(first.work + second.work) == list(WORK)


def test_heartbeats_keep_an_idle_member_in_the_group(make: Make) -> None:
    member = make()
    member.ensure_active_group()
    sent = member.heartbeat.last_send
    poll_until(member, lambda: member.heartbeat.last_send > sent and member.heartbeat.last_receive > sent)
    assert 0 <= member.time_to_next_heartbeat() <= QUICK_MS / 1000
    assert not member.need_rejoin()


def test_work_of_a_member_without_heartbeats_moves_until_it_rejoins(make: Make) -> None:
    silent, other = make(session_timeout_ms=500), make()
    silent.ensure_active_group()
    join_all(silent, other)
    name = silent.member_id
    silent.heartbeat_task.disable()
    poll_until(other, other.need_rejoin)  # the session of the first has expired
    other.ensure_active_group()
    assert other.work == WORK
    silent.heartbeat_task.reset()
    poll_until(silent, silent.need_rejoin)
    assert (silent.member_id, silent.generation, silent.state) == ("", -1, MemberState.UNJOINED)
    join_all(silent, other)
    assert silent.member_id != name
    assert sorted(silent.work + other.work) == list(WORK)


def test_a_member_that_does_not_poll_leaves(make: Make) -> None:
    member = make(max_poll_interval_ms=50)
    member.ensure_active_group()
    while member.member_id:  # reading it does not count as a poll
        time.sleep(0.001)
    assert member.state == MemberState.UNJOINED
    assert member.need_rejoin()
    assert member.ensure_active_group()


def test_requested_rejoin(make: Make) -> None:
    member = make()
    member.ensure_active_group()
    name = member.member_id
    member.rejoin_needed = True
    member.ensure_active_group()
    assert (member.generation, member.member_id) == (2, name)
    assert member.calls[2] == ("prepare", 1, name)
    member.request_rejoin()
    assert member.need_rejoin()


def test_a_dead_coordinator_is_looked_up_again(make: Make) -> None:
    member = make()
    member.ensure_coordinator_known()
    member.coordinator_dead("it is")
    assert member.coordinator_id is None
    assert member.coordinator() is None
    assert not member.connected()
    member.ensure_active_group()
    assert member.connected()


def test_hooks_of_2_x_and_their_errors(make: Make) -> None:
    class Newer(Workers):
        error: Exception | None = None

        def _on_join_prepare(self, generation: int, member_id: str, timeout_ms: float | None = None) -> None:
            self.calls.append(("prepare", timeout_ms is not None))

        def _perform_assignment(self, leader_id: str, protocol: str, members: Any) -> dict[str, Any]:
            if self.error is not None:
                raise self.error
            return {each.member_id: each.metadata_bytes for each in members}

    member = make(Newer)
    member.error = ZeroDivisionError("of the leader")
    with pytest.raises(ZeroDivisionError, match="of the leader"):
        member.ensure_active_group()
    assert member.need_rejoin()
    member.error = None
    assert member.ensure_active_group(timeout_ms=60_000)
    assert member.work == "metadata of letters"
    assert member.calls[0] == ("prepare", False)


def test_errors_that_rejoining_cannot_resolve(make: Make) -> None:
    member = make(session_timeout_ms=1_000_000_000)
    with pytest.raises(InvalidSessionTimeoutError):
        member.ensure_active_group()

    class Others(Workers):
        name = "numbers"

        def group_protocols(self) -> list[tuple[str, Any]]:
            return [("numbers", b"")]

    make().ensure_active_group()
    with pytest.raises(InconsistentGroupProtocolError):
        make(Others).ensure_active_group()
    with pytest.raises(UnsupportedVersionError):
        make(api_version=(0, 8, 2)).ensure_active_group()


def test_the_error_that_ends_heartbeats_is_raised_once(make: Make) -> None:
    member = make()
    member.ensure_active_group()
    member.poll_heartbeat()
    member._member.stop_heartbeats()
    member._link.loop_thread.call(member._member.heartbeat_answered, GroupAuthorizationFailedError.errno)
    poll_until(member, lambda: member._member.failure)
    with pytest.raises(GroupAuthorizationFailedError):
        member.poll_heartbeat()
    member.poll_heartbeat()
    assert member.need_rejoin()


def test_join_timeout(make: Make) -> None:
    first, second = make(), make()
    first.ensure_active_group()
    while not second.rebalance_in_progress():  # may take several attempts on a busy machine
        assert not second.ensure_active_group(timeout_ms=QUICK_MS)  # the first has not rejoined
    assert second.join_future is not None
    second.close()
    assert second.state == MemberState.UNJOINED
    assert UnjoinedGroupException.retriable


def test_heartbeat_task_and_thread_start_and_stop_heartbeats(make: Make) -> None:
    member = make()
    assert isinstance(member.heartbeat_task, HeartbeatTask)
    member.ensure_active_group()
    member.heartbeat_task.disable()
    while member._link.loop_thread.run(_is_sending(member)):
        pass
    member.heartbeat_task.reset()
    assert member._link.loop_thread.run(_is_sending(member))
    thread = HeartbeatThread(member)
    thread.start()
    thread.enable()
    assert (thread.enabled, thread.closed, thread.failed) == (True, False, None)
    thread.close()
    assert (thread.enabled, thread.closed, thread.is_alive()) == (False, True, False)
    assert not member._link.loop_thread.run(_is_sending(member))


def test_an_unreferenced_coordinator_sends_no_heartbeats(broker: EmbeddedBroker) -> None:
    client = KafkaClient(bootstrap_servers=broker.bootstrap_servers)
    coordinator = Workers(client, group_id="group", heartbeat_interval_ms=QUICK_MS)
    coordinator.ensure_active_group()
    member, loop_thread = coordinator._member, coordinator._link.loop_thread
    gc.disable()
    try:
        del coordinator

        async def is_sending() -> bool:
            return member._sender.running

        assert not loop_thread.run(is_sending())
    finally:
        gc.enable()
        client.close()


def test_a_subclass_may_use_options_of_old_generations(make: Make) -> None:
    class Older(Workers):
        DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {"group_id": "older", "session_timeout_ms": 7000, "own": 1}

    member = make(Older, own=2)
    assert (member.config["own"], member.config["session_timeout_ms"], member.group_id) == (2, 7000, "group")
    assert member.ensure_active_group()


async def _is_sending(member: Workers) -> bool:
    return member._member._sender.running


def test_metrics(make: Make) -> None:
    reporter = DictReporter()
    metrics = Metrics(reporters=[reporter])
    member = make(metrics=metrics, metric_group_prefix="workers")
    assert isinstance(member.sensors, GroupCoordinatorMetrics)
    member.ensure_active_group()
    poll_until(member, lambda: member.heartbeat.last_receive > member.heartbeat.last_reset)
    told = reporter.snapshot()["workers-coordinator-metrics"]
    assert told["join-time-avg"] > 0
    assert told["join-time-max"] >= told["join-time-avg"]
    assert told["sync-rate"] > 0
    assert told["heartbeat-rate"] > 0
    assert told["last-heartbeat-seconds-ago"] < 60


def test_heartbeat_times() -> None:
    with pytest.raises(AssertionError, match="interval must be lower"):
        Heartbeat(heartbeat_interval_ms=2, session_timeout_ms=1)
    beat = Heartbeat(heartbeat_interval_ms=1_000_000, session_timeout_ms=2_000_000, more=1)
    assert (beat.interval, beat.timeout) == (1000, 2000)
    assert 999 < beat.ttl() <= 1000
    assert not beat.should_heartbeat()
    beat.last_reset -= 1001
    assert beat.should_heartbeat()
    beat.sent_heartbeat()
    assert not beat.should_heartbeat()
    beat.fail_heartbeat()
    assert beat.time_to_next_heartbeat() <= 0.1
    assert not beat.session_expired()
    beat.last_reset -= 1000
    assert beat.session_expired()
    beat.received_heartbeat()
    assert not beat.session_timeout_expired()
    assert beat.poll_timeout_expired()
    beat.reset_session_timeout()
    assert not beat.poll_timeout_expired()
    assert "heartbeat_interval_ms=1000000" in str(beat)
