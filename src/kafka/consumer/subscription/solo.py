"""A subscription without a group: the consumer takes all partitions of its topics, as kafka-python's does."""

from collections.abc import Callable, Iterable

from kafka.cluster import ClusterMetadata
from kafka.consumer.subscription.rebalance import Step, StepKind
from kafka.consumer.subscription.subscription_state import SubscriptionState
from kafka.structs import TopicPartition


class SoloAssignment:
    """Decides on the steps in the place of `Rebalance`. Belongs to the caller's thread.

    Partitions that are held stay, with their positions, as long as their topic is subscribed to: a topic that cannot be
    described for a moment does not lose its place.

    Arguments:
        metadata: gives the newest snapshot of the cluster.
        subscription: what is assigned.
        submit: has a function run on the loop.
        reassign: takes partitions in place of what was assigned, and keeps the state of those that stay.
        find_positions: run on the loop after partitions were taken over.
    """

    def __init__(
        self,
        metadata: Callable[[], ClusterMetadata],
        subscription: SubscriptionState,
        submit: Callable[..., None],
        reassign: Callable[[Iterable[TopicPartition]], None],
        find_positions: Callable[[], None],
    ) -> None:
        self._metadata = metadata
        self._subscription = subscription
        self._submit = submit
        self._reassign = reassign
        self._find_positions = find_positions
        self.completed = 0
        """How often partitions have been taken over."""

    def member_moved(self) -> None:
        """There is no member."""

    def ask_again(self) -> None:
        """The subscription has changed; `next_step` compares it with what is held anyway."""

    def next_step(self) -> Step | None:
        """What the caller has to do now."""
        if not self._subscription.is_automatic:
            return None
        metadata, topics = self._metadata(), self._subscription.topics
        held = self._subscription.assigned_partitions()
        wanted = {tp for tp in held if tp.topic in topics}
        for topic in topics:
            wanted.update(TopicPartition(topic, number) for number in metadata.partitions_for_topic(topic) or ())
        return None if wanted == held else Step(StepKind.TAKE_OVER, frozenset(wanted), 0)

    def begin(self, step: Step) -> None:
        """Before the listener is called."""
        self._reassign(step.partitions)

    def finish(self, step: Step) -> None:
        """After the listener was called, whether it raised or not."""
        self.completed += 1
        self._submit(self._find_positions)
