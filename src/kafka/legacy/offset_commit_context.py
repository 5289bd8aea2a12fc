"""`kafka.context` of 0.9 to 1.4: commits the offsets of processed messages, and seeks back to the others."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from kafka.errors import OffsetOutOfRangeError, check_error
from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.payloads import OffsetCommitRequestPayload

log = logging.getLogger("kafka.context")


class _Commits(Protocol):
    def send_offset_commit_request(self, group: Any, payloads: list[OffsetCommitRequestPayload], /) -> Any: ...


class _Consumer(Protocol):
    """The parts of a `SimpleConsumer` that the context uses."""

    client: _Commits
    group: Any
    topic: Any
    offsets: dict[int, int]

    def seek(self, offset: int, whence: int, /) -> object: ...


class OffsetCommitContext:
    """At the end of a ``with`` block, commits offsets up to the marked messages, and seeks there.

    If nothing is marked, or if the block raises an error, the consumer returns to its positions before the block. An
    `OffsetOutOfRangeError` moves the consumer to the beginning of its partitions, and is suppressed. The context is
    true if anything is marked. The consumer must not commit automatically.

    Arguments:
        consumer: a `SimpleConsumer`, or an object with the same attributes `client`, `group`, `topic`, `offsets` and
            `seek`. Call ``consumer.provide_partition_info()`` to make it return the partition that `mark` needs.
    """

    def __init__(self, consumer: _Consumer) -> None:
        warn_deprecated("OffsetCommitContext is deprecated: use KafkaConsumer.commit")
        self.consumer = consumer
        self.initial_offsets: dict[int, int] | None = None
        self.high_water_mark: dict[int, int] | None = None
        self.logger = log

    def mark(self, partition: int, offset: int) -> None:
        """Mark a message, and all before it in its partition, as processed. Call this only inside the block."""
        if self.high_water_mark is None:
            raise TypeError("mark() belongs inside of the with block")
        self.high_water_mark[partition] = max(offset + 1, self.high_water_mark.get(partition, 0))
        self.logger.debug("Setting high-water mark to: %s", {partition: self.high_water_mark[partition]})

    def __bool__(self) -> bool:
        return bool(self.high_water_mark)

    __nonzero__ = __bool__

    def __enter__(self) -> Self:
        self.initial_offsets = dict(self.consumer.offsets)
        self.high_water_mark = {}
        self.logger.debug("Starting context at: %s", self.initial_offsets)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if exc_type is None:
            self.commit()
        elif isinstance(exc_value, OffsetOutOfRangeError):
            self.handle_out_of_range()
            return True
        else:
            self.rollback()
        return False

    def commit(self) -> None:
        """Commit offsets up to the marked messages and seek there. If nothing is marked, seek back."""
        if self.high_water_mark:
            self.logger.info("Committing offsets: %s", self.high_water_mark)
            self.commit_partition_offsets(self.high_water_mark)
            self.update_consumer_offsets(self.high_water_mark)
        else:
            self.update_consumer_offsets(self.initial_offsets or {})

    def rollback(self) -> None:
        """Seek back to the positions before the block."""
        self.logger.info("Rolling back context: %s", self.initial_offsets)
        self.update_consumer_offsets(self.initial_offsets or {})

    def commit_partition_offsets(self, partition_offsets: Mapping[int, int]) -> None:
        """Commit offsets, given by partition. Raises the coordinator's first error."""
        self.logger.debug("Committing partition offsets: %s", partition_offsets)
        topic = self.consumer.topic
        requests = [OffsetCommitRequestPayload(topic, part, to, None) for part, to in partition_offsets.items()]
        for response in self.consumer.client.send_offset_commit_request(self.consumer.group, requests):
            check_error(response)

    def update_consumer_offsets(self, partition_offsets: Mapping[int, int]) -> None:
        """Seek to offsets, given by partition."""
        self.logger.debug("Updating consumer offsets to: %s", partition_offsets)
        self.consumer.offsets.update(partition_offsets)
        self.consumer.seek(0, 1)  # discards messages that were already fetched

    def handle_out_of_range(self) -> None:
        """Seek to the beginning of all partitions, because older messages have been deleted."""
        self.logger.info("Seeking beginning of partition on out of range error")
        self.consumer.seek(0, 0)
