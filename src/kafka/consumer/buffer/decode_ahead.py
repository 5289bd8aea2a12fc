"""Decodes fetched responses, in the caller's thread or ahead of it in a separate one.

`DecodeAhead` decodes the next partitions, part by part, while the caller decodes another or processes its records.
`ResponseOpener` opens the next response for a partition, either way.

Most of the time is spent on decompression, which releases the GIL. The thread decodes one item after another. It ends
after a few milliseconds, when enough parts are ready or none are left, so there is no thread to stop when a consumer is
closed or the process forks. The interpreter waits for it at exit.
"""

import contextlib
import itertools
import logging
import threading
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from kafka.consumer.buffer.partition_response import DecodedFetch, DecodeOptions, PartitionResponse, TopicReplaced
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.errors import OffsetOutOfRangeError
from kafka.net import helper_threads, interruptible
from kafka.net.interruptible import loop_lock
from kafka.record import Columns

log = logging.getLogger(__name__)

_WORTH_BYTES = 128 * 1024
"""The minimum number of compressed bytes for which a thread is worthwhile."""

_LOOKED_AT = 8
"""The number of next partitions in which to look for an item to decode ahead."""

_AHEAD = 1.5
"""Decoding pauses once this many full parts are ready. With a limit of one part, the thread would idle while the caller
decodes a part of another partition.
"""


class _Part(NamedTuple):
    """A decoded part, or the exception raised instead, and whether it is the last part of its item."""

    columns: Columns | None
    error: Exception | None
    raised: BaseException | None
    is_last: bool

    @property
    def nbytes(self) -> int:
        """The size of the part's columns in memory."""
        return 0 if self.columns is None else self.columns.nbytes


class _Task:
    """An item that is claimed for decoding ahead, which the caller must not touch.

    Arguments:
        state: the partition.
        item: the response; `release` returns its frame.
    """

    __slots__ = ("_frame", "abandoned", "item", "parts", "state")

    def __init__(self, state: PartitionState, item: PartitionResponse) -> None:
        self.state = state
        self.item = item
        self.parts: deque[_Part] = deque()
        self.abandoned = False
        self._frame = item.frame
        if self._frame is not None:
            self._frame.retain()

    def decode(self, options: DecodeOptions, max_bytes: int) -> _Part:
        """Decode the next part; an exception is stored for the caller that takes the part."""
        try:
            decoder = self.item.decoder(options)
            columns, error = decoder.part(max_bytes)
        except BaseException as raised:  # the caller raises exceptions of any kind
            part = _Part(None, None, raised, is_last=True)
        else:
            part = _Part(columns, error, None, is_last=error is not None or decoder.finished)
        if part.is_last:
            self.release()
        return part

    def release(self) -> None:
        """Release the frame; nothing more is decoded after this."""
        frame, self._frame = self._frame, None
        if frame is not None:
            frame.release()


