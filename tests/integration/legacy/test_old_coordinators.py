"""`kafka.coordinator` of 1.0 to 2.x on both brokers: groups of derived coordinators."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka.client_async import KafkaClient
from kafka.consumer.subscription_state import SubscriptionState
from kafka.coordinator.base import BaseCoordinator
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

WORK = "abcdef"


class Workers(BaseCoordinator):
    """Shares letters."""

    work = ""

    def protocol_type(self) -> str:
        return "workers"

    def group_protocols(self) -> list[tuple[str, Any]]:
        return [("letters", b"")]

    def _perform_assignment(self, leader_id: str, protocol: str, members: Any) -> dict[str, Any]:
        return {name: WORK[number :: len(members)] for number, (name, _) in enumerate(members)}

    def _on_join_complete(self, generation: int, member_id: str, protocol: str, member_assignment_bytes: bytes) -> None:
        self.work = member_assignment_bytes.decode()


Make = Callable[..., Workers]


@pytest.fixture
def make(broker: Broker) -> Iterator[Make]:
    """Make a member of one group, with a client of its own."""
    group = f"workers-{uuid.uuid4().hex}"
    made: list[Workers] = []

    def make(**configs: Any) -> Workers:
        client = KafkaClient(bootstrap_servers=broker.bootstrap_servers)
        options = {"group_id": group, "heartbeat_interval_ms": 100, "session_timeout_ms": 6000, **configs}
        made.append(Workers(client, **options))
        return made[-1]

    yield make
    for member in made:
        member.close()
        member._client.close()


def join_all(*members: Workers) -> None:
    while any(member.need_rejoin() for member in members) or len({int(each.generation) for each in members}) > 1:
        for member in members:
            member.ensure_active_group(timeout_ms=100)


def take_over(member: Workers) -> None:
    """Poll as a program does until the member has all the work."""
    while member.work != WORK:
        member.ensure_active_group()
        member._client.poll(timeout_ms=100)


def test_members_share_the_work_until_one_leaves(make: Make) -> None:
    first, second = make(), make()
    join_all(first, second)
    assert sorted(first.work + second.work) == list(WORK)
    assert len(first.work) == 3
    second.close()
    take_over(first)


def test_a_member_that_falls_silent_is_replaced(make: Make) -> None:
    silent, other = make(session_timeout_ms=3000, heartbeat_interval_ms=100), make()
    join_all(silent, other)
    name = silent.member_id
    silent.heartbeat_task.disable()
    take_over(other)
    silent.heartbeat_task.reset()
    while not silent.need_rejoin():
        silent._client.poll(timeout_ms=100)
    join_all(silent, other)
    assert silent.member_id != name
    assert sorted(silent.work + other.work) == list(WORK)


def test_members_in_threads(make: Make) -> None:
    members = [make() for _ in range(3)]
    settled = threading.Event()

    def run(member: Workers) -> None:
        while not settled.is_set():
            member.ensure_active_group(timeout_ms=200)
            member._client.poll(timeout_ms=20)
            if all(len(each.work) == 2 for each in members):
                settled.set()

    threads = [threading.Thread(target=run, args=(member,), daemon=True) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert settled.is_set()
    assert sorted("".join(member.work for member in members)) == list(WORK)


def test_members_of_a_group_of_consumers(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=4)
    group = f"consumers-{uuid.uuid4().hex}"
    members: list[ConsumerCoordinator] = []
    for _ in range(2):
        subscription = SubscriptionState()
        subscription.subscribe([topic])
        client = KafkaClient(bootstrap_servers=broker.bootstrap_servers)
        members.append(ConsumerCoordinator(client, subscription, group_id=group, heartbeat_interval_ms=100))

    def poll_until(is_so: Callable[[], object], *coordinators: ConsumerCoordinator) -> None:
        while not is_so():
            for member in coordinators:
                member.poll(timeout_ms=100)
                member._client.poll(timeout_ms=10)

    def assigned(member: ConsumerCoordinator) -> set[TopicPartition]:
        return member._subscription.assigned_partitions()

    first, second = members
    poll_until(lambda: len(assigned(first)) == 2 == len(assigned(second)), *members)
    mine = next(iter(assigned(second)))
    second.commit_offsets_sync({mine: OffsetAndMetadata(5, "text")})
    second._subscription.seek(mine, 6)
    second.close()  # commits, and leaves
    poll_until(lambda: len(assigned(first)) == 4, first)
    assert first.refresh_committed_offsets_if_needed()
    assert first._subscription.position(mine) == 6
    for member in members:
        member.close()
        member._client.close()
