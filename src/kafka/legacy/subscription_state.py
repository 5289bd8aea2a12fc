"""`kafka.consumer.subscription_state` of 1.0 to 2.x: subscribed topics, assigned partitions and their positions.

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
    """An offset, as 1.x had positions, with the attributes of `OffsetAndMetadata`, as 2.x had them."""

    metadata: str | None
    leader_epoch: int | None

    @classmethod
    def of(cls, given: int | OffsetAndMetadata) -> Position:
        """Make one of an offset, with or without metadata."""
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
        """What a commit of it commits."""
        return OffsetAndMetadata(int(self), self.metadata, self.leader_epoch)


class TopicPartitionState:
    """One partition.

    Attributes:
        committed: the last committed offset that was read; None: no offset was read.
        paused: whether reading is paused.
        reset_strategy: the strategy for a reset of the position; None: no reset is needed.
        highwater: the offset after the last record that can be read, as far as it is known.
        next_allowed_retry_time: before this time, in seconds since 1970, no reset is tried.
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
        """The offset of the next record; None: it is not known. May be set where it is known."""
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
        """Return whether there is neither a position nor a way to find one."""
        return not self.has_valid_position and not self.awaiting_reset

    def is_fetchable(self) -> bool:
        """Return whether it can be read."""
        return not self.paused and self.has_valid_position

    def seek(self, offset: int | OffsetAndMetadata) -> None:
        """Read from an offset."""
        self._position = Position.of(offset)
        self.reset_strategy = self.next_allowed_retry_time = None
        self.drop_pending_message_set = self.drop_pending_record_batch = True

    def reset(self, strategy: Any) -> None:
        """Request a reset of the position."""
        self.reset_strategy = strategy
        self._position = self.next_allowed_retry_time = None

    def await_reset(self, strategy: Any) -> None:
        """The same, as 1.x called it."""
        self.reset(strategy)

    def is_reset_allowed(self) -> bool:
        """Return whether a reset may be tried now."""
        return self.next_allowed_retry_time is None or self.next_allowed_retry_time < time.time()

    def set_reset_pending(self, next_allowed_retry_time: float) -> None:
        """A reset is under way; try the next one at this time."""
        self.next_allowed_retry_time = next_allowed_retry_time

    def reset_failed(self, next_allowed_retry_time: float) -> None:
        """A reset failed; try the next one at this time."""
        self.next_allowed_retry_time = next_allowed_retry_time

    def pause(self) -> None:
        """Do not read it."""
        self.paused = True

    def resume(self) -> None:
        """Read it again."""
        self.paused = False


