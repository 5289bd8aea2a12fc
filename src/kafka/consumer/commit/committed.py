"""The value that `KafkaConsumer.committed` returns."""

from kafka.structs import OffsetAndMetadata


class CommittedOffset(int):
    """A committed offset: the number, as kafka-python gives it, which also has ``offset`` and ``metadata``.

    Attributes:
        metadata: the text that was committed with it.
        leader_epoch: the epoch that was committed with it, or -1.
    """

    metadata: str | None
    leader_epoch: int | None

    def __new__(cls, committed: OffsetAndMetadata) -> "CommittedOffset":
        """Make one of what the coordinator keeps."""
        self = super().__new__(cls, committed.offset)
        self.metadata = committed.metadata
        self.leader_epoch = committed.leader_epoch
        return self

    @property
    def offset(self) -> int:
        """The number."""
        return int(self)