class DecodeAhead:
    """Decodes in a separate thread; see the module. All methods are called in the caller's thread.

    Arguments:
        options: how to decode.
        waiting: the next partitions, without the one that the caller is decoding. The code that removes a partition
            checks whether its item is claimed.
        lock: guards `waiting`.
    """

    def __init__(self, options: DecodeOptions, waiting: Iterable[PartitionState], lock: threading.RLock) -> None:
        self._options = options
        self._waiting = waiting
        self._waiting_lock = lock
        self._usable = helper_threads.processors() > 1  # with a single processor there is nothing to gain
        self._max_bytes = 0
        self.claimed: dict[object, _Task] = {}
        """The claimed items, whose parts must be taken with `take`."""
        self._unfinished: _Task | None = None
        """The task with parts left to decode."""
        self._lock = loop_lock()
        self._news = threading.Lock()
        """Locked while nothing has changed since the caller last looked."""
        self._news.acquire()
        self._worker: threading.Thread | None = None
        """The thread that is decoding, or about to. Any other thread that still starts ends at once."""
        self._has_begun = False
        self._ready = 0
        """The total size of the columns that are ready, in bytes."""

    @property
    def partition(self) -> PartitionState | None:
        """A partition with a part that is ready, or None."""
        return next((task.state for task in list(self.claimed.values()) if task.parts), None)

    def is_ready(self, item: object) -> bool:
        """Return whether `take` can return the next part of a claimed item without waiting."""
        task = self.claimed.get(item)
        return task is None or bool(task.parts)

    def offer(self, max_bytes: int) -> None:
        """Continue with the claimed item or claim another, if that is worthwhile and not enough parts are ready.

        Arguments:
            max_bytes: approximate size of a part's columns, in bytes.
        """
        if self._worker is not None or not self._usable or self._ready >= _AHEAD * max_bytes:
            return
        self._max_bytes = max_bytes
        task = self._unfinished or self._claim()
        if task is None:
            return
        worker = threading.Thread(target=self._run, args=(task,), name="kafka-decode", daemon=False)
        self._has_begun = False
        try:
            self._worker = worker
            worker.start()
        except RuntimeError:  # no thread can be started, so the caller decodes everything
            self._worker, self._usable = None, False
        except BaseException:  # an interrupt, before or after the thread started
            with self._lock:
                if not self._has_begun:
                    self._worker = None
            raise

    def take(self, item: PartitionResponse) -> DecodedFetch | None:
        """Wait for the next part of a claimed item, and return it as `PartitionResponse.decode` does.

        Returns None if a signal handler has abandoned the item in the meantime.
        """
        task, part = self.claimed.get(item), None
        while True:
            with self._lock:
                if task is None or task.abandoned:
                    return None
                if task.parts:
                    part = task.parts.popleft()
                    self._ready -= part.nbytes
                if part is not None or self._worker is None:
                    break
            interruptible.acquire(self._news, float("inf"))
        if part is None:  # the thread ended before decoding it
            part = task.decode(self._options, self._max_bytes)
            if part.is_last:
                self._unfinished = None
        if part.is_last:
            self.claimed.pop(item, None)
        if part.raised is not None:
            raise part.raised
        assert part.columns is not None
        return item.accept(part.columns, part.error, part.is_last)

    def abandon(self, item: object) -> None:
        """Drop an item that is no longer needed, after finishing the part that is being decoded."""
        task = self.claimed.pop(item, None)
        if task is None:
            return
        with self._lock:
            task.abandoned = True
            self._ready -= sum(part.nbytes for part in task.parts)
            task.parts.clear()
            if self._unfinished is not task or self._worker is not None:
                return  # the item is finished, or the thread will release it
            self._unfinished = None
        task.release()

    def _claim(self) -> _Task | None:
        """Claim the next item of the first partition for which decoding ahead is worthwhile."""
        with self._waiting_lock:
            for state in self._next_waiting():
                buffer = state.buffer
                item = buffer.items[0] if buffer.current is None and buffer.items and not state.paused else None
                if (
                    isinstance(item, PartitionResponse)
                    and item.packed_bytes >= _WORTH_BYTES
                    and item not in self.claimed
                ):
                    task = self.claimed[item] = self._unfinished = _Task(state, item)
                    return task
        return None

    def _next_waiting(self) -> list[PartitionState]:
        """Return the first waiting partitions; a signal handler may remove some at any point."""
        while True:
            with contextlib.suppress(RuntimeError):  # raised if the queue changes during iteration
                return list(itertools.islice(self._waiting, _LOOKED_AT))

    def _run(self, task: _Task | None) -> None:
        """Decode until enough parts are ready or none are left. Runs in a separate thread."""
        me = threading.current_thread()
        with self._lock:
            if self._worker is not me:
                return
            self._has_begun = True
        try:
            self._decode(task)
        except BaseException as error:  # raised not by the decoder, but by this class or because memory ran out
            self._failed(error)
        finally:
            with self._lock:
                if self._worker is me:  # otherwise this thread has stopped already, and another may have started
                    self._worker = None
                self._tell_caller()

    def _decode(self, task: _Task | None) -> None:
        while task is not None:
            part = task.decode(self._options, self._max_bytes)
            with self._lock:
                if task.abandoned:
                    task.release()
                else:
                    task.parts.append(part)
                    self._ready += part.nbytes
                if part.is_last or task.abandoned:
                    self._unfinished = task = None
                if self._ready >= _AHEAD * self._max_bytes:
                    self._worker = None
                self._tell_caller()
                if self._worker is None:
                    return
            task = task or self._claim()

    def _failed(self, error: BaseException) -> None:
        """Pass the error to the caller with the current item, because one of its parts may be lost."""
        with self._lock:
            task, self._unfinished = self._unfinished, None
            if task is not None and not task.abandoned:
                task.parts.append(_Part(None, None, error, is_last=True))
        if task is None:
            log.error("decoding ahead has stopped for the moment", exc_info=error)
        else:
            task.release()

    def _tell_caller(self) -> None:
        """Notify the caller of a change. Called with the lock held."""
        if self._news.locked():
            self._news.release()


