"""Handles positions that are not in the log, because they are out of range or the log was truncated (KIP-320).

After a truncation, a consumer with a reset policy continues where the logs diverge, as in Java; without one, an error
is raised. Fetching is ahead of the position, so the position itself is checked first; data beyond it is dropped.
"""

import logging
from collections import deque
from typing import Protocol

from kafka.cluster import LogLimiter
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.fetch.position_validation import Divergence
from kafka.consumer.fetch.response_handler import place
from kafka.errors import LogTruncationError
from kafka.structs import OffsetAndMetadata, TopicPartition

log = logging.getLogger(__name__)


class TruncationListener(Protocol):
    """The listener of `Truncations`."""

    def read_from(self, state: PartitionState, position: FetchPosition) -> None:
        """Read a partition from a position, and drop fetched data. Called in the caller's thread."""

    def reset_by_policy(self, state: PartitionState) -> None:
        """Read a partition from the position that the reset policy determines. Called in the caller's thread."""

    def truncation_found(self) -> None:
        """Called on the loop when the caller has to call `Truncations.act`."""


class Truncations:
    """Records log divergences on the loop, and resets the affected positions in the caller's thread.

    Arguments:
        buffer: receives the errors.
        resets: whether there is a reset policy.
        listener: moves positions.
    """

    def __init__(
        self,
        buffer: FetchBuffer,
        resets: bool,
        listener: TruncationListener,
    ) -> None:
        self._buffer = buffer
        self._resets = resets
        self._listener = listener
        self._found: deque[Divergence] = deque()

    def found(self, divergence: Divergence) -> None:
        """Note that a leader's log differs from the one that was read. Called on the loop."""
        self._found.append(divergence)
        self._listener.truncation_found()

    def act(self) -> None:
        """Handle all divergences found. Called in the caller's thread; after an interrupt, the next call continues."""
        while self._found:
            divergence = self._found[0]
            state, position = divergence.state, divergence.state.position
            if (
                divergence.generation == state.generation and position is not None
            ):  # otherwise the position has changed in the meantime
                self._act(divergence, position)
            if self._found and self._found[0] is divergence:
                del self._found[0]

    def _act(self, divergence: Divergence, position: FetchPosition) -> None:
        state, end = divergence.state, divergence.end
        if position.offset != divergence.position.offset:
            log.info(
                "the log of %s was truncated: records from %d on are fetched again",
                place(state.tp),
                position.offset,
            )
            self._listener.read_from(state, position)
        elif not self._resets:
            self._tell(divergence)
        elif end is None:
            log.warning("%s; the reset policy decides where reading continues", _text(divergence))
            self._listener.reset_by_policy(state)
        else:
            log.warning("%s; reading continues at %d", _text(divergence), end.offset)
            self._listener.read_from(state, end)

    def _tell(self, divergence: Divergence) -> None:
        """Make `poll()` raise an error until a seek."""
        state, position, end = divergence.state, divergence.position, divergence.end
        error = LogTruncationError(
            {state.tp: None if end is None else OffsetAndMetadata(end.offset, "", end.leader_epoch)},
            f"{_text(divergence)}; there is no reset policy (auto_offset_reset='none'): seek() to continue",
            positions={state.tp: OffsetAndMetadata(position.offset, "", position.leader_epoch)},
        )
        self._buffer.put(
            state, PartitionResponse(state.tp, divergence.generation, position.offset, error=error, sticky=True)
        )


def _text(divergence: Divergence) -> str:
    position, end = divergence.position, divergence.end
    text = (
        f"the log of {place(divergence.state.tp)} was truncated after it had been read up to offset {position.offset}, "
        f"leader epoch {position.leader_epoch}: "
    )
    if end is None:
        return f"{text}its leader does not know that epoch, so the extent of the loss is unknown"
    return (
        f"{text}its leader has leader epoch {end.leader_epoch} up to offset {end.offset}, so the records from there to "
        f"{position.offset - 1} are gone or others"
    )


class OutOfRangeLog:
    """Logs positions that are out of range, and the positions to which `auto_offset_reset` moves them.

    Remembers each position that is out of range until the new position is known.
    """

    def __init__(self) -> None:
        self._offsets: dict[TopicPartition, int] = {}
        self._limiter = LogLimiter(log)

    def begin(self, tp: TopicPartition, offset: int) -> None:
        """Note that a broker does not have ``offset``. Called in the caller's thread."""
        self._offsets[tp] = offset

    def found(self, tp: TopicPartition, offset: int) -> None:
        """Log the consequence of a new position, if the previous one was out of range. Called on the loop."""
        before = self._offsets.pop(tp, None)
        if before is None:
            return
        text = f"partition {tp.partition} of topic {tp.topic!r} has no offset {before}: reading continues at {offset}; "
        if offset > before:
            text += f"offsets {before} to {offset - 1} are skipped"
        else:
            text += "records from there on may have been read before, or are new records at old offsets"
        self._limiter.warning(str(tp), text)
