"""`SimpleConsumer`, and how it fetches: which messages to request, and how to handle the responses."""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol

from kafka.errors import (
    ConsumerFetchSizeTooSmall,
    FailedPayloadsError,
    KafkaError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
    check_error,
)
from kafka.legacy.consumer.consumer_base import (
    AUTO_COMMIT_INTERVAL,
    AUTO_COMMIT_MSG_COUNT,
    EARLIEST,
    FETCH_BUFFER_SIZE_BYTES,
    FETCH_DEFAULT_BLOCK_TIMEOUT,
    FETCH_MAX_WAIT_TIME,
    FETCH_MIN_BYTES,
    ITER_TIMEOUT_SECONDS,
    LATEST,
    MAX_FETCH_BUFFER_SIZE_BYTES,
    NO_MESSAGES_WAIT_TIME_SECONDS,
    Consumer,
    log,
)
from kafka.legacy.payloads import FetchRequestPayload

_TRIES = 3
"""Number of failed attempts after which `_fetch` gives up."""
_MESSAGE_OVERHEAD = 26
"""Size in bytes of a magic 0 message without its key and value, but including its offset and size."""


class Fetching:
    """The part of a `SimpleConsumer` that fetches messages into `queue`.

    Today's brokers send whole batches, and the first one regardless of its size. Therefore `max_buffer_size` is
    compared with each message. If no message from a partition fits, the partition is fetched again with a buffer of
    twice the size. Each fetch starts with another partition.
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
        """Fetch messages from all partitions."""
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
        """Return the partitions, rotated by one each time."""
        partitions = list(self.fetch_offsets)
        if partitions:
            self.fetch_offsets[partitions[0]] = self.fetch_offsets.pop(partitions[0])
        return partitions

    def _ask(self, sizes: dict[int, int]) -> list[Any]:
        wait_ms = self.fetch_max_wait_time
        limit_s = getattr(self.client, "timeout", None)
        if isinstance(limit_s, (int, float)):  # the response must arrive before the client times out
            wait_ms = min(wait_ms, limit_s * 500)
        asked = [FetchRequestPayload(self.topic, each, self.fetch_offsets[each], size) for each, size in sizes.items()]
        answers: list[Any] = self.client.send_fetch_request(
            asked, max_wait_time=int(wait_ms), min_bytes=self.fetch_min_bytes, fail_on_error=False
        )
        return answers

    def _failed(self, answer: FailedPayloadsError) -> int:
        """Return the partition of a payload without a response. Raise errors that a retry cannot resolve."""
        if isinstance(answer.__cause__, UnknownTopicOrPartitionError):
            raise answer.__cause__
        payload: Any = answer.payload
        log.warning("FailedPayloadsError for %s:%d", payload.topic, payload.partition)
        partition: int = payload.partition
        return partition

    def _take(self, answer: Any, sizes: dict[int, int]) -> int | None:
        """Queue the messages in a response. Return a larger fetch size if the partition has to be fetched again."""
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
                return  # the messages before it are returned first
            self.queue.put((partition, each))
            self.fetch_offsets[partition] = each.offset + 1
            first = False
        behind = getattr(messages, "next_offset", 0)  # skips control records
        self.fetch_offsets[partition] = max(behind, self.fetch_offsets[partition])

    def _larger(self, partition: int, sizes: dict[int, int]) -> int | None:
        """Return the next larger fetch size for a partition none of whose messages fit."""
        size = sizes[partition]
        if self.max_buffer_size is None or size < self.max_buffer_size:
            larger = size * 2 if self.max_buffer_size is None else min(size * 2, self.max_buffer_size)
            log.debug("%d bytes are too few for a message of %s:%d, requesting %d", size, self.topic, partition, larger)
            return larger
        if partition == next(iter(sizes)):  # a broker before 0.10.1
            raise ConsumerFetchSizeTooSmall(
                f"the next message of {self.topic}:{partition} is larger than max_buffer_size, {size} bytes"
            )
        return None


def _size(message: Any) -> int:
    key, value = getattr(message, "key", None), getattr(message, "value", None)
    return _MESSAGE_OVERHEAD + len(key or b"") + len(value or b"")


_RESETS = {"largest": LATEST, "smallest": EARLIEST}


class SimpleConsumer(Fetching, Consumer):
    """Reads a topic's partitions with a `SimpleClient`, starting at the offsets stored for a group, or at 0.

    For use by one thread; only timed automatic commits run in another thread.

    Arguments:
        client, group, topic, auto_commit, partitions, auto_commit_every_n, auto_commit_every_t: see `Consumer`.
        fetch_size_bytes: accepted for compatibility; a fetch returns as soon as one message is available.
        buffer_size: initial fetch size per partition in bytes.
        max_buffer_size: maximum fetch size; None: no limit. A larger message raises `ConsumerFetchSizeTooSmall`.
        iter_timeout: seconds without a message after which iteration ends; None: never.
        auto_offset_reset: where to continue if an offset no longer exists, "largest" or "smallest"; any other value
            raises `OffsetOutOfRangeError`.

    Raises `ValueError` if `buffer_size` exceeds `max_buffer_size`.
    """

    def __init__(
        self,
        client: Any,
        group: str | bytes | None,
        topic: str | bytes,
        auto_commit: bool = True,
        partitions: Sequence[int] | None = None,
        auto_commit_every_n: int | None = AUTO_COMMIT_MSG_COUNT,
        auto_commit_every_t: float | None = AUTO_COMMIT_INTERVAL,
        fetch_size_bytes: int = FETCH_MIN_BYTES,
        buffer_size: int = FETCH_BUFFER_SIZE_BYTES,
        max_buffer_size: int | None = MAX_FETCH_BUFFER_SIZE_BYTES,
        iter_timeout: float | None = None,
        auto_offset_reset: str = "largest",
    ) -> None:
        if max_buffer_size is not None and buffer_size > max_buffer_size:
            raise ValueError(f"buffer_size ({buffer_size}) is greater than max_buffer_size ({max_buffer_size})")
        super().__init__(client, group, topic, partitions, auto_commit, auto_commit_every_n, auto_commit_every_t)
        self.buffer_size = buffer_size
        self.max_buffer_size = max_buffer_size
        self.fetch_max_wait_time: float = FETCH_MAX_WAIT_TIME
        self.fetch_min_bytes = fetch_size_bytes
        self.fetch_offsets = self.offsets.copy()
        self.iter_timeout = iter_timeout
        self.auto_offset_reset = auto_offset_reset
        self.queue: queue.Queue[tuple[int, Any]] = queue.Queue()

    def __repr__(self) -> str:
        return f"<SimpleConsumer group={self.group}, topic={self.topic}, partitions={list(self.offsets)}>"

    def reset_partition_offset(self, partition: int) -> int | None:
        """Seek to the beginning or the end of a partition, depending on `auto_offset_reset`.

        Returns the new offset, or None if no broker returned it (see the log). If `auto_offset_reset` selects neither
        end, raises the error that is being handled, or an `OffsetOutOfRangeError`.
        """
        end = _RESETS.get(self.auto_offset_reset)
        if end is None:
            raise sys.exception() or OffsetOutOfRangeError(
                f"auto_offset_reset is 'largest' or 'smallest', not {self.auto_offset_reset!r}: nowhere to go on"
            )
        log.info("Resetting offset of %s:%d to the %s", self.topic, partition, self.auto_offset_reset)
        try:
            offset = self._ask_offsets([partition], end)[partition]
        except KafkaError as error:
            log.error("%s asking for an offset of %s:%d: %s", type(error).__name__, self.topic, partition, error)
            return None
        self.offsets[partition] = self.fetch_offsets[partition] = offset
        return offset

    def seek(self, offset: int, whence: int | None = None, partition: int | None = None) -> None:
        """Seek to an offset, and commit it if commits are automatic.

        Arguments:
            offset: the offset, or the distance. A distance from an end of all partitions is divided among them.
            whence: None: `offset` is absolute; 0: relative to the beginning; 1: to the current position; 2: to the end.
            partition: the partition; None: all.

        Raises `ValueError` for another `whence`.
        """
        partitions = list(self.offsets) if partition is None else [partition]
        if whence is None:
            self.offsets.update(dict.fromkeys(partitions, offset))
        elif whence == 1:
            self.offsets.update({each: self.offsets[each] + offset for each in partitions})
        elif whence in (0, 2):
            share, rest = divmod(offset, len(partitions))
            ends = self._ask_offsets(partitions, EARLIEST if whence == 0 else LATEST)
            moves = {each: share + (place < rest) for place, each in enumerate(partitions)}
            self.offsets.update({each: end + moves[each] for each, end in ends.items()})
        else:
            raise ValueError(f"Unexpected value for `whence`, {whence}")
        self.fetch_offsets = self.offsets.copy()
        self.queue = queue.Queue()
        self.count_since_commit += 1
        if self.auto_commit:
            self.commit()

    def get_messages(self, count: int = 1, block: bool | int = True, timeout: float | None = 0.1) -> list[Any]:
        """Return up to `count` messages.

        Arguments:
            block: whether to wait for all of them; a number: wait for that many.
            timeout: maximum time to wait in seconds; None: forever.

        Raises `ConsumerFetchSizeTooSmall`, `OffsetOutOfRangeError`, and errors of the brokers.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        found: list[tuple[int, Any]] = []
        try:
            while True:
                if len(found) >= count:
                    break
                wait = block is True or block > len(found)
                left = None if deadline is None else deadline - time.monotonic()
                got = self._next_message(wait, left)
                if got is not None:
                    found.append(got)
                elif not wait or (deadline is not None and time.monotonic() >= deadline):
                    break
        except KafkaError as error:
            if not found:
                raise
            log.warning("%s after %d messages, which are returned first", type(error).__name__, len(found))
        except BaseException:
            self.queue.queue.extendleft(reversed(found))
            raise
        self._hand_out(found, self.queue.queue.extendleft)
        return list(found) if self.partition_info else [message for _, message in found]

    def get_message(
        self, block: bool | int = True, timeout: float | None = 0.1, get_partition_info: bool | None = None
    ) -> Any:
        """Return a message, or None if there is none.

        Arguments:
            block: whether to wait for one.
            timeout: maximum time to wait in seconds; None: forever.
            get_partition_info: whether to return a pair of partition and message; None: as set by
                `provide_partition_info`.
        """
        got = self._next_message(block, timeout)
        if got is None:
            return None
        self._hand_out([got], self.queue.queue.extendleft)
        return got if (self.partition_info if get_partition_info is None else get_partition_info) else got[1]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over messages, until none has arrived for `iter_timeout` seconds."""
        while True:
            timeout = ITER_TIMEOUT_SECONDS if self.iter_timeout is None else self.iter_timeout
            message = self.get_message(True, timeout)
            if message is not None:
                yield message
            elif self.iter_timeout is not None:
                return

    def _next_message(self, block: bool | int, timeout: float | None) -> tuple[int, Any] | None:
        """Return a message from the queue, fetching if it is empty; None on a timeout."""
        deadline = None if timeout is None else time.monotonic() + timeout
        left = timeout
        while self.queue.empty():
            with FetchContext(self, block, left):
                self._fetch()
            left = None if deadline is None else deadline - time.monotonic()
            if not block or (left is not None and left <= 0):
                break
        try:
            return self.queue.get_nowait()
        except queue.Empty:
            return None


class _Fetches(Protocol):
    fetch_max_wait_time: float
    fetch_min_bytes: int


class FetchContext:
    """Context manager in which a consumer's fetches wait for a first message, or do not wait.

    Arguments:
        consumer: the consumer.
        block: whether to wait.
        timeout: maximum time to wait in seconds; 0 or None: one second.
    """

    def __init__(self, consumer: _Fetches, block: object, timeout: float | None) -> None:
        self.consumer = consumer
        self.block = block
        if block:
            self.timeout = max(0.0, (timeout or FETCH_DEFAULT_BLOCK_TIMEOUT) * 1000)

    def __enter__(self) -> None:
        self.orig_fetch_max_wait_time = self.consumer.fetch_max_wait_time
        self.orig_fetch_min_bytes = self.consumer.fetch_min_bytes
        if self.block:
            self.consumer.fetch_max_wait_time = self.timeout
            self.consumer.fetch_min_bytes = 1
        else:
            self.consumer.fetch_min_bytes = 0

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.consumer.fetch_max_wait_time = self.orig_fetch_max_wait_time
        self.consumer.fetch_min_bytes = self.orig_fetch_min_bytes
