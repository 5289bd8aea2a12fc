"""The types of `send_arrow()`: the data that it accepts, and the future for all rows of one call."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn, Protocol

from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.net.interruptible import Latch
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.core import ProducerCore
from kafka.producer.future import LoopWaiter
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)


class ArrowStream(Protocol):
    """A table or stream from pyarrow, polars, pandas, DuckDB, arro3 or another library."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule for an ``ArrowArrayStream``."""


class ArrowArray(Protocol):
    """An Arrow array or record batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        """Return two capsules: one for an ``ArrowSchema``, the other for an ``ArrowArray``."""


ArrowData = ArrowStream | ArrowArray | Mapping[str, Any]
"""A table, record batch or stream of any library with Arrow's interface for Python, or columns by name."""


class OffsetRange(NamedTuple):
    """A range of consecutive records in a partition; `first` is -1 if the broker did not return the offset."""

    first: int
    records: int


class ArrowResult(NamedTuple):
    """The result of one `send_arrow` call: the number of rows, and their offsets by partition, in sending order."""

    rows: int
    offsets: dict[TopicPartition, list[OffsetRange]]


class FutureArrowResult:
    """The future for all rows of one `send_arrow` call: it resolves to an `ArrowResult`, or to the first failure.

    Arguments:
        core: the producer.
        batches: all batches that contain the rows.
    """

    def __init__(self, core: ProducerCore, loop: asyncio.AbstractEventLoop, batches: Sequence[ProducerBatch]) -> None:
        self._core = core
        self._batches = batches
        self._settled = False
        self._callbacks: dict[Callable[[], object], None] = {}
        """The waiters in order.

        Not guarded by a lock, which a signal handler could request while its thread holds it.
        """
        self._ended = Latch()
        """Released when all batches have been delivered or have failed, or if the loop is stopped earlier."""
        self._watch: asyncio.Task[None] | None = None
        core.end_with_loop(self)
        with contextlib.suppress(RuntimeError):  # the loop has failed and is closed
            loop.call_soon_threadsafe(self._begin_watch)

    @property
    def is_done(self) -> bool:
        """Whether every row has been delivered or has failed."""
        return self._settled or self._all_done()

    @property
    def value(self) -> ArrowResult | None:
        """The result, or None if not all rows have been delivered."""
        return self._result() if self.is_done and self._error() is None else None

    @property
    def exception(self) -> KafkaError | None:
        """The first failure, or None if no row has failed so far."""
        if not self.is_done:
            return None
        self._look()
        return self._error()

    def succeeded(self) -> bool:
        """Return whether all rows have been delivered; False while some are in flight. Does not wait."""
        self._look()
        return self.is_done and self._error() is None

    def failed(self) -> bool:
        """Return whether every row has been delivered or has failed, and at least one has failed."""
        return self.exception is not None

    def get(self, timeout: float | None = None) -> ArrowResult:
        """Wait for all rows to be acknowledged.

        Arguments:
            timeout: maximum wait in seconds.

        Raises `KafkaTimeoutError` when the time is up. If rows have failed, raises the first failure, with the number
        of failed rows.
        """
        if self._all_done():
            return self._outcome()
        if self._core.buffer.on_own_loop():
            raise IllegalStateError("get() on the producer's own event loop would wait for itself; use await")
        self._core.buffer.check_may_wait()
        if not self._ended.wait(timeout):
            waiting = (batch for batch in self._leaves() if not batch.done)
            why = next((each for each in map(self._core.buffer.obstacle, waiting) if each is not None), None)
            raise KafkaTimeoutError(
                f"the rows were not all acknowledged within {timeout or 0:g} seconds; they are still on their way"
                + ("" if why is None else f": {why}")
            ) from why
        return self._outcome()

    def add_callback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureArrowResult:
        """Call ``f(*args, arrow_result, **kwargs)`` when all rows are delivered; returns this future."""
        return self._add(partial(f, *args, **kwargs), None)

    def add_errback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureArrowResult:
        """Call ``f(*args, error, **kwargs)`` once rows have failed and none is in flight; returns this future."""
        return self._add(None, partial(f, *args, **kwargs))

    def add_both(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureArrowResult:
        """Call ``f`` as `add_callback` does if all rows are delivered, and as `add_errback` does otherwise.

        Returns this future.
        """
        return self._add(partial(f, *args, **kwargs), partial(f, *args, **kwargs))

    def __await__(self) -> Generator[Any, None, ArrowResult]:
        """Wait on an event loop, which may be a different loop from the producer's."""
        if not self.is_done:
            waiter = LoopWaiter(asyncio.get_running_loop())
            self._ended.add(waiter)
            yield from waiter.arrived
        return self._outcome()

    def _add(
        self, on_success: Callable[[ArrowResult], object] | None, on_failure: Callable[[KafkaError], object] | None
    ) -> FutureArrowResult:
        if on_failure is not None:
            self._look()

        def call() -> None:
            error = self._error()
            try:
                if error is None and on_success is not None:
                    on_success(self._result())
                elif error is not None and on_failure is not None:
                    on_failure(error)
            except Exception:
                log.exception("a callback of send_arrow() raised")

        if self._all_done():
            call()
            return self
        self._callbacks[call] = None
        if self._settled and self._callbacks.pop(call, self) is None:
            call()
        return self

    def _begin_watch(self) -> None:
        """Start waiting for all batches, on the loop."""
        self._watch = asyncio.get_running_loop().create_task(self._core.settle(self._batches, self._on_settled))
        self._watch.add_done_callback(self._end_watch)

    def _end_watch(self, watch: asyncio.Task[None]) -> None:
        self._watch = None
        self._core.ended(self)
        self._ended.set()

    def _on_settled(self) -> None:
        self._settled = True
        for call in list(self._callbacks):
            if self._callbacks.pop(call, self) is None:
                self._core.callbacks.submit(call)

    def loop_failed(self) -> None:
        """Handle a failure of the loop: no task will finish, and all batches have failed. Any thread may call this."""
        self._on_settled()
        self._ended.set()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a FutureArrowResult belongs to its producer, so it cannot be pickled or copied; what get() returns can"
        )

    def _all_done(self) -> bool:
        """Return whether no batch is in flight; also works in a forked child, which receives no notifications."""
        return all(batch.done for batch in self._leaves())

    def _look(self) -> None:
        for batch in self._leaves():
            batch.look()

    def _leaves(self) -> Iterator[ProducerBatch]:
        """Return the batches that contain the rows now, after any splits."""
        for batch in self._batches:
            yield from batch.leaves()

    def _outcome(self) -> ArrowResult:
        if not self.is_done:
            raise IllegalStateError("the producer's loop was stopped before the rows were acknowledged")
        self._look()
        error = self._error()
        if error is not None:
            raise error
        return self._result()

    def _error(self) -> KafkaError | None:
        failed = [batch for batch in self._leaves() if batch.error is not None]
        if not failed or failed[0].error is None:
            return None
        first = failed[0].error
        rows = sum(batch.count for batch in failed)
        total = sum(batch.count for batch in self._leaves())
        error = type(first)(
            f"{rows} of {total} rows were not delivered, the first of them to {failed[0].name}: {first}"
        )
        error.__cause__ = first
        return error

    def _result(self) -> ArrowResult:
        offsets: dict[TopicPartition, list[OffsetRange]] = {}
        for batch in self._leaves():
            ranges = offsets.setdefault(batch.topic_partition, [])
            if ranges and batch.base_offset >= 0 and ranges[-1].first + ranges[-1].records == batch.base_offset:
                ranges[-1] = OffsetRange(ranges[-1].first, ranges[-1].records + batch.count)
            else:
                ranges.append(OffsetRange(batch.base_offset, batch.count))
        return ArrowResult(sum(batch.count for batch in self._leaves()), offsets)
