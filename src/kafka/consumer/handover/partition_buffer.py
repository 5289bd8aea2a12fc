"""The data of one partition that have been fetched and not handed out."""

from collections import deque

from kafka.consumer.handover.fetched import DecodedFetch, Fetched


class PartitionBuffer:
    """Filled by the loop, emptied by the caller, under the lock of the `FetchBuffer`.

    Attributes:
        current: what is being handed out.
        items: what comes after it. Only the caller's side takes items away.
        nbytes: what both count for against the bounds of the buffer.
        queued: the partition is among those that come next, or in the caller's hands: an answer need not put it there.
        blocked: the loop waits until the caller has taken some.
    """

    __slots__ = ("blocked", "current", "items", "nbytes", "queued")

    def __init__(self) -> None:
        self.current: DecodedFetch | None = None
        self.items: deque[Fetched | DecodedFetch] = deque()
        self.nbytes = 0
        self.queued = False
        self.blocked = False

    @property
    def is_begun(self) -> bool:
        """Whether some of an answer has been handed out, and some has not."""
        first = self.items[0] if self.items else None
        return self.current is not None or (isinstance(first, Fetched) and first.is_begun)

    def put_back(self, piece: DecodedFetch) -> None:
        """Hand out ``piece`` before everything else. Doing it again after an interrupt has no effect."""
        before = self.current
        if before is piece:
            return
        if before is not None and not (self.items and self.items[0] is before):
            self.items.appendleft(before)
        self.current = piece

    def clear(self) -> None:
        """Take everything out."""
        self.items.clear()
        self.current = None
        self.nbytes = 0
        self.blocked = False
