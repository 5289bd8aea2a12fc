"""What a bounded read was to read and that is gone: records that were deleted, and topics."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Literal
from uuid import UUID

from kafka.cluster.metadata import ClusterMetadata
from kafka.consumer.bounded.bounds import OffsetRange
from kafka.errors import IllegalArgumentError, OffsetOutOfRangeError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition, is_another_topic

log = logging.getLogger(__name__)

OnMissing = Literal["raise", "skip"]
SKIP_ADVICE = "; on_missing='skip' reads what is left, and counts what is gone"
"""What a program may do about records that are gone."""
_ANSWERS = 3
"""A topic counts as deleted once this many answers in a row do not know it: a lagging broker may not know it yet."""


def parse_on_missing(given: Any) -> bool:
    """Whether what is gone is left out. Raises `IllegalArgumentError`."""
    if given not in ("raise", "skip"):
        raise IllegalArgumentError(f"expected 'raise' or 'skip' as on_missing, got {given!r}")
    return bool(given == "skip")


class Losses:
    """Belongs to one iteration over a bounded read.

    Arguments:
        skips: whether lost offsets are counted and left out. If not, they are an error.
        topic_ids: the ID of each topic when its offsets were looked up; None if brokers have no topic IDs.

    Attributes:
        missing: number of lost offsets, for each partition that has any.
    """

    def __init__(self, skips: bool, topic_ids: Mapping[str, UUID | None]) -> None:
        self._skips = skips
        self._topic_ids = topic_ids
        self._unknown_in: dict[str, set[int]] = {}
        self.missing: dict[TopicPartition, int] = {}

    def made_again(self, topic: str, metadata: ClusterMetadata) -> bool:
        """Whether the topic of this name is another one now."""
        return is_another_topic(self._topic_ids.get(topic), metadata.topic_id(topic))

    @property
    def in_doubt(self) -> bool:
        """Whether a topic may be gone, and the cluster is to be asked again."""
        return bool(self._unknown_in)

    def look_for(self, topics: Iterable[str], metadata: ClusterMetadata) -> set[str]:
        """Return which of these topics were deleted or recreated.

        Arguments:
            topics: by name.
            metadata: the newest metadata of the cluster.
        """
        gone = set()
        for topic in topics:
            if metadata.topic_errors.get(topic) is UnknownTopicOrPartitionError:
                answers = self._unknown_in.setdefault(topic, set())
                answers.add(metadata.version)
                if len(answers) >= _ANSWERS:
                    gone.add(topic)
                    del self._unknown_in[topic]
            else:
                self._unknown_in.pop(topic, None)
                if self.made_again(topic, metadata):
                    gone.add(topic)
        return gone

    def leave_out(self, gone: Mapping[TopicPartition, OffsetRange], why: str) -> None:
        """Count what is gone, with a line in the log; or raise `OffsetOutOfRangeError`.

        Arguments:
            gone: the offsets, by partition.
            why: what has happened, for texts.
        """
        if not gone:
            return
        where = ", ".join(f"{r.start} to {r.end - 1} of {tp.topic}-{tp.partition}" for tp, r in gone.items())
        text = f"offsets {where} no longer exist: {why} since the read found them"
        if not self._skips:
            raise OffsetOutOfRangeError(text + SKIP_ADVICE)
        log.warning("%s; the read continues without them", text)
        for tp, each in gone.items():
            self.missing[tp] = self.missing.get(tp, 0) + each.end - each.start
