"""Opens the next answer of a partition: decodes it, takes what was decoded ahead, or gives the error in its place."""

import threading
from collections.abc import Callable

from kafka.consumer.handover.decode_ahead import DecodeAhead
from kafka.consumer.handover.fetched import DecodedFetch, DecodeOptions, Fetched, TopicReplaced
from kafka.consumer.handover.partition_state import PartitionState
from kafka.errors import OffsetOutOfRangeError


class NextAnswer:
    """Belongs to the caller's thread.

    Arguments:
        decoding: how to decode.
        ahead: decodes beside the caller.
        lock: the buffer's; it is not held while decoding.
        resets: whether there is a policy for an offset that is out of range.
        out_of_range: called with the partition in that case.
        replaced: called with a partition when the records of a topic that was created again come next.
        is_replaced: whether the position is one in a topic that was deleted and created again, and means nothing now.

    Attributes:
        opening: what is being opened. A signal's handler that seeks makes it useless, but does not drop it.
    """

    def __init__(
        self,
        decoding: DecodeOptions,
        ahead: DecodeAhead,
        lock: threading.RLock,
        resets: bool,
        out_of_range: Callable[[PartitionState], None],
        replaced: Callable[[PartitionState], None] = lambda _: None,
        is_replaced: Callable[[PartitionState], bool] = lambda _: False,
    ) -> None:
        self._decoding = decoding
        self._ahead = ahead
        self._lock = lock
        self._resets = resets
        self._out_of_range = out_of_range
        self._replaced = replaced
        self._is_replaced = is_replaced
        self.opening: Fetched | DecodedFetch | None = None

    def is_awaited(self, state: PartitionState) -> bool:
        """Whether it is being decoded ahead, and no part of it is ready."""
        buffer = state.buffer
        item = buffer.items[0] if buffer.current is None and buffer.items else None
        return item is not None and self._ahead.has(item) and not self._ahead.is_ready(item)

    def open(self, state: PartitionState, max_bytes: int, ahead_bytes: int, has_before: bool) -> Exception | None:
        """Make it what is handed out now, ``state.buffer.current``. Returns the error if there is one instead.

        A signal's handler may have sought before, or seek meanwhile; then there is neither.

        Arguments:
            max_bytes: about how many bytes of columns to make.
            ahead_bytes: the same for a part that is decoded ahead meanwhile; 0: none is.
            has_before: whether records are handed out before it, so that an error has to wait.
        """
        buffer = state.buffer
        if not buffer.items:
            return None
        item = self.opening = buffer.items[0]  # no call since: nothing comes in between
        try:
            if isinstance(item, Fetched) and item.error is not None:
                return item.error if has_before else self._open_error(state, item, item.error)
            opened = self._columns_of(item, max_bytes, ahead_bytes)
            is_read = not isinstance(item, Fetched) or item.is_decoded
            with self._lock:
                is_useful = buffer.items[0] is item if buffer.items else False  # no call up to popleft(), as above
                if is_useful:
                    buffer.current = opened
                    if is_read:
                        buffer.items.popleft()
        finally:
            self.opening = None
        if not is_useful and isinstance(item, Fetched):
            item.drop()
        return None

    def _columns_of(self, item: Fetched | DecodedFetch, max_bytes: int, ahead_bytes: int) -> DecodedFetch | None:
        if isinstance(item, DecodedFetch):
            return item
        if self._ahead.has(item):
            return self._ahead.take(item)
        if ahead_bytes and item.packed_bytes:
            self._ahead.offer(ahead_bytes)
        return item.decode(self._decoding, max_bytes)

    def _open_error(self, state: PartitionState, item: Fetched, error: Exception) -> Exception | None:
        """What the broker said about a partition, unless there is a policy for it."""
        out_of_range = isinstance(error, OffsetOutOfRangeError)
        if isinstance(error, TopicReplaced) or (out_of_range and self._is_replaced(state)):
            self._replaced(state)
            return None
        if self._resets and out_of_range:
            self._out_of_range(state)
            return None
        if not item.sticky:
            with self._lock:
                items = state.buffer.items
                if items and items[0] is item:
                    items.popleft()
        return error
