"""Remembers the topics and partitions that a consumer has seen, to recognize those created in the meantime.

A position in a topic that was deleted and recreated is meaningless in the new topic. All records of a partition that
is added while a consumer runs are newer than the consumer. Runs on the loop.
"""

import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol
from uuid import UUID

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.errors import TopicRecreatedError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition, is_another_topic

log = logging.getLogger(__name__)

_WHAT_FOLLOWS = {
    "reset": "reading continues at the beginning of the new topic",
    "raise": "poll() raises; then reading continues at the beginning of the new topic",
    "continue": "reading continues at the same offsets if the new topic has them, and may skip its first records",
}
_STALE_S = 5.0
"""How long a broker that lags behind may report a deleted topic."""
_REASSIGNED = "reading continues at the group's committed offsets, or as auto_offset_reset determines"


class _Seen(NamedTuple):
    """A topic in the previous metadata."""

    topic_id: UUID | None
    partitions: frozenset[int]


class HistoryListener(Protocol):
    """The listener of a `TopicHistory`."""

    def is_reassigned(self) -> bool:
        """Return whether the group's coordinator revokes the partitions of deleted topics on its own (KIP-848)."""

    def topics_recreated(self, error: TopicRecreatedError) -> None:
        """Called with the error for the caller, if the policy is "raise"."""


