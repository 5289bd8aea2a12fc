"""`ConsumerCoordinator`, a member of a consumer group that keeps its partitions in a `SubscriptionState`."""

from __future__ import annotations

import contextlib
import inspect
import logging
import time
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.consumer_protocol import (
    PROTOCOL_TYPE,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from kafka.errors import AssertedStateError, KafkaConfigurationError, TopicAuthorizationFailedError
from kafka.legacy.client_async.cluster_metadata import ClusterMetadata
from kafka.legacy.client_async.kafka_client import KafkaClient
from kafka.legacy.coordinator.base_coordinator import BaseCoordinator
from kafka.legacy.coordinator.coordinator_metrics import ConsumerCoordinatorMetrics
from kafka.legacy.coordinator.joining import as_bytes
from kafka.legacy.coordinator.offset_commits import AutoCommitTask, OffsetCalls
from kafka.legacy.coordinator.protocol_structs import ConsumerProtocol, Subscription
from kafka.legacy.kafka_util import Timer, WeakMethod
from kafka.legacy.subscription_state import SubscriptionState
from kafka.structs import TopicPartition
from kafka.wire.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

log = logging.getLogger("kafka.coordinator.consumer")


class ConsumerCoordinator(OffsetCalls):
    """A member of a consumer group. The program fetches records itself, from the positions in the `SubscriptionState`.

    Arguments:
        client: sends requests; its `poll` receives responses, and commits the positions periodically.
        subscription: the subscription, which also receives the assigned partitions.
        metrics: a `kafka.metrics.Metrics`, or None.
        configs: the options of `DEFAULT_CONFIG`; others are ignored.
    """

    DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
        **BaseCoordinator.DEFAULT_CONFIG,
        "enable_auto_commit": True,
        "auto_commit_interval_ms": 5000,
        "default_offset_commit_callback": lambda offsets, response: True,
        "assignors": (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor),
        "exclude_internal_topics": True,
        "metric_group_prefix": "consumer",
    }

    def __init__(
        self, client: KafkaClient, subscription: SubscriptionState, metrics: Any = None, **configs: Any
    ) -> None:
        super().__init__(client, metrics, **configs)
        if not self.config["assignors"] and not self._takes_all():
            raise KafkaConfigurationError("Coordinator requires assignors")
        if self.config["default_offset_commit_callback"] is None:
            self.config["default_offset_commit_callback"] = _log_commit
        given = self.config["assignors"] or ()
        self._assignors: list[Any] = [each() if inspect.isclass(each) else each for each in given]
        self._subscription = subscription
        self._cluster = client.cluster
        self._offsets = self._make_offsets()
        self._metadata_snapshot = self._count_partitions()
        self._assignment_snapshot: dict[str, set[int]] | None = None
        self._joined_subscription: set[str] | None = None
        self.consumer_sensors = self._make_consumer_sensors()
        self.auto_commit_interval = self.config["auto_commit_interval_ms"] / 1000
        self._auto_commit_task = None
        if self.config["enable_auto_commit"] and self.group_id is not None:
            self._auto_commit_task = AutoCommitTask(weakref.proxy(self), self.auto_commit_interval)
            self._auto_commit_task.enable()
        self._cluster.request_update()
        self._listener = WeakMethod(self._handle_metadata_update)  # type: ignore[arg-type]  # it is one
        self._cluster.add_listener(self._listener)

    def _make_consumer_sensors(self) -> ConsumerCoordinatorMetrics | None:
        if self.config["metrics"] is None:
            return None
        prefix = self.config["metric_group_prefix"]
        return ConsumerCoordinatorMetrics(self.config["metrics"], prefix, self._subscription)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, KeyError):
            self._cluster.remove_listener(self._listener)
        task = getattr(self, "_auto_commit_task", None)
        if task is not None:
            task.disable()
        super().__del__()

    # Polling

    def poll(self, timeout_ms: float | None = None) -> bool:
        """Look up the coordinator, join the group if necessary, and commit if due. Return False on a timeout.

        Raises the error that ended the heartbeats, and the errors of `ensure_active_group`.
        """
        if self.group_id is None:
            return True
        timer = Timer(timeout_ms)
        if not self.ensure_coordinator_ready(timeout_ms):
            return False
        if self._subscription.partitions_auto_assigned() and not self._takes_all():
            if not self._join_if_needed(timer):
                return False
            self.poll_heartbeat()
        if self._auto_commit_task is not None:
            self._auto_commit_task.run_if_due()
        return True

    def _join_if_needed(self, timer: Timer) -> bool:
        if not self.need_rejoin() and self.join_future is None:
            return True
        if self._subscription.subscribed_pattern is not None:  # join with the topics that exist now
            update = self._cluster.request_update()
            self._client.poll(timeout_ms=timer.timeout_ms, future=update)
            if not update.is_done:
                return False
        return self.ensure_active_group(timer.timeout_ms)

    def time_to_next_poll(self) -> float:
        """Return the seconds until `poll` has to be called."""
        task = self._auto_commit_task
        if task is None or task.next_at is None:
            return self.time_to_next_heartbeat()
        return min(max(task.next_at - time.time(), 0.0), self.time_to_next_heartbeat())

    @property
    def next_auto_commit_deadline(self) -> float | None:
        """The time of the next automatic commit, in seconds since 1970; None: never."""
        return None if self._auto_commit_task is None else self._auto_commit_task.next_at

    def need_rejoin(self) -> bool:
        """Return whether to rejoin, for example after a subscription change.

        If this member is the leader, changes to topics of the group also require it to rejoin.
        """
        is_needed = super().need_rejoin()
        if not self._subscription.partitions_auto_assigned() or self._takes_all():
            return False
        if self._assignment_snapshot is not None and self._assignment_snapshot != self._metadata_snapshot:
            return True
        is_other = (
            self._joined_subscription is not None and self._joined_subscription != self._subscription.subscription
        )
        return is_needed or is_other or self._subscription.needs_partition_assignment

    def close(self, autocommit: Any = True, timeout_ms: float | None = None) -> None:  # type: ignore[override]  # as it was
        """Commit the positions, if both ``enable_auto_commit`` and `autocommit` are true, and leave the group."""
        try:
            if autocommit:
                self._auto_commit_sync(timeout_ms)
        finally:
            if self._auto_commit_task is not None:
                self._auto_commit_task.disable()
            super().close(timeout_ms)

    # Topics

    def _handle_metadata_update(self, cluster: ClusterMetadata) -> None:
        if cluster.unauthorized_topics:
            raise TopicAuthorizationFailedError(set(cluster.unauthorized_topics))
        pattern = self._subscription.subscribed_pattern
        if pattern is not None:
            cluster.need_all_topic_metadata = True  # otherwise a leader requests only the group's topics, not new ones
            known = cluster.topics(self.config["exclude_internal_topics"])
            matched = {topic for topic in known if pattern.match(topic)}
            if matched != self._subscription.subscription:
                self._subscription.change_subscription(matched)
        snapshot = self._count_partitions()
        if snapshot == self._metadata_snapshot:
            return
        self._metadata_snapshot = snapshot
        if self._takes_all() and self._subscription.partitions_auto_assigned():
            topics = self._subscription.subscription or set()
            self._subscription.assign_from_subscribed(
                [TopicPartition(topic, number) for topic in topics for number in snapshot.get(topic, ())]
            )

    def _count_partitions(self) -> dict[str, set[int]]:
        """Return the partitions of the group's topics."""
        topics = self._subscription.group_subscription()
        return {topic: set(self._cluster.partitions_for_topic(topic) or ()) for topic in topics}

    # The group

    def protocol_type(self) -> str:
        """Return "consumer"."""
        return PROTOCOL_TYPE

    def group_protocols(self) -> list[tuple[str, bytes]]:
        """Return the assignors' names in order of preference, each with the subscription."""
        if self._subscription.subscription is None:
            raise AssertedStateError("Consumer has not subscribed to topics")
        topics = self._joined_subscription = set(self._subscription.subscription)
        told = [(assignor.name, assignor.metadata(topics)) for assignor in self._assignors]
        return [
            (name, encode_subscription(data) if isinstance(data, ConsumerProtocolSubscription) else as_bytes(data))
            for name, data in told
        ]

    def _assignor(self, name: str) -> Any:
        for assignor in self._assignors:
            if assignor.name == name:
                return assignor
        raise AssertedStateError(f"Coordinator selected invalid assignment protocol: {name}")

    def _on_join_prepare(self, generation: int, member_id: str, timeout_ms: float | None = None) -> None:
        self._auto_commit_sync(timeout_ms)
        listener = self._subscription.listener
        if listener is not None:
            _tell(listener.on_partitions_revoked, self._subscription.assigned_partitions())
        self._assignment_snapshot = None
        self._subscription.reset_group_subscription()

    def _perform_assignment(self, leader_id: str, protocol: str, members: Any) -> dict[str, bytes]:
        assignor = self._assignor(protocol)
        told = {
            each.member_id: Subscription(ConsumerProtocol.METADATA.decode(each.metadata_bytes), each.group_instance_id)
            for each in members
        }
        self._subscription.group_subscribe({topic for each in told.values() for topic in each.topics})
        self._client.set_topics(self._subscription.group_subscription())
        self._assignment_snapshot = self._metadata_snapshot = self._count_partitions()
        assigned = assignor.assign(self._cluster, told)
        return {
            member_id: encode_assignment(data) if isinstance(data, ConsumerProtocolAssignment) else as_bytes(data)
            for member_id, data in assigned.items()
        }

    def _on_join_complete(self, generation: int, member_id: str, protocol: str, member_assignment_bytes: bytes) -> None:
        assignor = self._assignor(protocol)
        data = member_assignment_bytes or encode_assignment(ConsumerProtocolAssignment())
        assignment = ConsumerProtocol.ASSIGNMENT.decode(data)
        self._subscription.needs_fetch_committed_offsets = True
        try:
            self._subscription.assign_from_subscribed(assignment.partitions())
        except ValueError as error:
            log.warning("rejoining group %s: %s", self.group_id, error)
            self.request_rejoin()
        if len(inspect.signature(assignor.on_assignment).parameters) > 1:
            assignor.on_assignment(decode_assignment(data), generation)
        else:
            assignor.on_assignment(assignment)
        if self._auto_commit_task is not None:
            self._auto_commit_task.enable()
            self._auto_commit_task.reschedule()
        listener = self._subscription.listener
        if listener is not None:
            _tell(listener.on_partitions_assigned, self._subscription.assigned_partitions())


def _tell(listener: Callable[[set[TopicPartition]], object], partitions: set[TopicPartition]) -> None:
    try:
        listener(partitions)
    except Exception:
        log.exception("the rebalance listener failed for %s", partitions)


def _log_commit(offsets: Any, outcome: Any) -> None:
    if isinstance(outcome, Exception):
        log.warning("Auto offset commit failed: %s", outcome)
