"""`kafka.coordinator` of 1.0 to 2.x on both brokers: groups of derived coordinators."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka.client_async import KafkaClient
from kafka.coordinator.base import BaseCoordinator

if TYPE_CHECKING:
    from conftest import Broker

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
