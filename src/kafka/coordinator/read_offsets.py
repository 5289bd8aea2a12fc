"""Offsets to commit, with the ids of the topics that they were read from."""

from uuid import UUID

from kafka.structs import OffsetAndMetadata, TopicPartition


class ReadOffsets(dict[TopicPartition, OffsetAndMetadata]):
    """A consumer's positions. One that was read from a topic that was deleted since is none in a topic of its name.

    Attributes:
        topic_ids: of the topics that the positions are places in, as far as they are known (KIP-516).
    """

    def __init__(self) -> None:
        super().__init__()
        self.topic_ids: dict[TopicPartition, UUID] = {}
