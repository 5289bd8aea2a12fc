"""`SubscriptionState`: see the package."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kafka.consumer.arguments import check_topic_name
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener, SubscriptionType
from kafka.errors import AssertedStateError, IllegalStateError
from kafka.legacy.declarations import synchronized
from kafka.legacy.subscription.partition import TopicPartitionState
from kafka.legacy.subscription.positions import AssignedPositions
from kafka.structs import TopicPartition

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
        """Whether the partitions are those of subscribed topics."""
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
        """The topics to know the metadata of: the own ones, and those of the group for its leader."""
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
        """Have partitions assigned anew (1.0)."""
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
