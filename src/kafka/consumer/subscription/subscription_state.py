"""The subscription of a consumer, and the state of each assigned partition."""

import abc
import enum
import re
from collections.abc import Callable, Collection, Iterable
from uuid import UUID

from kafka.consumer.arguments import check_pattern, check_topic_names
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.coordinator.offset_arguments import ReadOffsets
from kafka.errors import IllegalStateError, NothingSubscribedError, PartitionNotAssignedError
from kafka.structs import OffsetAndMetadata, SubscriptionPattern, TopicPartition


class ConsumerRebalanceListener(abc.ABC):
    """Notified when partitions are assigned and revoked. Called in the polling thread, from within `poll()`."""

    @abc.abstractmethod
    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Called before ``revoked`` are assigned to other members: the last opportunity to commit their offsets."""

    @abc.abstractmethod
    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Called when ``assigned`` belong to this consumer, before their records are returned: the place to seek."""

    def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        """Called when ``lost`` may already belong to other members and their offsets can no longer be committed.

        Calls `on_partitions_revoked` unless it is overridden. Java: ``onPartitionsLost`` (KIP-429).
        """
        self.on_partitions_revoked(lost)


class AsyncConsumerRebalanceListener(abc.ABC):
    """A `ConsumerRebalanceListener` with coroutines, for `AsyncKafkaConsumer`. Other polling tasks wait for them."""

    @abc.abstractmethod
    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Called before ``revoked`` are assigned to other members: the last opportunity to commit their offsets.

        Arguments:
            revoked: the partitions that this consumer gives up.
        """

    @abc.abstractmethod
    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Called when ``assigned`` belong to this consumer, before their records are returned: the place to seek.

        Arguments:
            assigned: the new partitions.
        """

    async def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        """Called when ``lost`` may already belong to other members and their offsets can no longer be committed.

        Calls `on_partitions_revoked` unless it is overridden. Java: ``onPartitionsLost`` (KIP-429).

        Arguments:
            lost: the partitions that may already belong to other members.
        """
        await self.on_partitions_revoked(lost)


Listener = ConsumerRebalanceListener | AsyncConsumerRebalanceListener


class SubscriptionType(enum.IntEnum):
    """How partitions are assigned to a consumer."""

    NONE = 0
    AUTO_TOPICS = 1
    AUTO_PATTERN = 2
    USER_ASSIGNED = 3
    AUTO_PATTERN_RE2J = 4
    """The coordinator evaluates a `SubscriptionPattern`."""


