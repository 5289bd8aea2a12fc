"""`kafka.consumer.subscription_state` of 1.0 to 2.x: subscribed topics, and assigned partitions with their positions.

Programs and `ConsumerCoordinator` share a `SubscriptionState`. `KafkaConsumer` uses its own
(`kafka.consumer.subscription`), which its loop reads.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from kafka.consumer.arguments import check_topic_name
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener, SubscriptionType
from kafka.errors import AssertedStateError, IllegalStateError, NoOffsetForPartitionError
from kafka.legacy.kafka_util import synchronized
from kafka.legacy.protocol.catalogue import OffsetResetStrategy
from kafka.structs import OffsetAndMetadata, TopicPartition


class Position(int):
    """A position: an integer, as in 1.x, with the attributes of `OffsetAndMetadata`, as in 2.x."""

    metadata: str | None
    leader_epoch: int | None

    @classmethod
    def of(cls, given: int | OffsetAndMetadata) -> Position:
        """Create a position from an offset, with or without metadata."""
        committed = given if isinstance(given, OffsetAndMetadata) else OffsetAndMetadata(given, "", -1)
        made = cls(committed.offset)
        made.metadata, made.leader_epoch = committed.metadata, committed.leader_epoch
        return made

    @property
    def offset(self) -> int:
        """The offset."""
        return int(self)

    @property
    def committable(self) -> OffsetAndMetadata:
        """The offset and metadata to commit."""
        return OffsetAndMetadata(int(self), self.metadata, self.leader_epoch)


class TopicPartitionState:
    """The state of an assigned partition.

    Attributes:
        committed: the last known committed offset; None: unknown.
        paused: whether fetching is paused.
        reset_strategy: the strategy for resetting the position; None: no reset is needed.
        highwater: the high watermark, the offset after the last readable record, if it is known.
        next_allowed_retry_time: earliest time for the next reset, in seconds since 1970.
    """

    def __init__(self) -> None:
        self.committed: int | None = None
        self.paused = False
        self.reset_strategy: Any = None
        self.highwater: int | None = None
        self.drop_pending_message_set = False
        self.drop_pending_record_batch = False
        self.last_offset_from_message_batch: int | None = None
        self.next_allowed_retry_time: float | None = None
        self._position: Position | None = None

    @property
    def position(self) -> Position | None:
        """The offset of the next record; None if unknown. It can be set only while it is known."""
        return self._position

    @position.setter
    def position(self, offset: int | OffsetAndMetadata) -> None:
        if self._position is None:
            raise AssertionError("Valid position required")
        self._position = Position.of(offset)

    @property
    def has_valid_position(self) -> bool:
        """Whether the position is known."""
        return self._position is not None

    @property
    def awaiting_reset(self) -> bool:
        """Whether the position needs a reset."""
        return self.reset_strategy is not None

    def is_missing_position(self) -> bool:
        """Return whether there is neither a position nor a pending reset."""
        return not self.has_valid_position and not self.awaiting_reset

    def is_fetchable(self) -> bool:
        """Return whether the partition can be fetched."""
        return not self.paused and self.has_valid_position

    def seek(self, offset: int | OffsetAndMetadata) -> None:
        """Set the position to an offset."""
        self._position = Position.of(offset)
        self.reset_strategy = self.next_allowed_retry_time = None
        self.drop_pending_message_set = self.drop_pending_record_batch = True

    def reset(self, strategy: Any) -> None:
        """Request a reset of the position."""
        self.reset_strategy = strategy
        self._position = self.next_allowed_retry_time = None

    def await_reset(self, strategy: Any) -> None:
        """Alias of `reset`, as it was named in 1.x."""
        self.reset(strategy)

    def is_reset_allowed(self) -> bool:
        """Return whether a reset can be attempted now."""
        return self.next_allowed_retry_time is None or self.next_allowed_retry_time < time.time()

    def set_reset_pending(self, next_allowed_retry_time: float) -> None:
        """Record that a reset is in progress, and when to attempt the next one."""
        self.next_allowed_retry_time = next_allowed_retry_time

    def reset_failed(self, next_allowed_retry_time: float) -> None:
        """Record that a reset failed, and when to attempt the next one."""
        self.next_allowed_retry_time = next_allowed_retry_time

    def pause(self) -> None:
        """Pause fetching."""
        self.paused = True

    def resume(self) -> None:
        """Resume fetching."""
        self.paused = False


class AssignedPositions:
    """The assigned partitions and their positions. By default, methods raise `KeyError` for other partitions.

    Arguments:
        offset_reset_strategy: "earliest" or "latest"; any other value means none.

    Attributes:
        assignment: the `TopicPartitionState` of each partition.
    """

    def __init__(self, offset_reset_strategy: str) -> None:
        strategy = getattr(OffsetResetStrategy, str(offset_reset_strategy).upper(), OffsetResetStrategy.NONE)
        self._default_offset_reset_strategy: int = strategy
        self.assignment: OrderedDict[TopicPartition, TopicPartitionState] = OrderedDict()
        self._lock = threading.RLock()

    @synchronized
    def assigned_partitions(self) -> set[TopicPartition]:
        """Return all assigned partitions."""
        return set(self.assignment)

    @synchronized
    def is_assigned(self, partition: TopicPartition) -> bool:
        """Return whether a partition is assigned."""
        return partition in self.assignment

    @synchronized
    def move_partition_to_end(self, partition: TopicPartition) -> None:
        """Move a partition to the end of the fetch order; do nothing if the partition is not assigned."""
        if partition in self.assignment:
            self.assignment.move_to_end(partition)

    # Fetching

    @synchronized
    def pause(self, partition: TopicPartition) -> None:
        """Pause fetching from a partition."""
        self.assignment[partition].pause()

    @synchronized
    def resume(self, partition: TopicPartition) -> None:
        """Resume fetching from a partition."""
        self.assignment[partition].resume()

    @synchronized
    def is_paused(self, partition: TopicPartition) -> bool:
        """Return whether a partition is assigned and paused."""
        return partition in self.assignment and self.assignment[partition].paused

    @synchronized
    def paused_partitions(self) -> set[TopicPartition]:
        """Return all paused partitions."""
        return {partition for partition, state in self.assignment.items() if state.paused}

    @synchronized
    def is_fetchable(self, partition: TopicPartition) -> bool:
        """Return whether a partition can be fetched."""
        return partition in self.assignment and self.assignment[partition].is_fetchable()

    @synchronized
    def fetchable_partitions(self) -> list[TopicPartition]:
        """Return all partitions that can be fetched, in fetch order."""
        return [partition for partition, state in self.assignment.items() if state.is_fetchable()]

    # Positions

    @synchronized
    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Set the position of a partition to an offset."""
        if not isinstance(offset, int | OffsetAndMetadata):
            raise TypeError(f"offset must be an int or OffsetAndMetadata, not {offset!r}")
        self.assignment[partition].seek(offset)

    @synchronized
    def position(self, partition: TopicPartition) -> Position | None:
        """Return the position of a partition; None if unknown."""
        return self.assignment[partition].position

    @synchronized
    def has_valid_position(self, partition: TopicPartition) -> bool:
        """Return whether a partition is assigned and its position is known."""
        return partition in self.assignment and self.assignment[partition].has_valid_position

    @synchronized
    def has_all_fetch_positions(self) -> bool:
        """Return whether all positions are known."""
        return all(state.has_valid_position for state in self.assignment.values())

    @synchronized
    def missing_fetch_positions(self) -> set[TopicPartition]:
        """Return all partitions with neither a position nor a pending reset."""
        return {partition for partition, state in self.assignment.items() if state.is_missing_position()}

    @synchronized
    def all_consumed_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return all known positions, to be committed."""
        positions = [(partition, state.position) for partition, state in self.assignment.items()]
        return {partition: position.committable for partition, position in positions if position is not None}

    # Resets

    def has_default_offset_reset_policy(self) -> bool:
        """Return whether partitions without a position start at the beginning or the end by default."""
        return self._default_offset_reset_strategy != OffsetResetStrategy.NONE

    @synchronized
    def request_offset_reset(self, partition: TopicPartition, offset_reset_strategy: Any = None) -> None:
        """Request a position reset, with the given strategy or the default one."""
        strategy = self._default_offset_reset_strategy if offset_reset_strategy is None else offset_reset_strategy
        self.assignment[partition].reset(strategy)

    def need_offset_reset(self, partition: TopicPartition, offset_reset_strategy: Any = None) -> None:
        """Call `request_offset_reset`, under its name in 1.x."""
        self.request_offset_reset(partition, offset_reset_strategy)

    @synchronized
    def is_offset_reset_needed(self, partition: TopicPartition) -> bool:
        """Return whether a position needs a reset."""
        return self.assignment[partition].awaiting_reset

    @synchronized
    def reset_missing_positions(self) -> None:
        """Request a reset of all missing positions with the default strategy.

        Raises `NoOffsetForPartitionError` if there is no default strategy.
        """
        missing = self.missing_fetch_positions()
        if missing and not self.has_default_offset_reset_policy():
            raise NoOffsetForPartitionError(missing)
        for partition in missing:
            self.assignment[partition].reset(self._default_offset_reset_strategy)

    @synchronized
    def partitions_needing_reset(self) -> set[TopicPartition]:
        """Return all partitions whose reset can be attempted now."""
        states = self.assignment.items()
        return {partition for partition, state in states if state.awaiting_reset and state.is_reset_allowed()}

    @synchronized
    def set_reset_pending(self, partitions: Iterable[TopicPartition], next_allowed_reset_time: float) -> None:
        """Record that resets are in progress, and when to attempt the next ones."""
        for partition in partitions:
            self.assignment[partition].set_reset_pending(next_allowed_reset_time)

    @synchronized
    def reset_failed(self, partitions: Iterable[TopicPartition], next_retry_time: float) -> None:
        """Record that resets failed, and when to attempt the next ones."""
        for partition in partitions:
            self.assignment[partition].reset_failed(next_retry_time)


_ONE_WAY = (
    "You must choose only one way to configure your consumer: (1) subscribe to specific topics by name, (2) subscribe "
    "to topics matching a regex pattern, (3) assign itself specific topic-partitions."
)


class SubscriptionState(AssignedPositions):
    """The subscription or assignment of a consumer. Thread-safe.

    Arguments:
        offset_reset_strategy: where partitions without a position start: "earliest" or "latest"; any other value means
            that they have no default position.

    Attributes:
        subscription: the topics; None: there is no subscription.
        subscription_type: the way in which partitions are chosen.
        subscribed_pattern: the pattern, if the consumer subscribes by pattern.
        listener: called when partitions are assigned and revoked.
        needs_fetch_committed_offsets: whether committed offsets have to be fetched (1.x).
        needs_partition_assignment: whether the subscription has changed since partitions were assigned (1.0).
    """

    def __init__(self, offset_reset_strategy: str = "earliest") -> None:
        super().__init__(offset_reset_strategy)
        self.subscription: set[str] | None = None
        self.subscription_type = SubscriptionType.NONE
        self.subscribed_pattern: re.Pattern[str] | None = None
        self.listener: Any = None
        self.listeners: list[Any] = []
        self.needs_fetch_committed_offsets = True
        self.needs_partition_assignment = False
        self._group_subscription: set[str] = set()

    @property
    def rebalance_listener(self) -> Any:
        """The listener, under its name in 2.x."""
        return self.listener

    @rebalance_listener.setter
    def rebalance_listener(self, listener: Any) -> None:
        self.listener = listener

    def partitions_auto_assigned(self) -> bool:
        """Return whether partitions are assigned from subscribed topics, not by the user."""
        return self.subscription_type in (SubscriptionType.AUTO_TOPICS, SubscriptionType.AUTO_PATTERN)

    # Topics

    @synchronized
    def subscribe(self, topics: Sequence[str] = (), pattern: Any = None, listener: Any = None) -> None:
        """Subscribe to topics by name, or to all that match a pattern, replacing the previous subscription.

        Raises `IllegalStateError` if partitions were assigned in another way, `AssertionError` if neither topics nor a
        pattern is given, and `TypeError` for arguments of a wrong type.
        """
        if not topics and not pattern:
            raise AssertedStateError("Must provide topics or pattern")
        if topics and pattern:
            raise IllegalStateError(_ONE_WAY)
        if listener is not None and not isinstance(listener, ConsumerRebalanceListener):
            raise TypeError("listener must be a ConsumerRebalanceListener")
        if pattern:
            compiled = re.compile(pattern)
            self._choose(SubscriptionType.AUTO_PATTERN)
            self.subscription, self.subscribed_pattern = set(), compiled
        else:
            if isinstance(topics, str):
                raise TypeError("Topics must be a list (or non-str sequence)")
            names = [check_topic_name(topic) for topic in topics]
            self._choose(SubscriptionType.AUTO_TOPICS)
            self.change_subscription(names)
        self.listener = listener

    def _choose(self, kind: SubscriptionType) -> None:
        if self.subscription_type not in (SubscriptionType.NONE, kind):
            raise IllegalStateError(_ONE_WAY)
        self.subscription_type = kind

    @synchronized
    def change_subscription(self, topics: Iterable[str]) -> None:
        """Subscribe to other topics, removing partitions of topics that are no longer subscribed."""
        self._check_subscribed()
        names = {check_topic_name(topic) for topic in ([topics] if isinstance(topics, str) else topics)}
        if self.subscription == names:
            return
        self.subscription = names
        self._group_subscription.update(names)
        self.needs_partition_assignment = True
        for partition in [each for each in self.assignment if each.topic not in names]:
            del self.assignment[partition]

    @synchronized
    def unsubscribe(self) -> None:
        """Remove the subscription and all partitions."""
        self.subscription = self.subscribed_pattern = None
        self.subscription_type = SubscriptionType.NONE
        self.needs_partition_assignment = True
        self._group_subscription.clear()
        self.assignment.clear()

    @synchronized
    def group_subscription(self) -> set[str]:
        """Return the topics whose metadata is needed: this consumer's and, if it is the leader, the group's."""
        return set(self._group_subscription)

    @synchronized
    def group_subscribe(self, topics: Iterable[str]) -> None:
        """Add topics that other members of the group subscribe to."""
        self._check_subscribed()
        self._group_subscription.update(topics)

    @synchronized
    def reset_group_subscription(self) -> None:
        """Remove topics that only other members subscribe to."""
        self._check_subscribed()
        self._group_subscription &= self.subscription or set()

    @synchronized
    def mark_for_reassignment(self) -> None:
        """Request a new partition assignment (1.0)."""
        self.reset_group_subscription()
        self.needs_partition_assignment = True

    def _check_subscribed(self) -> None:
        if not self.partitions_auto_assigned():
            raise IllegalStateError(_ONE_WAY)

    # Partitions

    @synchronized
    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> None:
        """Assign exactly these partitions, keeping known positions.

        Raises `IllegalStateError` after `subscribe`.
        """
        self._choose(SubscriptionType.USER_ASSIGNED)
        kept = {partition: self.assignment.get(partition) or TopicPartitionState() for partition in partitions}
        self._assign(kept)

    @synchronized
    def assign_from_subscribed(self, assignments: Iterable[TopicPartition]) -> None:
        """Assign partitions of subscribed topics, as chosen by a group or from metadata; they start without positions.

        Raises `ValueError` for a topic that is not subscribed to, and `IllegalStateError` without a subscription.
        """
        self._check_subscribed()
        partitions = list(assignments)
        for partition in partitions:
            if partition.topic not in (self.subscription or ()):
                raise ValueError(f"Assigned partition {partition} for non-subscribed topic.")
        random.shuffle(partitions)  # keeps short-lived consumers from all starting with the same partition
        self._assign({partition: TopicPartitionState() for partition in partitions})

    def _assign(self, states: dict[TopicPartition, TopicPartitionState]) -> None:
        """Assign partitions, grouped by topic."""
        topics = {topic: number for number, topic in enumerate(dict.fromkeys(each.topic for each in states))}
        self.assignment.clear()
        for partition in sorted(states, key=lambda each: topics[each.topic]):
            self.assignment[partition] = states[partition]
        self.needs_partition_assignment = False
