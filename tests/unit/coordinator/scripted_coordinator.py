"""A coordinator that answers from a script, and the member that talks to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from kafka.cluster import Backoff, ClusterMetadata
from kafka.config import parse_consumer
from kafka.coordinator.member import GroupMember
from kafka.coordinator.poll_clock import PollClock
from kafka.coordinator.protocol import encode_assignment, encode_subscription, make_assignment, make_subscription
from kafka.coordinator.state import MemberState
from kafka.errors import KafkaError
from kafka.structs import PartitionMetadata
from kafka.wire.api.heartbeat import HeartbeatResponse
from kafka.wire.api.join_group import JoinGroupResponse, JoinGroupResponseMember
from kafka.wire.api.leave_group import LeaveGroupResponse
from kafka.wire.api.sync_group import SyncGroupResponse

Answer = Any
"""A response, an exception to raise, or a function of the request that gives either."""


def cluster(**counts: int) -> ClusterMetadata:
    """Metadata with topics of so many partitions."""
    from kafka.cluster.metadata import TopicMetadata

    topics = []
    for name, count in counts.items():
        partitions = {n: PartitionMetadata(name, n, 1, 0, [1], [1], []) for n in range(count)}
        topics.append(TopicMetadata(name, None, False, partitions))
    return ClusterMetadata((), topics)


class ScriptedCoordinator:
    """Answers each kind of request with the next entry of its script, and with success after the last."""

    def __init__(self, metadata: ClusterMetadata) -> None:
        self.metadata = metadata
        self.requests: list[tuple[float, Any]] = []
        self.script: dict[str, list[Answer]] = {}
        self.forgotten = 0
        self.versions: dict[str, int] = {}

    def on(self, name: str, *answers: Answer) -> None:
        """Answer the next requests of this name so."""
        self.script.setdefault(name, []).extend(answers)

    def sent(self, name: str) -> list[Any]:
        """The requests of this name so far."""
        return [request for _, request in self.requests if name + "Request" == request.NAME]

    def times(self, name: str) -> list[float]:
        """When they were sent, in seconds."""
        return [at for at, request in self.requests if name + "Request" == request.NAME]

    async def refresh_metadata(self, topics: Iterable[str] | None = None) -> ClusterMetadata:
        await asyncio.sleep(0)
        return self.metadata

    async def coordinator(self, kind: str, key: str) -> int:
        return 1

    def forget_coordinator(self, kind: str, key: str) -> None:
        self.forgotten += 1

    def api_version(self, node_id: int, request_cls: Any) -> int | None:
        return self.versions.get(request_cls.NAME)

    async def send_coordinator(self, kind: str, key: str, request: Any, **bounds: Any) -> Any:
        loop = asyncio.get_running_loop()
        self.requests.append((loop.time(), request))
        await asyncio.sleep(0.001)
        name = request.NAME.removesuffix("Request")
        script = self.script.get(name, [])
        answer = script.pop(0) if script else self._success(name, request)
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, KafkaError):
            raise answer
        return answer

    def _success(self, name: str, request: Any) -> Any:
        if name == "JoinGroup":
            return joined(request.member_id or "me")
        if name == "SyncGroup":
            return synced(t=[0, 1])
        return {"Heartbeat": HeartbeatResponse, "LeaveGroup": LeaveGroupResponse}[name]()


def joined(member_id: str, leader: str = "", generation: int = 1, *topics: str, **more: Any) -> JoinGroupResponse:
    """JoinGroup's answer; to the leader it lists the one member."""
    leads = (leader or member_id) == member_id
    metadata = encode_subscription(make_subscription(topics or ["t"]))
    members = [JoinGroupResponseMember(member_id=member_id, metadata=metadata)] if leads else []
    return JoinGroupResponse(
        generation_id=generation,
        protocol_type="consumer",
        protocol_name="range",
        leader=leader or member_id,
        member_id=member_id,
        members=members,
        **more,
    )


def synced(**topics: list[int]) -> SyncGroupResponse:
    """SyncGroup's answer."""
    return SyncGroupResponse(assignment=encode_assignment(make_assignment(topics)))


class Consumer:
    """The consumer that a member belongs to: takes its turns at once, unless it is told not to."""

    def __init__(self, coordinator: ScriptedCoordinator, **options: Any) -> None:
        self.topics = frozenset({"t"})
        self.states: list[MemberState] = []
        self.errors: list[Exception] = []
        self.watched: frozenset[str] = frozenset()
        self.changed = asyncio.Event()
        loop = asyncio.get_running_loop()
        self.clock = PollClock(loop.time())
        group = parse_consumer({"group_id": "g", **options}).group
        self.member = GroupMember(coordinator, group, self, self.clock, Backoff(100, 1_000))

    def subscribed_topics(self) -> frozenset[str]:
        return self.topics

    def watch_group_topics(self, topics: frozenset[str]) -> None:
        self.watched = topics

    def member_moved(self, state: MemberState) -> None:
        self.states.append(state)
        self.changed.set()

    def member_failed(self, error: Exception) -> None:
        self.errors.append(error)
        self.changed.set()

    async def until(self, condition: Callable[[], bool], patience_s: float = 60.0) -> None:
        """Wait for a change after which the condition holds."""
        async with asyncio.timeout(patience_s):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    async def join(self) -> None:
        """Join and take over."""
        self.member.start_join()
        await self.until(lambda: self.member.state is MemberState.ADOPTING)
        self.member.adopt()
