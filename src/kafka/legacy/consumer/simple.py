"""`SimpleConsumer`: see the package."""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from kafka.errors import KafkaError, OffsetOutOfRangeError
from kafka.legacy.consumer.base import (
    AUTO_COMMIT_INTERVAL,
    AUTO_COMMIT_MSG_COUNT,
    EARLIEST,
    FETCH_BUFFER_SIZE_BYTES,
    FETCH_MAX_WAIT_TIME,
    FETCH_MIN_BYTES,
    ITER_TIMEOUT_SECONDS,
    LATEST,
    MAX_FETCH_BUFFER_SIZE_BYTES,
    Consumer,
    log,
)
from kafka.legacy.consumer.fetch_context import FetchContext
from kafka.legacy.consumer.fetching import Fetching

_RESETS = {"largest": LATEST, "smallest": EARLIEST}


class SimpleConsumer(Fetching, Consumer):
    """Reads a topic's partitions with a `SimpleClient`, from the offsets that are stored for a group or from 0.

    Belongs to one thread, but for commits by time.

    Arguments:
        client, group, topic, auto_commit, partitions, auto_commit_every_n, auto_commit_every_t: as of `Consumer`.
        fetch_size_bytes: taken for old programs; a fetch ends with the first message.
        buffer_size: how many bytes of a partition to ask for at first.
        max_buffer_size: up to how many; None: any number. A larger message is a `ConsumerFetchSizeTooSmall`.
        iter_timeout: for how many seconds iteration waits for a message before it ends; None: for ever.
        auto_offset_reset: where to go on, "largest" or "smallest", if an offset does not exist any more; any other
            value raises `OffsetOutOfRangeError`.

    Raises `ValueError` for a `buffer_size` above the `max_buffer_size`.
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
        """Go to the end of a partition that `auto_offset_reset` names.

        Returns the offset there; None if no broker told it (the log says why). Raises the error that is being handled,
        or else an `OffsetOutOfRangeError`, if `auto_offset_reset` names no end.
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
        """Go to an offset; commits it, if commits are automatic.

        Arguments:
            offset: the offset, or how far to go. From an end of all partitions it is divided among them.
            whence: None: `offset` is meant as it is; 0: from the beginning; 1: from here; 2: from the end.
            partition: of which partition; of all if None.

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
        """Give up to `count` messages.

        Arguments:
            block: whether to wait for all of them; a number: for that many.
            timeout: for how many seconds; None: for ever.

        Raises `ConsumerFetchSizeTooSmall`, `OffsetOutOfRangeError`, and what brokers answer with.
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
            log.warning("%s after %d messages, which are handed out first", type(error).__name__, len(found))
        except BaseException:
            self.queue.queue.extendleft(reversed(found))
            raise
        self._hand_out(found, self.queue.queue.extendleft)
        return list(found) if self.partition_info else [message for _, message in found]

    def get_message(
        self, block: bool | int = True, timeout: float | None = 0.1, get_partition_info: bool | None = None
    ) -> Any:
        """Give a message, or None if there is none.

        Arguments:
            block: whether to wait for one.
            timeout: for how many seconds; None: for ever.
            get_partition_info: whether to give a pair of partition and message; None: as `provide_partition_info` said.
        """
        got = self._next_message(block, timeout)
        if got is None:
            return None
        self._hand_out([got], self.queue.queue.extendleft)
        return got if (self.partition_info if get_partition_info is None else get_partition_info) else got[1]

    def __iter__(self) -> Iterator[Any]:
        """Messages one by one, for ever, or until there has been none for `iter_timeout` seconds."""
        while True:
            timeout = ITER_TIMEOUT_SECONDS if self.iter_timeout is None else self.iter_timeout
            message = self.get_message(True, timeout)
            if message is not None:
                yield message
            elif self.iter_timeout is not None:
                return

    def _next_message(self, block: bool | int, timeout: float | None) -> tuple[int, Any] | None:
        """A message that was fetched, or fetch; None if none comes in time."""
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