class TopicHistory:
    """The topics and partitions that a consumer has seen; see the module.

    Arguments:
        policy: how to handle a recreated topic: "reset", "continue" or "raise".
        subscription: the topics of interest, and the assignment.
        listener: notified of recreated topics.
        clock: the loop's clock, in seconds.

    Attributes:
        is_told_elsewhere: whether the caller compares topic ids itself and reports the consequences, in which case
            nothing is logged here.
    """

    def __init__(
        self,
        policy: str,
        subscription: SubscriptionState,
        listener: HistoryListener,
        clock: Callable[[], float],
    ) -> None:
        self._policy = policy
        self._subscription = subscription
        self._listener = listener
        self._clock = clock
        self.is_told_elsewhere = False
        self._seen: dict[str, _Seen] = {}
        self._ids: set[UUID] = set()
        """All ids seen, because a broker that lags behind may report a deleted topic."""
        self._doubted_since: dict[str, float] = {}
        """Topics whose id in the metadata has changed, and when it did."""
        self._missing: set[str] = set()
        """Topics that did not exist when they were first looked up."""
        self._matched_all = False
        """Whether the pattern was compared with all topics, so that another match is a new topic."""
        self._read: set[str] = set()
        """Topics in which this consumer has found positions."""
        self._added: set[TopicPartition] = set()
        self._recreated: set[TopicPartition] = set()
        self._begun: set[TopicPartition] = set()
        self._absent: set[str] = set()
        """Topics that were seen and currently do not exist."""
        self._read_up_to: dict[TopicPartition, int] = {}
        """Positions in partitions that were given up because their topic does not exist."""

    def subscription_changed(self) -> None:
        """Forget topics that the caller no longer wants."""
        self._matched_all = False
        wanted = self._wanted()
        self._seen = {topic: seen for topic, seen in self._seen.items() if topic in wanted}
        self._doubted_since = {topic: at for topic, at in self._doubted_since.items() if topic in wanted}
        self._read &= wanted
        self._missing &= wanted
        self._absent &= wanted
        for tp in [tp for tp in list(self._read_up_to) if tp.topic not in wanted]:
            self._read_up_to.pop(tp, None)
        for partitions in (self._added, self._recreated, self._begun):
            partitions.difference_update([tp for tp in partitions if tp.topic not in wanted])

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Compare new metadata with the previous metadata."""
        recreated = [topic for topic in self._wanted() | self._seen.keys() if self._compare(topic, metadata)]
        self._matched_all = self._subscription.pattern is not None and (self._matched_all or metadata.is_complete)
        read = [topic for topic in recreated if topic in self._read or topic in self._subscription.assigned_topics()]
        if read:
            self._tell(sorted(read))

    def is_still_there(self, tp: TopicPartition, metadata: ClusterMetadata) -> bool:
        """Return whether the topic that had this partition still exists; existing topics do not lose partitions.

        Thread-safe.
        """
        seen = self._seen.get(tp.topic)
        return (
            seen is not None
            and seen.topic_id is not None
            and seen.topic_id == metadata.topic_id(tp.topic)
            and tp.partition in seen.partitions
        )

    def is_believed(self, topic: str) -> bool:
        """Return whether the metadata is believed to describe the current topic of this name, not an outdated one."""
        since = self._doubted_since.get(topic)
        return since is None or self._clock() - since >= _STALE_S

    def topic_id(self, topic: str) -> UUID | None:
        """Return the id of the topic that this name is believed to belong to; None if unknown."""
        seen = self._seen.get(topic)
        return None if seen is None else seen.topic_id

    def is_added(self, tp: TopicPartition) -> bool:
        """Return whether a partition was added after the first lookup of its topic and has not been read since."""
        seen = self._seen.get(tp.topic)
        if seen is not None and tp.partition not in seen.partitions:
            return True  # a coordinator may know the partition before the metadata contains it
        return tp in self._added

    def is_recreated(self, tp: TopicPartition) -> bool:
        """Return whether a partition belongs to a recreated topic, has not been read since, and has to start over."""
        return tp in self._recreated and self._policy != "continue"

    def is_begun(self, tp: TopicPartition) -> bool:
        """Return whether a partition was new (added or recreated) when its first position was found. Thread-safe."""
        return tp in self._begun

    def located(self, tp: TopicPartition) -> None:
        """Note that a position was found in a partition, which is therefore no longer new."""
        if self.is_added(tp):
            self._begun.add(tp)
        self._added.discard(tp)
        self._recreated.discard(tp)
        self._read_up_to.pop(tp, None)
        self._read.add(tp.topic)
        seen = self._seen.get(tp.topic)
        if seen is not None and tp.partition not in seen.partitions:
            self._seen[tp.topic] = seen._replace(partitions=seen.partitions | {tp.partition})

    def given_up(self, states: Iterable[PartitionState]) -> None:
        """Note partitions that are no longer assigned.

        Called in the caller's thread, while they still have their positions.
        """
        for state in states:
            position = state.position  # read once, because the loop may change it
            if position is not None and state.tp.topic in self._absent:
                self._read_up_to[state.tp] = position.offset

    # Internals --------------------------------------------------------------------------------------------------------

    def _wanted(self) -> frozenset[str]:
        return self._subscription.topics | self._subscription.assigned_topics()

    def _compare(self, topic: str, metadata: ClusterMetadata) -> bool:
        """Record the state of a topic. Returns whether the topic was recreated."""
        numbers = metadata.partitions_for_topic(topic)
        before = self._seen.get(topic)
        if numbers is None:
            if metadata.topic_errors.get(topic) is UnknownTopicOrPartitionError:
                if before is None:
                    self._missing.add(topic)
                    return False
                self._absent.add(topic)
                if before.topic_id is None:  # it may reappear as a different topic with the same name
                    self._seen[topic] = _Seen(None, frozenset())
            return False
        self._absent.discard(topic)
        topic_id = metadata.topic_id(topic)
        recreated = False
        if before is None:
            added = numbers if topic in self._missing or self._matched_all else set()
            self._missing.discard(topic)
        elif topic_id is not None and topic_id == before.topic_id:
            added = numbers - before.partitions
            numbers |= before.partitions  # a broker that lags behind may omit some
        else:
            is_seen = topic_id in self._ids
            recreated = is_another_topic(before.topic_id, topic_id) and not is_seen
            if is_seen:
                self._doubted_since[topic] = self._clock()
            elif recreated:
                self._doubted_since.pop(topic, None)
            added = numbers if recreated else numbers - before.partitions
        partitions = [TopicPartition(topic, number) for number in added]
        self._added.update(partitions)
        if recreated:
            self._recreated.update(partitions)
        self._seen[topic] = _Seen(topic_id, frozenset(numbers))
        if topic_id is not None:
            self._ids.add(topic_id)
        return recreated

    def _tell(self, topics: list[str]) -> None:
        follows = (
            _REASSIGNED
            if self._policy == "continue" and self._listener.is_reassigned()
            else _WHAT_FOLLOWS[self._policy]
        )
        for topic in () if self.is_told_elsewhere else topics:
            log.warning("topic %r was deleted and recreated: %s", topic, follows)
        if self._policy == "raise":
            states = [state for state in self._subscription.states() if state.tp.topic in topics]
            found = {state.tp: state.position for state in states}  # read once; the caller's thread changes them
            positions = {tp: offset for tp, offset in list(self._read_up_to.items()) if tp.topic in topics}
            positions |= {tp: position.offset for tp, position in found.items() if position is not None}
            self._listener.topics_recreated(TopicRecreatedError(topics, positions=positions))
