"""The value that `KafkaConsumer.committed` returns."""

from collections.abc import Iterator

from kafka.structs import OffsetAndMetadata


class CommittedOffset(int):
    """A committed offset: the number, as kafka-python gives it, which is an `OffsetAndMetadata` for all else.

    It is true also at offset 0, unpacks to the fields of `OffsetAndMetadata`, and compares with that and with numbers.

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

    @property
    def _epoch(self) -> int:
        """The epoch, -1 where it is not known."""
        return -1 if self.leader_epoch is None else self.leader_epoch

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[int | str | None]:
        return iter((int(self), self.metadata, self.leader_epoch))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OffsetAndMetadata):
            return (int(self), self.metadata or "", self._epoch) == (
                other.offset,
                other.metadata or "",
                -1 if other.leader_epoch is None else other.leader_epoch,
            )
        return int.__eq__(self, other) if isinstance(other, int) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> tuple[type["CommittedOffset"], tuple[OffsetAndMetadata]]:
        return CommittedOffset, (OffsetAndMetadata(int(self), self.metadata, self.leader_epoch),)

    def __hash__(self) -> int:
        return int.__hash__(self)
