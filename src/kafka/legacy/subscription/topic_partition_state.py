"""`TopicPartitionState`: where a partition is read from, and whether it is read at all."""

from __future__ import annotations

import time
from typing import Any

from kafka.structs import OffsetAndMetadata


class Position(int):
    """An offset, as 1.x had positions, with the attributes of `OffsetAndMetadata`, as 2.x had them."""

    metadata: str | None
    leader_epoch: int | None

    @classmethod
    def of(cls, given: int | OffsetAndMetadata) -> Position:
        """Make one of an offset, with or without metadata."""
        committed = given if isinstance(given, OffsetAndMetadata) else OffsetAndMetadata(given, "", -1)
        made = cls(committed.offset)
        made.metadata, made.leader_epoch = committed.metadata, committed.leader_epoch
        return made

    @property
    def offset(self) -> int:
        """The offset."""
        return int(self)

    @property
    def committable(self) -> OffsetAndMetadata:
        """What a commit of it commits."""
        return OffsetAndMetadata(int(self), self.metadata, self.leader_epoch)


class TopicPartitionState:
    """One partition.

    Attributes:
        committed: the last committed offset that was read; None: no offset was read.
        paused: whether reading is paused.
        reset_strategy: the strategy for a reset of the position; None: no reset is needed.
        highwater: the offset after the last record that can be read, as far as it is known.
        next_allowed_retry_time: before this time, in seconds since 1970, no reset is tried.
    """

    def __init__(self) -> None:
        self.committed: int | None = None
        self.paused = False
        self.reset_strategy: Any = None
        self.highwater: int | None = None
        self.drop_pending_message_set = False
        self.drop_pending_record_batch = False
        self.last_offset_from_message_batch: int | None = None
        self.next_allowed_retry_time: float | None = None
        self._position: Position | None = None

    @property
    def position(self) -> Position | None:
        """The offset of the next record; None: it is not known. May be set where it is known."""
        return self._position

    @position.setter
    def position(self, offset: int | OffsetAndMetadata) -> None:
        if self._position is None:
            raise AssertionError("Valid position required")
        self._position = Position.of(offset)

    @property
    def has_valid_position(self) -> bool:
        """Whether the position is known."""
        return self._position is not None

    @property
    def awaiting_reset(self) -> bool:
        """Whether the position needs a reset."""
        return self.reset_strategy is not None

    def is_missing_position(self) -> bool:
        """Whether there is neither a position nor a way to find one."""
        return not self.has_valid_position and not self.awaiting_reset

    def is_fetchable(self) -> bool:
        """Whether it can be read."""
        return not self.paused and self.has_valid_position

    def seek(self, offset: int | OffsetAndMetadata) -> None:
        """Read from an offset."""
        self._position = Position.of(offset)
        self.reset_strategy = self.next_allowed_retry_time = None
        self.drop_pending_message_set = self.drop_pending_record_batch = True

    def reset(self, strategy: Any) -> None:
        """Request a reset of the position."""
        self.reset_strategy = strategy
        self._position = self.next_allowed_retry_time = None

    def await_reset(self, strategy: Any) -> None:
        """The same, as 1.x called it."""
        self.reset(strategy)

    def is_reset_allowed(self) -> bool:
        """Whether a reset may be tried now."""
        return self.next_allowed_retry_time is None or self.next_allowed_retry_time < time.time()

    def set_reset_pending(self, next_allowed_retry_time: float) -> None:
        """A reset is under way; try the next one at this time."""
        self.next_allowed_retry_time = next_allowed_retry_time

    def reset_failed(self, next_allowed_retry_time: float) -> None:
        """A reset failed; try the next one at this time."""
        self.next_allowed_retry_time = next_allowed_retry_time

    def pause(self) -> None:
        """Do not read it."""
        self.paused = True

    def resume(self) -> None:
        """Read it again."""
        self.paused = False
