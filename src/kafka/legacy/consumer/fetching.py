"""Fetching of a `SimpleConsumer`: what to ask for, and what answers mean."""

from __future__ import annotations

import queue
import time
from typing import Any

from kafka.errors import (
    ConsumerFetchSizeTooSmall,
    FailedPayloadsError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
    check_error,
)
from kafka.legacy.consumer.base import NO_MESSAGES_WAIT_TIME_SECONDS, log
from kafka.legacy.payloads import FetchRequestPayload

_TRIES = 3
"""How often a partition is asked for in one go if no answer comes."""
_MESSAGE_OVERHEAD = 26
"""What a message of magic 0 takes besides its key and value, with its offset and size."""


class Fetching:
    """The part of a `SimpleConsumer` that fetches, into `queue`.

    Today's brokers send whole batches, and the first one however large it is. So what `max_buffer_size` allows is
    compared with each message; a partition of which nothing came, though it has messages, is asked for again with a
    buffer of twice the size; and another partition comes first each time.
    """

    client: Any
    topic: str
    buffer_size: int
    max_buffer_size: int | None
    fetch_max_wait_time: float
    fetch_min_bytes: int
    fetch_offsets: dict[int, int]
    queue: queue.Queue[tuple[int, Any]]

    def reset_partition_offset(self, partition: int) -> int | None:
        raise NotImplementedError

    def _fetch(self) -> None:
        """Ask for messages of every partition."""
        sizes = dict.fromkeys(self._in_turn(), self.buffer_size)
        failures = 0
        while sizes:
            again: dict[int, int] = {}
            failed = False
            for answer in self._ask(sizes):
                if isinstance(answer, FailedPayloadsError):
                    partition = self._failed(answer)
                    again[partition], failed = sizes[partition], True
                elif size := self._take(answer, sizes):
                    again[answer.partition] = size
            if failed:
                failures += 1
                if failures == _TRIES:
                    return
                time.sleep(NO_MESSAGES_WAIT_TIME_SECONDS)
            sizes = again

    def _in_turn(self) -> list[int]:
        """The partitions; the one that comes first now comes last next time."""
        partitions = list(self.fetch_offsets)
        if partitions:
            self.fetch_offsets[partitions[0]] = self.fetch_offsets.pop(partitions[0])
        return partitions

    def _ask(self, sizes: dict[int, int]) -> list[Any]:
        wait_ms = self.fetch_max_wait_time
        limit_s = getattr(self.client, "timeout", None)
        if isinstance(limit_s, (int, float)):  # the answer has to come before the client gives it up
            wait_ms = min(wait_ms, limit_s * 500)
        asked = [FetchRequestPayload(self.topic, each, self.fetch_offsets[each], size) for each, size in sizes.items()]
        answers: list[Any] = self.client.send_fetch_request(
            asked, max_wait_time=int(wait_ms), min_bytes=self.fetch_min_bytes, fail_on_error=False
        )
        return answers

    def _failed(self, answer: FailedPayloadsError) -> int:
        """The partition of a payload that was not answered; raises what makes another try useless."""
        if isinstance(answer.__cause__, UnknownTopicOrPartitionError):
            raise answer.__cause__
        payload: Any = answer.payload
        log.warning("FailedPayloadsError for %s:%d", payload.topic, payload.partition)
        partition: int = payload.partition
        return partition

    def _take(self, answer: Any, sizes: dict[int, int]) -> int | None:
        """Put the messages of an answer into the queue; gives the size to ask again with, if that is needed."""
        partition = answer.partition
        try:
            check_error(answer)
        except UnknownTopicOrPartitionError:
            log.error("UnknownTopicOrPartitionError for %s:%d", answer.topic, partition)
            self.client.reset_topic_metadata(answer.topic)
            raise
        except NotLeaderForPartitionError:
            log.error("NotLeaderForPartitionError for %s:%d", answer.topic, partition)
            self.client.reset_topic_metadata(answer.topic)
            return None
        except OffsetOutOfRangeError:
            log.warning("OffsetOutOfRangeError for %s:%d", answer.topic, partition)
            return None if self.reset_partition_offset(partition) is None else sizes[partition]
        before = self.fetch_offsets[partition]
        self._queue_messages(partition, answer.messages)
        if self.fetch_offsets[partition] > before or answer.highwaterMark <= before:
            return None
        return self._larger(partition, sizes)

    def _queue_messages(self, partition: int, messages: Any) -> None:
        first = True
        for each in messages:
            if each.offset < self.fetch_offsets[partition]:
                continue
            size = _size(each.message)
            if self.max_buffer_size is not None and size > self.max_buffer_size:
                if first:
                    raise ConsumerFetchSizeTooSmall(
                        f"the message of {self.topic}:{partition} at offset {each.offset} has {size} bytes, "
                        f"max_buffer_size is {self.max_buffer_size}"
                    )
                return  # those before it are handed out first
            self.queue.put((partition, each))
            self.fetch_offsets[partition] = each.offset + 1
            first = False
        behind = getattr(messages, "next_offset", 0)  # control records are no messages
        self.fetch_offsets[partition] = max(behind, self.fetch_offsets[partition])

    def _larger(self, partition: int, sizes: dict[int, int]) -> int | None:
        """The next size to ask for a partition with, of which nothing came."""
        size = sizes[partition]
        if self.max_buffer_size is None or size < self.max_buffer_size:
            larger = size * 2 if self.max_buffer_size is None else min(size * 2, self.max_buffer_size)
            log.debug("%d bytes of %s:%d are too few, asking for %d", size, self.topic, partition, larger)
            return larger
        if partition == next(iter(sizes)):  # a broker before 0.10.1
            raise ConsumerFetchSizeTooSmall(
                f"the next message of {self.topic}:{partition} is larger than max_buffer_size, {size} bytes"
            )
        return None


def _size(message: Any) -> int:
    key, value = getattr(message, "key", None), getattr(message, "value", None)
    return _MESSAGE_OVERHEAD + len(key or b"") + len(value or b"")
