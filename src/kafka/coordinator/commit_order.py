"""The order of a group's commits: once a commit of a partition has been sent, no older one is sent any more."""

from collections.abc import Mapping

from kafka.structs import OffsetAndMetadata, TopicPartition


class CommitOrder:
    """Numbers commits, and remembers for each partition the newest that was sent. Belongs to the loop."""

    def __init__(self) -> None:
        self._begun = 0
        self._sent: dict[TopicPartition, int] = {}

    def begin(self) -> int:
        """The number of a commit that is newer than all before it."""
        self._begun += 1
        return self._begun

    def send(
        self, number: int, offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Those of ``offsets`` that no newer commit was sent for; from now on they count as sent."""
        left = {tp: committed for tp, committed in offsets.items() if self._sent.get(tp, number) <= number}
        self._sent.update(dict.fromkeys(left, number))
        return left