class SubscriptionState:
    """The subscription and the assignment.

    The caller's thread changes it. The loop reads it, and sets the topics that a pattern matches.
    """

    def __init__(self) -> None:
        self.type = SubscriptionType.NONE
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.regex: SubscriptionPattern | None = None
        self.listener: Listener | None = None
        self._listener_of_held: Listener | None = None
        self._states: dict[TopicPartition, PartitionState] = {}

    @property
    def is_automatic(self) -> bool:
        """Whether the group assigns the partitions."""
        return self.type not in (SubscriptionType.NONE, SubscriptionType.USER_ASSIGNED)

    @property
    def subscription(self) -> set[str] | None:
        """The subscribed topics, or those that currently match the pattern; None without a subscription.

        With a `SubscriptionPattern`, which the coordinator evaluates, these are the topics of the assigned partitions.
        """
        if self.type is SubscriptionType.AUTO_PATTERN_RE2J:
            return set(self.assigned_topics())
        return set(self.topics) if self.is_automatic else None

    def subscribe(
        self,
        topics: Iterable[str] = (),
        pattern: str | re.Pattern[str] | SubscriptionPattern | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Subscribe to ``topics``, or to all topics that match ``pattern``.

        Raises `IllegalStateError` after `assign_from_user`, and if both or neither of topics and pattern are given.
        """
        if self.type is SubscriptionType.USER_ASSIGNED:
            raise IllegalStateError("partitions were assigned manually; call unsubscribe() before subscribe()")
        named = check_topic_names(topics)
        if named and pattern is not None:
            raise IllegalStateError("subscribe() takes either topics or a pattern, not both")
        if not named and pattern is None:
            raise NothingSubscribedError("subscribe() takes topics or a pattern; unsubscribe() ends a subscription")
        if isinstance(pattern, SubscriptionPattern):
            self.type, self.pattern, self.topics = SubscriptionType.AUTO_PATTERN_RE2J, None, frozenset()
        elif pattern is not None:
            self.type, self.pattern, self.topics = SubscriptionType.AUTO_PATTERN, check_pattern(pattern), frozenset()
        else:
            self.type, self.pattern, self.topics = SubscriptionType.AUTO_TOPICS, None, named
        self.regex = pattern if isinstance(pattern, SubscriptionPattern) else None
        self.listener = listener

    def listener_for(self, taking_over: bool) -> Listener | None:
        """Return the listener for added or revoked partitions; for the latter, the one to which they were reported."""
        if taking_over:
            self._listener_of_held = self.listener
            return self.listener
        return self._listener_of_held if self._states else self.listener

    def match(self, topics: Iterable[str]) -> bool:
        """Select the ``topics`` that match the pattern. Returns whether the selection changed."""
        pattern = self.pattern
        if pattern is None:  # the caller has subscribed to topic names in the meantime
            return False
        matched = frozenset(topic for topic in topics if pattern.match(topic))
        if self.pattern is not pattern:
            return False
        changed = matched != self.topics
        self.topics = matched
        return changed

    def check_unsubscribed(self) -> None:
        """Raise `IllegalStateError` after `subscribe`, because the group assigns the partitions."""
        if self.is_automatic:
            raise IllegalStateError("topics are subscribed to; call unsubscribe() before assign()")

    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> list[PartitionState]:
        """Assign exactly ``partitions``, without a group. Returns the states of partitions that are no longer assigned.

        Raises `IllegalStateError` after `subscribe`.
        """
        self.check_unsubscribed()
        gone = self._assign(partitions, keep=True)
        self.type = SubscriptionType.USER_ASSIGNED if self._states else SubscriptionType.NONE
        return gone

    def assign_from_membership(self, partitions: Iterable[TopicPartition]) -> list[PartitionState]:
        """Replace the assignment of a subscription; partitions that stay assigned keep their state.

        Returns the states of partitions that are no longer assigned.
        """
        return self._assign(partitions, keep=True)

    def unsubscribe(self) -> list[PartitionState]:
        """Unassign all partitions, and return their states."""
        self.type, self.topics, self.pattern, self.regex = SubscriptionType.NONE, frozenset(), None, None
        self.listener = None
        return self._assign((), keep=False)

    def _assign(self, partitions: Iterable[TopicPartition], keep: bool) -> list[PartitionState]:
        before = self._states
        kept = before if keep else {}
        now = {tp: kept.get(tp) or PartitionState(tp) for tp in partitions}
        self._states = now  # a single assignment, so the loop sees either the old or the new one
        return [state for tp, state in before.items() if now.get(tp) is not state]

    def states(self) -> list[PartitionState]:
        """Return the state of each assigned partition."""
        return list(self._states.values())

    def state_of(self, tp: TopicPartition) -> PartitionState | None:
        """Return the state of a partition; None if it is not assigned."""
        return self._states.get(tp)

    def assigned(self, tp: TopicPartition) -> PartitionState:
        """Return the state of a partition. Raises `PartitionNotAssignedError` if it is not assigned."""
        state = self._states.get(tp)
        if state is None:
            raise PartitionNotAssignedError(f"{tp!r} is not assigned to this consumer: {self._how_to_assign()}")
        return state

    def _how_to_assign(self) -> str:
        """Return advice for error messages on how to get a partition assigned."""
        if self.type is SubscriptionType.USER_ASSIGNED:
            return "assign() was called without it"
        if self.type is SubscriptionType.NONE:
            return "call assign() with it, or subscribe() to its topic"
        if not self._states:
            return "nothing is assigned yet; call poll() until it is in assignment()"
        return "assignment() lists the assigned ones; this one may belong to another member, or not exist"

    def assigned_partitions(self) -> set[TopicPartition]:
        """Return all assigned partitions."""
        return set(self._states)

    def assigned_topics(self) -> set[str]:
        """Return the topics of the assigned partitions."""
        return {tp.topic for tp in self._states}

    def all_consumed_offsets(self) -> ReadOffsets:
        """Return all known positions: the offsets that a commit without arguments commits."""
        offsets = ReadOffsets()
        for state in self._states.values():
            # The topic id is read first: if the position moves between the two reads, the old position must not get a
            # new topic's id.
            topic_id, position = state.topic_id, state.position
            if position is not None:
                offsets[state.tp] = OffsetAndMetadata(position.offset, "", position.leader_epoch)
                if topic_id is not None:
                    offsets.topic_ids[state.tp] = topic_id
        return offsets


class PositionsLeft:
    """Positions in partitions that a consumer gave up, in case they are assigned again.

    A broker may briefly report that a topic does not exist. If the same topic reappears, reading continues from the
    same position. Without a group, this applies to all partitions. In a group, it applies to partitions created while
    the consumer ran: they are read from their first record, and giving them up before the first commit must not skip
    records.

    Used in the caller's thread.

    Arguments:
        topic_id: returns the current id of a topic; None if unknown.
    """

    def __init__(self, topic_id: Callable[[str], UUID | None]) -> None:
        self._topic_id = topic_id
        self._left: dict[TopicPartition, tuple[UUID, FetchPosition]] = {}

    def leave(self, states: Iterable[PartitionState]) -> None:
        """Remember the positions of partitions that are given up."""
        for state in states:
            topic_id, position = state.topic_id, state.position
            if position is not None and topic_id is not None:
                self._left[state.tp] = topic_id, position

    def take(self, tp: TopicPartition) -> FetchPosition | None:
        """Return the position to continue from; None if there is none, or it belongs to another topic."""
        topic_id, position = self._left.pop(tp, (None, None))
        return position if topic_id is not None and self._topic_id(tp.topic) == topic_id else None

    def forget(self) -> None:
        """Forget all positions, because the subscription has changed."""
        self._left.clear()