class PositionListener(Protocol):
    """The listener of `ResponseOpener`, for positions that are not in the log. Called in the caller's thread."""

    def position_out_of_range(self, state: PartitionState) -> None:
        """Called if the position is not, or is no longer, in the broker's log and there is a reset policy."""

    def topic_replaced(self, state: PartitionState) -> None:
        """Called before the first records from a topic that was deleted and recreated are returned."""

    def is_topic_replaced(self, state: PartitionState) -> bool:
        """Return whether the position belongs to a deleted topic, and is meaningless in the topic that replaced it."""


class ResponseOpener:
    """Opens the next response for a partition: decodes it, takes parts decoded ahead, or returns its error.

    Used in the caller's thread.

    Arguments:
        decoding: how to decode.
        ahead: decodes in a separate thread.
        lock: the buffer's lock, which is not held while decoding.
        resets: whether there is a reset policy.
        listener: handles positions that are not in the log.

    Attributes:
        opening: the item being opened. A signal handler that seeks makes the item useless, but does not drop it.
    """

    def __init__(
        self,
        decoding: DecodeOptions,
        ahead: DecodeAhead,
        lock: threading.RLock,
        resets: bool,
        listener: PositionListener,
    ) -> None:
        self._decoding = decoding
        self._ahead = ahead
        self._lock = lock
        self._resets = resets
        self._listener = listener
        self.opening: PartitionResponse | DecodedFetch | None = None

    def is_awaited(self, state: PartitionState) -> bool:
        """Return whether a partition is being decoded ahead but none of its parts are ready."""
        buffer = state.buffer
        item = buffer.items[0] if buffer.current is None and buffer.items else None
        return item is not None and item in self._ahead.claimed and not self._ahead.is_ready(item)

    def open(self, state: PartitionState, max_bytes: int, ahead_bytes: int, has_before: bool) -> Exception | None:
        """Open the next response as ``state.buffer.current``, or return its error.

        If a signal handler seeks before or during this call, nothing is opened and None is returned.

        Arguments:
            max_bytes: approximate size of the columns to decode, in bytes.
            ahead_bytes: the same for the part to decode ahead in the meantime; 0: no part.
            has_before: whether the call returns records from earlier responses, in which case an error has to wait.
        """
        buffer = state.buffer
        if not buffer.items:
            return None
        item = self.opening = buffer.items[0]  # no call since the check, so no signal handler can run in between
        try:
            if isinstance(item, PartitionResponse) and item.error is not None:
                return item.error if has_before else self._open_error(state, item, item.error)
            opened = self._columns_of(item, max_bytes, ahead_bytes)
            is_read = not isinstance(item, PartitionResponse) or item.is_decoded
            with self._lock:
                # No signal handler can run between this check and popleft().
                is_useful = buffer.items[0] is item if buffer.items else False
                if is_useful:
                    buffer.current = opened
                    if is_read:
                        buffer.items.popleft()
        finally:
            self.opening = None
        if not is_useful and isinstance(item, PartitionResponse):
            item.drop()
        return None

    def _columns_of(
        self, item: PartitionResponse | DecodedFetch, max_bytes: int, ahead_bytes: int
    ) -> DecodedFetch | None:
        if isinstance(item, DecodedFetch):
            return item
        if item in self._ahead.claimed:
            return self._ahead.take(item)
        if ahead_bytes and item.packed_bytes:
            self._ahead.offer(ahead_bytes)
        return item.decode(self._decoding, max_bytes)

    def _open_error(self, state: PartitionState, item: PartitionResponse, error: Exception) -> Exception | None:
        """Return the broker's error for a partition, unless a policy handles it."""
        out_of_range = isinstance(error, OffsetOutOfRangeError)
        if isinstance(error, TopicReplaced) or (out_of_range and self._listener.is_topic_replaced(state)):
            self._listener.topic_replaced(state)
            return None
        if self._resets and out_of_range:
            self._listener.position_out_of_range(state)
            return None
        if not item.sticky:
            with self._lock:
                items = state.buffer.items
                if items and items[0] is item:
                    items.popleft()
        return error
