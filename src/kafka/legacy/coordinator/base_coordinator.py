"""`BaseCoordinator`, and the objects with which programs start and stop its heartbeats."""

from __future__ import annotations

import contextlib
import inspect
import logging
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from kafka.config import GroupOptions
from kafka.config.table import with_defaults
from kafka.errors import (
    IllegalGenerationError,
    KafkaError,
    KafkaTimeoutError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from kafka.legacy.client_async.kafka_client import KafkaClient
from kafka.legacy.coordinator.coordinator_link import CoordinatorLink
from kafka.legacy.coordinator.coordinator_metrics import GroupCoordinatorMetrics
from kafka.legacy.coordinator.group_member import Generation, Member, MemberState
from kafka.legacy.coordinator.heartbeat_times import Heartbeat
from kafka.legacy.coordinator.joining import Joining, members_of
from kafka.legacy.coordinator.status import MemberStatus
from kafka.legacy.kafka_future import Future
from kafka.legacy.kafka_util import Timer

log = logging.getLogger("kafka.coordinator")

_JOIN_AGAIN = (IllegalGenerationError, MemberIdRequiredError, RebalanceInProgressError, UnknownMemberIdError)
"""Errors that are not retriable in general, but are retried here: the next round sends a different request."""


class BaseCoordinator(MemberStatus):
    """A member of a group; a subclass decides how the group distributes its work.

    Members send the protocols that they support (`group_protocols`), and the coordinator makes one of them the leader.
    The leader assigns the work (`_perform_assignment`), and each member receives its assignment (`_on_join_complete`).
    All hooks are called in the thread that calls `ensure_active_group`. Heartbeats are sent automatically between
    calls.

    Arguments:
        client: sends requests; its `poll` completes those in flight.
        metrics: a `kafka.metrics.Metrics`, or None.
        configs: the options of `DEFAULT_CONFIG`; others are ignored.

    Attributes:
        config: the options.
        heartbeat: the times of heartbeats, a `Heartbeat`.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        "group_id": "kafka-python-default-group",
        "group_instance_id": None,
        "session_timeout_ms": 30_000,
        "heartbeat_interval_ms": 3000,
        "max_poll_interval_ms": 300_000,
        "retry_backoff_ms": 100,
        "api_version": (0, 9),
        "metrics": None,
        "metric_group_prefix": "",
    }

    def __init__(self, client: KafkaClient, metrics: Any = None, **configs: Any) -> None:
        known = {**BaseCoordinator.DEFAULT_CONFIG, **self.DEFAULT_CONFIG}
        self.config = with_defaults(known, configs)
        if metrics is not None:
            self.config["metrics"] = metrics
        self._client = client
        self.heartbeat = Heartbeat(**self.config)
        self.sensors = self._make_sensors()
        options = GroupOptions(
            group_id=self.config["group_id"],
            group_instance_id=self.config["group_instance_id"],
            session_timeout_ms=self.config["session_timeout_ms"],
            heartbeat_interval_ms=self.config["heartbeat_interval_ms"],
            max_poll_interval_ms=self.config["max_poll_interval_ms"],
        )
        self._link = CoordinatorLink(client, options.group_id or "")
        self._member = Member(self._link, options, self.heartbeat, self.sensors, self.config["retry_backoff_ms"])
        self._joining = Joining(self._link, options, self._member, self.sensors)
        self.heartbeat_task = HeartbeatTask(weakref.proxy(self))
        self.join_future: Future | None = None
        self.rejoining = False
        self._find_future: Future | None = None

    def _make_sensors(self) -> GroupCoordinatorMetrics | None:
        if self.config["metrics"] is None:
            return None
        return GroupCoordinatorMetrics(self.heartbeat, self.config["metrics"], self.config["metric_group_prefix"])

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, KafkaError, RuntimeError):
            self._member.stop_heartbeats()

    # Hooks

    def protocol_type(self) -> str:
        """Return the protocol type of the group, such as "consumer" or "connect"."""
        raise NotImplementedError

    def group_protocols(self) -> Iterable[tuple[str, Any]]:
        """Return ``(protocol, metadata)`` in order of preference; metadata is bytes, or has ``encode()``."""
        raise NotImplementedError

    def _on_join_prepare(self, generation: int, member_id: str, timeout_ms: float | None = None) -> object:
        """Prepare for joining; called with the previous generation and member id, or -1 and "" if there are none."""
        return None

    def _perform_assignment(self, leader_id: str, protocol: str, members: Any) -> Mapping[str, Any]:
        """Assign the work, as the leader: return bytes, or an object with ``encode()``, by member id.

        Arguments:
            members: ``(member_id, metadata)`` of each member.
        """
        raise NotImplementedError

    def _on_join_complete(self, generation: int, member_id: str, protocol: str, member_assignment_bytes: bytes) -> None:
        """Handle this member's assignment."""

    def _on_join_leader(self, response: Any) -> Future:
        """Send the leader's SyncGroup; the future's result is this member's assignment."""
        work = self._perform_assignment(response.leader, response.protocol_name, members_of(response))
        return self._joining.sync(self.protocol_type(), work)

    def _on_join_follower(self) -> Future:
        """Send a follower's SyncGroup; the future's result is this member's assignment."""
        return self._joining.sync(self.protocol_type(), {})

    # The coordinator

    def ensure_coordinator_known(self) -> None:
        """Poll until the coordinator is known and connected (1.0). Raises errors that are not retriable."""
        self.ensure_coordinator_ready()

    def ensure_coordinator_ready(self, timeout_ms: float | None = None) -> bool:
        """Poll until the coordinator is known and connected. Return False on a timeout.

        Raises errors that are not retriable, such as `GroupAuthorizationFailedError`.
        """
        timer = Timer(timeout_ms)
        while self.coordinator_unknown():
            future = self.lookup_coordinator()
            self._client.poll(timeout_ms=timer.timeout_ms, future=future)
            if future.failed():
                self._raise_unless_retriable(future.exception)
                self._pause(timer)
            if self._link.node_id is None and timer.expired:
                return False
        return True

    def lookup_coordinator(self) -> Future:
        """Look up the coordinator; the future's result is its node id. Only one lookup is in progress at a time."""
        if self._find_future is None or self._find_future.is_done:
            self._find_future = self._link.find(None)
        return self._find_future

    # Joining

    def ensure_active_group(self, timeout_ms: float | None = None) -> bool:
        """Join the group if necessary. Return False on a timeout; a later call continues.

        Raises errors of the hooks, and errors of the coordinator that a retry cannot resolve.
        """
        self._check_groups()
        self._member.seen()
        return self.join_group(timeout_ms)

    def join_group(self, timeout_ms: float | None = None) -> bool:
        """Call `ensure_active_group`."""
        self._check_groups()
        timer = Timer(timeout_ms)
        while self.need_rejoin() or self.join_future is not None:
            if not self.ensure_coordinator_ready(timer.timeout_ms):
                return False
            if not self.rejoining:
                self._prepare(timer)
                self.rejoining = True
            future = self._begin_join()
            self._client.poll(timeout_ms=timer.timeout_ms, future=future)
            if not future.is_done:
                return False
            self.join_future = None
            if self._finish_join(future):
                return True
            if isinstance(future.exception, _JOIN_AGAIN):
                continue
            self._raise_unless_retriable(future.exception)
            if timer.expired:
                return False
            self._pause(timer)
        return True

    def _prepare(self, timer: Timer) -> None:
        generation = self._member.generation
        previous = (generation.generation_id, generation.member_id)
        if "timeout_ms" in inspect.signature(self._on_join_prepare).parameters:
            self._on_join_prepare(*previous, timeout_ms=timer.timeout_ms)
        else:
            self._on_join_prepare(*previous)

    def _begin_join(self) -> Future:
        """Return the join that is in progress, or start one."""
        if self.join_future is None:
            protocols = self.group_protocols()
            self._member.joining()
            self.join_future = self._joining.join(self.protocol_type(), protocols, self._joined)
        return self.join_future

    def _joined(self, response: Any) -> Future:
        is_leader = response.leader == response.member_id
        return self._on_join_leader(response) if is_leader else self._on_join_follower()

    def _finish_join(self, future: Future) -> bool:
        """Apply the result of a join round. Return False if the round failed."""
        if future.failed():
            if self._member.state is MemberState.REBALANCING:
                self._member.state = MemberState.UNJOINED
            self._member.rejoin_needed = True
            return False
        self.rejoining = False
        self._member.joined()
        generation: Generation = self._member.generation
        self._on_join_complete(generation.generation_id, generation.member_id, generation.protocol or "", future.value)
        return True

    def _check_groups(self) -> None:
        if self.config["api_version"] is not None and self.config["api_version"] < (0, 9):
            raise UnsupportedVersionError("groups require brokers of Kafka 0.9 or newer")

    def _raise_unless_retriable(self, error: BaseException | None) -> None:
        if error is not None and not getattr(error, "retriable", False) and not isinstance(error, KafkaTimeoutError):
            raise error

    def _pause(self, timer: Timer) -> None:
        left_ms = timer.timeout_ms
        pause_ms = self.config["retry_backoff_ms"]
        time.sleep((pause_ms if left_ms is None else min(pause_ms, left_ms)) / 1000)

    # Leaving

    def close(self, timeout_ms: float | None = None) -> None:
        """Leave the group; discard the member id and generation, so the member can rejoin only as a new one."""
        self.maybe_leave_group(timeout_ms)

    def maybe_leave_group(self, timeout_ms: float | None = None) -> None:
        """Leave the group, like `close`; a static member (KIP-345) stops without notifying the coordinator."""
        self.join_future = None
        self.rejoining = False
        self._member.leave(timeout_ms)


class HeartbeatTask:
    """Starts and stops a coordinator's heartbeats (1.0), which are sent on the client's loop."""

    def __init__(self, coordinator: MemberStatus) -> None:
        self._coordinator = coordinator

    def disable(self) -> None:
        """Stop sending heartbeats."""
        self._coordinator._member.stop_heartbeats()

    def reset(self) -> None:
        """Restart the session timeout, and send heartbeats if the member has joined."""
        self()

    def __call__(self) -> None:
        """Send heartbeats if the member has joined."""
        if not self._coordinator.need_rejoin():
            self._coordinator._member.start_heartbeats()


class HeartbeatThread(threading.Thread):
    """Starts and stops a coordinator's heartbeats (1.4 to 2.x); the thread itself only waits for `close`.

    Attributes:
        enabled: whether heartbeats are sent.
    """

    def __init__(self, coordinator: MemberStatus) -> None:
        super().__init__(name=f"{coordinator.group_id}-heartbeat", daemon=True)
        self.coordinator = coordinator
        self.enabled = False
        self._closing = threading.Event()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closing.is_set()

    @property
    def failed(self) -> Exception | None:
        """The error that ended the heartbeats, until `poll_heartbeat` raises it."""
        return self.coordinator._member.failure

    def enable(self) -> None:
        """Start sending heartbeats."""
        self.enabled = True
        self.coordinator._member.start_heartbeats()

    def disable(self) -> None:
        """Stop sending heartbeats."""
        self.enabled = False
        self.coordinator._member.stop_heartbeats()

    def close(self, timeout_ms: float | None = None) -> None:
        """Stop sending heartbeats, and end the thread if it was started."""
        self.disable()
        self._closing.set()
        if self.is_alive() and threading.current_thread() is not self:
            limit_ms = self.coordinator.config["heartbeat_interval_ms"] if timeout_ms is None else timeout_ms
            self.join(limit_ms / 1000)

    def run(self) -> None:
        """Wait for `close`."""
        self._closing.wait()
