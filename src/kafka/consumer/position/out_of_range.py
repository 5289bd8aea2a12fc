"""The log lines for a position that is not in the log, or no longer, so that `auto_offset_reset` moves it."""

import logging

from kafka.cluster import LogLimiter
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)


class OutOfRangeLog:
    """Remembers where a partition was to be read until it is known where it is read instead."""

    def __init__(self) -> None:
        self._offsets: dict[TopicPartition, int] = {}
        self._limiter = LogLimiter(log)

    def begin(self, tp: TopicPartition, offset: int) -> None:
        """A broker does not have ``offset``. Called in the caller's thread."""
        self._offsets[tp] = offset

    def found(self, tp: TopicPartition, offset: int) -> None:
        """A position was found; say what that means, if the last one was out of range. Called on the loop."""
        before = self._offsets.pop(tp, None)
        if before is None:
            return
        text = f"partition {tp.partition} of topic {tp.topic!r} has no offset {before}: reading continues at {offset}; "
        if offset > before:
            text += f"offsets {before} to {offset - 1} are left out"
        else:
            text += "records from there on may have been read before, or are new under old offsets"
        self._limiter.warning(str(tp), text)