class AssignedPositions:
    """The assigned partitions and their positions. `KeyError` for one that is not assigned, where nothing else is said.

    Arguments:
        offset_reset_strategy: "earliest", "latest", or else none.

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
        """Read a partition after the others; nothing if it is not assigned."""
        if partition in self.assignment:
            self.assignment.move_to_end(partition)

    # Reading

    @synchronized
    def pause(self, partition: TopicPartition) -> None:
        """Do not read a partition."""
        self.assignment[partition].pause()

    @synchronized
    def resume(self, partition: TopicPartition) -> None:
        """Read it again."""
        self.assignment[partition].resume()

    @synchronized
    def is_paused(self, partition: TopicPartition) -> bool:
        """Return whether a partition is assigned and paused."""
        return partition in self.assignment and self.assignment[partition].paused

    @synchronized
    def paused_partitions(self) -> set[TopicPartition]:
        """Return all that are paused."""
        return {partition for partition, state in self.assignment.items() if state.paused}

    @synchronized
    def is_fetchable(self, partition: TopicPartition) -> bool:
        """Return whether a partition can be read."""
        return partition in self.assignment and self.assignment[partition].is_fetchable()

    @synchronized
    def fetchable_partitions(self) -> list[TopicPartition]:
        """Return all that can be read, in their order."""
        return [partition for partition, state in self.assignment.items() if state.is_fetchable()]

    # Positions

    @synchronized
    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Read a partition from an offset."""
        if not isinstance(offset, int | OffsetAndMetadata):
            raise TypeError(f"offset must be an int or OffsetAndMetadata, not {offset!r}")
        self.assignment[partition].seek(offset)

    @synchronized
    def position(self, partition: TopicPartition) -> Position | None:
        """Return the position of a partition; None: it is not known."""
        return self.assignment[partition].position

    @synchronized
    def has_valid_position(self, partition: TopicPartition) -> bool:
        """Return whether a partition is assigned and its position known."""
        return partition in self.assignment and self.assignment[partition].has_valid_position

    @synchronized
    def has_all_fetch_positions(self) -> bool:
        """Return whether all positions are known."""
        return all(state.has_valid_position for state in self.assignment.values())

    @synchronized
    def missing_fetch_positions(self) -> set[TopicPartition]:
        """Return all that have no position, and no reset that would find it."""
        return {partition for partition, state in self.assignment.items() if state.is_missing_position()}

    @synchronized
    def all_consumed_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the positions that are known, to be committed."""
        positions = [(partition, state.position) for partition, state in self.assignment.items()]
        return {partition: position.committable for partition, position in positions if position is not None}

    # Resets

    def has_default_offset_reset_policy(self) -> bool:
        """Return whether a partition without a position starts at one of its ends."""
        return self._default_offset_reset_strategy != OffsetResetStrategy.NONE

    @synchronized
    def request_offset_reset(self, partition: TopicPartition, offset_reset_strategy: Any = None) -> None:
        """Request a reset of a position, by the given strategy or the default one."""
        strategy = self._default_offset_reset_strategy if offset_reset_strategy is None else offset_reset_strategy
        self.assignment[partition].reset(strategy)

    def need_offset_reset(self, partition: TopicPartition, offset_reset_strategy: Any = None) -> None:
        """The same, as 1.x called it."""
        self.request_offset_reset(partition, offset_reset_strategy)

    @synchronized
    def is_offset_reset_needed(self, partition: TopicPartition) -> bool:
        """Return whether a position needs a reset."""
        return self.assignment[partition].awaiting_reset

    @synchronized
    def reset_missing_positions(self) -> None:
        """Request a reset of all missing positions by the default strategy.

        Raises `NoOffsetForPartitionError` if there is none.
        """
        missing = self.missing_fetch_positions()
        if missing and not self.has_default_offset_reset_policy():
            raise NoOffsetForPartitionError(missing)
        for partition in missing:
            self.assignment[partition].reset(self._default_offset_reset_strategy)

    @synchronized
    def partitions_needing_reset(self) -> set[TopicPartition]:
        """Return all whose position is to be found now."""
        states = self.assignment.items()
        return {partition for partition, state in states if state.awaiting_reset and state.is_reset_allowed()}

    @synchronized
    def set_reset_pending(self, partitions: Iterable[TopicPartition], next_allowed_reset_time: float) -> None:
        """Resets are under way."""
        for partition in partitions:
            self.assignment[partition].set_reset_pending(next_allowed_reset_time)

    @synchronized
    def reset_failed(self, partitions: Iterable[TopicPartition], next_retry_time: float) -> None:
        """Resets failed."""
        for partition in partitions:
            self.assignment[partition].reset_failed(next_retry_time)


_ONE_WAY = (
    "You must choose only one way to configure your consumer: (1) subscribe to specific topics by name, (2) subscribe "
    "to topics matching a regex pattern, (3) assign itself specific topic-partitions."
)


class SubscriptionState(AssignedPositions):
    """What is subscribed to or assigned. Any thread may use it.

    Arguments:
        offset_reset_strategy: where a partition without a position starts: "earliest", "latest", or else nowhere.

    Attributes:
        subscription: the topics; None: there is no subscription.
        subscription_type: how partitions come.
        subscribed_pattern: of a subscription to a pattern.
        listener: told when partitions come and go.
        needs_fetch_committed_offsets: whether committed offsets are to be read (1.x).
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
        """The listener, as 2.x called it."""
        return self.listener

    @rebalance_listener.setter
    def rebalance_listener(self, listener: Any) -> None:
        self.listener = listener

    def partitions_auto_assigned(self) -> bool:
        """Return whether the partitions are those of subscribed topics."""
        return self.subscription_type in (SubscriptionType.AUTO_TOPICS, SubscriptionType.AUTO_PATTERN)

    # Topics

    @synchronized
    def subscribe(self, topics: Sequence[str] = (), pattern: Any = None, listener: Any = None) -> None:
        """Subscribe to topics by name, or to all that match a pattern; this replaces what was subscribed to.

        Raises `IllegalStateError` after another way was chosen, `AssertionError` if neither is given, `TypeError`.
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
        """Subscribe to other topics; partitions of topics that are left are given up."""
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
        """Subscribe to nothing, and give all partitions up."""
        self.subscription = self.subscribed_pattern = None
        self.subscription_type = SubscriptionType.NONE
        self.needs_partition_assignment = True
        self._group_subscription.clear()
        self.assignment.clear()

    @synchronized
    def group_subscription(self) -> set[str]:
        """Return the topics to know the metadata of: the own ones, and those of the group for its leader."""
        return set(self._group_subscription)

    @synchronized
    def group_subscribe(self, topics: Iterable[str]) -> None:
        """Add topics that other members of the group are subscribed to."""
        self._check_subscribed()
        self._group_subscription.update(topics)

    @synchronized
    def reset_group_subscription(self) -> None:
        """Leave out those that others are subscribed to."""
        self._check_subscribed()
        self._group_subscription &= self.subscription or set()

    @synchronized
    def mark_for_reassignment(self) -> None:
        """Request a new assignment of partitions (1.0)."""
        self.reset_group_subscription()
        self.needs_partition_assignment = True

    def _check_subscribed(self) -> None:
        if not self.partitions_auto_assigned():
            raise IllegalStateError(_ONE_WAY)

    # Partitions

    @synchronized
    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> None:
        """Take exactly these partitions; those that were there keep their position.

        Raises `IllegalStateError` after `subscribe`.
        """
        self._choose(SubscriptionType.USER_ASSIGNED)
        kept = {partition: self.assignment.get(partition) or TopicPartitionState() for partition in partitions}
        self._assign(kept)

    @synchronized
    def assign_from_subscribed(self, assignments: Iterable[TopicPartition]) -> None:
        """Take the partitions of subscribed topics that a group, or metadata, gave; none has a position.

        Raises `ValueError` for a topic that is not subscribed to, `IllegalStateError` without a subscription.
        """
        self._check_subscribed()
        partitions = list(assignments)
        for partition in partitions:
            if partition.topic not in (self.subscription or ()):
                raise ValueError(f"Assigned partition {partition} for non-subscribed topic.")
        random.shuffle(partitions)  # so that short-lived readers do not all begin with the same
        self._assign({partition: TopicPartitionState() for partition in partitions})

    def _assign(self, states: dict[TopicPartition, TopicPartitionState]) -> None:
        """Take partitions, those of one topic side by side."""
        topics = {topic: number for number, topic in enumerate(dict.fromkeys(each.topic for each in states))}
        self.assignment.clear()
        for partition in sorted(states, key=lambda each: topics[each.topic]):
            self.assignment[partition] = states[partition]
        self.needs_partition_assignment = False
