"""Passes Arrow batches between the threads of a task.

Bounded queues between threads let fetching, producing and Spark's pipe run at the same time. Small batches are merged,
because each batch costs its receiver a fixed amount of work.
"""

import collections
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import pyarrow

Item = TypeVar("Item")


class Channel(Generic[Item]):
    """A bounded queue between two threads; `put` blocks while it is full.

    Arguments:
        depth: maximum number of items in the queue.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._items: collections.deque[Item] = collections.deque()
        self._changed = threading.Condition()
        self._ended = False
        self._abandoned = False
        self._error: BaseException | None = None

    def put(self, item: Item) -> bool:
        """Add an item; return False if the channel has been abandoned."""
        with self._changed:
            while True:
                if len(self._items) < self._depth or self._abandoned:
                    break
                self._changed.wait()
            if self._abandoned:
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def end(self, error: BaseException | None = None) -> None:
        """Mark the end of the items. The reader gets ``error``, if any, after the remaining items."""
        with self._changed:
            self._ended = True
            self._error = error
            self._changed.notify_all()

    def abandon(self) -> None:
        """Stop reading, and drop the remaining items."""
        with self._changed:
            self._abandoned = True
            self._items.clear()
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Item]:
        while True:
            with self._changed:
                while True:
                    if self._items or self._ended:
                        break
                    self._changed.wait()
                if not self._items:
                    break
                item = self._items.popleft()
                self._changed.notify_all()
            yield item
        if self._error is not None:
            raise self._error


def prefetched(make: Callable[[], Iterator[Item]], depth: int) -> Iterator[Item]:
    """Yield the items of ``make()``, produced in a separate thread up to ``depth`` items ahead of the reader.

    When this iterator is exhausted or closed, the thread has ended and the iterator of ``make`` is closed.
    """
    channel: Channel[Item] = Channel(depth)

    def work() -> None:
        error: BaseException | None = None
        items = make()
        try:
            for item in items:
                if not channel.put(item):
                    break
        except BaseException as raised:
            error = raised
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
            channel.end(error)

    worker = threading.Thread(target=work, name="kafka-spark-fetch", daemon=True)
    worker.start()
    try:
        yield from channel
    finally:
        channel.abandon()
        worker.join()


def coalesced(batches: Iterable["pyarrow.RecordBatch"], at_least: int) -> Iterator[list["pyarrow.RecordBatch"]]:
    """Yield the batches in order, in lists of at least this many bytes each. Only the last list may be smaller.

    A batch that is large enough becomes its own list, and ends the list before it. Merging a list copies its batches,
    which is only worthwhile for small ones.
    """
    held: list[pyarrow.RecordBatch] = []
    size = 0
    for batch in batches:
        if held and batch.nbytes >= at_least:
            yield held
            held, size = [], 0
        held.append(batch)
        size += batch.nbytes
        if size >= at_least:
            yield held
            held, size = [], 0
    if held:
        yield held
