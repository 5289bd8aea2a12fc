"""Positions in partitions that a consumer gave up, for when they come back.

Without a group that is each partition. In a group it is those that came into being while the consumer ran: it begins
them with their first record, and must not pass records over because it gives them up before anything is committed.
"""

from collections.abc import Callable, Iterable
from uuid import UUID

from kafka.consumer.handover.fetch_position import FetchPosition
from kafka.consumer.handover.partition_state import PartitionState
from kafka.structs import TopicPartition


class PositionsLeft:
    """A broker may say for a moment that a topic does not exist: in the same topic reading goes on where it was.

    Belongs to the caller's thread.

    Arguments:
        topic_id: the id that a topic has now; None: not known.
    """

    def __init__(self, topic_id: Callable[[str], UUID | None]) -> None:
        self._topic_id = topic_id
        self._left: dict[TopicPartition, tuple[UUID, FetchPosition]] = {}

    def leave(self, states: Iterable[PartitionState]) -> None:
        """These are given up."""
        for state in states:
            topic_id, position = state.topic_id, state.position
            if position is not None and topic_id is not None:
                self._left[state.tp] = topic_id, position

    def take(self, tp: TopicPartition) -> FetchPosition | None:
        """Where to read on in a partition that is taken; None: it was not left, or is another topic's."""
        topic_id, position = self._left.pop(tp, (None, None))
        return position if topic_id is not None and self._topic_id(tp.topic) == topic_id else None

    def forget(self) -> None:
        """The subscription has changed."""
        self._left.clear()
