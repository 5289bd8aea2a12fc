"""The part of `SubscriptionState` that is about single partitions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from kafka.errors import NoOffsetForPartitionError
from kafka.legacy.declarations import synchronized
from kafka.legacy.protocol.values import OffsetResetStrategy
from kafka.legacy.subscription.partition import Position, TopicPartitionState
from kafka.structs import OffsetAndMetadata, TopicPartition


class AssignedPositions:
    """The assigned partitions and their positions. `KeyError` for one that is not assigned, where nothing else is said.

    Arguments:
        offset_reset_strategy: "earliest", "latest", or else none.

    Attributes:
        assignment: the `TopicPartitionState` of each partition.
    """

    def __init__(self, offset_reset_strategy: str) -> None:
        strategy = getattr(OffsetResetStrategy, str(offset_reset_strategy).upper(), OffsetResetStrategy.NONE)
        self._default_offset_reset_strategy: int = strategy
        self.assignment: OrderedDict[TopicPartition, TopicPartitionState] = OrderedDict()
        self._lock = threading.RLock()

    @synchronized
    def assigned_partitions(self) -> set[TopicPartition]:
        """All assigned partitions."""
        return set(self.assignment)

    @synchronized
    def is_assigned(self, partition: TopicPartition) -> bool:
        """Whether a partition is assigned."""
        return partition in self.assignment

    @synchronized
    def move_partition_to_end(self, partition: TopicPartition) -> None:
        """Read a partition after the others; nothing if it is not assigned."""
        if partition in self.assignment:
            self.assignment.move_to_end(partition)

    # Reading

    @synchronized
    def pause(self, partition: TopicPartition) -> None:
        """Do not read a partition."""
        self.assignment[partition].pause()

    @synchronized
    def resume(self, partition: TopicPartition) -> None:
        """Read it again."""
        self.assignment[partition].resume()

    @synchronized
    def is_paused(self, partition: TopicPartition) -> bool:
        """Whether a partition is assigned and paused."""
        return partition in self.assignment and self.assignment[partition].paused

    @synchronized
    def paused_partitions(self) -> set[TopicPartition]:
        """All that are paused."""
        return {partition for partition, state in self.assignment.items() if state.paused}

    @synchronized
    def is_fetchable(self, partition: TopicPartition) -> bool:
        """Whether a partition can be read."""
        return partition in self.assignment and self.assignment[partition].is_fetchable()

    @synchronized
    def fetchable_partitions(self) -> list[TopicPartition]:
        """All that can be read, in their order."""
        return [partition for partition, state in self.assignment.items() if state.is_fetchable()]

    # Positions

    @synchronized
    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Read a partition from an offset."""
        if not isinstance(offset, int | OffsetAndMetadata):
            raise TypeError(f"offset must be an int or OffsetAndMetadata, not {offset!r}")
        self.assignment[partition].seek(offset)

    @synchronized
    def position(self, partition: TopicPartition) -> Position | None:
        """The position of a partition; None: it is not known."""
        return self.assignment[partition].position

    @synchronized
    def has_valid_position(self, partition: TopicPartition) -> bool:
        """Whether a partition is assigned and its position known."""
        return partition in self.assignment and self.assignment[partition].has_valid_position

    @synchronized
    def has_all_fetch_positions(self) -> bool:
        """Whether all positions are known."""
        return all(state.has_valid_position for state in self.assignment.values())

    @synchronized
    def missing_fetch_positions(self) -> set[TopicPartition]:
        """All that have no position, and no reset that would find it."""
        return {partition for partition, state in self.assignment.items() if state.is_missing_position()}

    @synchronized
    def all_consumed_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The positions that are known, to be committed."""
        positions = [(partition, state.position) for partition, state in self.assignment.items()]
        return {partition: position.committable for partition, position in positions if position is not None}

    # Resets

    def has_default_offset_reset_policy(self) -> bool:
        """Whether a partition without a position starts at one of its ends."""
        return self._default_offset_reset_strategy != OffsetResetStrategy.NONE

    @synchronized
    def request_offset_reset(self, partition: TopicPartition, offset_reset_strategy: Any = None) -> None:
        """Have a position found anew, by a strategy or the default one."""
        strategy = self._default_offset_reset_strategy if offset_reset_strategy is None else offset_reset_strategy
        self.assignment[partition].reset(strategy)

    def need_offset_reset(self, partition: TopicPartition, offset_reset_strategy: Any = None) -> None:
        """The same, as 1.x called it."""
        self.request_offset_reset(partition, offset_reset_strategy)

    @synchronized
    def is_offset_reset_needed(self, partition: TopicPartition) -> bool:
        """Whether a position is to be found anew."""
        return self.assignment[partition].awaiting_reset

    @synchronized
    def reset_missing_positions(self) -> None:
        """Have all missing positions found by the default strategy.

        Raises `NoOffsetForPartitionError` if there is none.
        """
        missing = self.missing_fetch_positions()
        if missing and not self.has_default_offset_reset_policy():
            raise NoOffsetForPartitionError(missing)
        for partition in missing:
            self.assignment[partition].reset(self._default_offset_reset_strategy)

    @synchronized
    def partitions_needing_reset(self) -> set[TopicPartition]:
        """All whose position is to be found now."""
        states = self.assignment.items()
        return {partition for partition, state in states if state.awaiting_reset and state.is_reset_allowed()}

    @synchronized
    def set_reset_pending(self, partitions: Iterable[TopicPartition], next_allowed_reset_time: float) -> None:
        """Resets are under way."""
        for partition in partitions:
            self.assignment[partition].set_reset_pending(next_allowed_reset_time)

    @synchronized
    def reset_failed(self, partitions: Iterable[TopicPartition], next_retry_time: float) -> None:
        """Resets failed."""
        for partition in partitions:
            self.assignment[partition].reset_failed(next_retry_time)
