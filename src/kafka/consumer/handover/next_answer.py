"""Opens the next answer of a partition: decodes it, takes what was decoded ahead, or gives the error in its place."""

import threading
from collections.abc import Callable

from kafka.consumer.handover.decode_ahead import DecodeAhead
from kafka.consumer.handover.fetched import DecodedFetch, DecodeOptions, Fetched
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
    """

    def __init__(
        self,
        decoding: DecodeOptions,
        ahead: DecodeAhead,
        lock: threading.Lock,
        resets: bool,
        out_of_range: Callable[[PartitionState], None],
    ) -> None:
        self._decoding = decoding
        self._ahead = ahead
        self._lock = lock
        self._resets = resets
        self._out_of_range = out_of_range

    def is_awaited(self, state: PartitionState) -> bool:
        """Whether it is being decoded ahead, and no part of it is ready."""
        buffer = state.buffer
        return buffer.current is None and self._ahead.has(buffer.items[0]) and not self._ahead.is_ready(buffer.items[0])

    def open(self, state: PartitionState, max_bytes: int, ahead_bytes: int, has_before: bool) -> Exception | None:
        """Make it what is handed out now, ``state.buffer.current``. Returns the error if there is one instead.

        Arguments:
            max_bytes: about how many bytes of columns to make.
            ahead_bytes: the same for a part that is decoded ahead meanwhile; 0: none is.
            has_before: whether records are handed out before it, so that an error has to wait.
        """
        buffer = state.buffer
        item = buffer.items[0]
        if isinstance(item, Fetched) and item.error is not None:
            return item.error if has_before else self._open_error(state, item, item.error)
        if isinstance(item, DecodedFetch):
            opened = item
        elif self._ahead.has(item):
            opened = self._ahead.take(item)
        else:
            if ahead_bytes and item.packed_bytes:
                self._ahead.offer(ahead_bytes)
            opened = item.decode(self._decoding, max_bytes)
        with self._lock:
            buffer.current = opened
            if not isinstance(item, Fetched) or item.is_decoded:
                buffer.items.popleft()
        return None

    def _open_error(self, state: PartitionState, item: Fetched, error: Exception) -> Exception | None:
        """What the broker said about a partition, unless there is a policy for it."""
        if self._resets and isinstance(error, OffsetOutOfRangeError):
            self._out_of_range(state)
            return None
        if not item.sticky:
            with self._lock:
                state.buffer.items.popleft()
        return error
