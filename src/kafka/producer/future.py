"""The future of a record: a view of the batch that contains the record.

The records of a batch share one lock, one event and one result, so that a future costs next to nothing. Compiled by
Cython; the plain variant behaves the same. `future_of` is declared in future.pxd.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from kafka.errors import IllegalArgumentError, IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.producer.delivery.callbacks import ON_BOTH, ON_FAILURE, ON_SUCCESS, run_callbacks
from kafka.producer.delivery.record_metadata import RecordMetadata as RecordMetadata

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.producer.delivery.callbacks import Callbacks, record_metadata
else:
    from kafka.producer.delivery.callbacks import Callbacks, record_metadata

if TYPE_CHECKING:
    Seconds = float | None
    """A name that Cython does not know, so that it accepts any object; `seconds` rejects those that are not numbers."""


class BatchFields:
    """The fields of a batch that its records' futures access; the compiled variant accesses them as C fields.

    Attributes:
        builder: encodes the records while the batch is open.
        callbacks: callbacks of the records; None once the batch is done or split.
        named: the records whose partition the caller chose, as runs: the index of the first record of each run and the
            index after its last record; None if the partitioner chose all partitions.
        parts: the current places of records that were moved to other batches; None if no record was moved. Each run of
            records consists of the index of its first record, the batch, and that record's index in it.
    """


class QueueFields:
    """The fields of a partition's queue that are used for appending; the compiled variant accesses them as C fields.

    Attributes:
        open: the batch that accepts records (a `BatchFields`), or None.
    """


def seconds(given: Any) -> float | None:
    """Convert a timeout in seconds to a float; None means no limit. Raises `IllegalArgumentError` or `TypeError`."""
    if given is None:
        return None
    try:
        timeout = math.copysign(math.fabs(given), given)  # accepts what float() accepts, except text
    except (TypeError, ValueError):
        raise TypeError(f"a timeout is a number of seconds, or None, not {given!r}") from None
    if math.isnan(timeout):
        raise IllegalArgumentError(f"a timeout is a number of seconds, or None, not {given!r}")
    return timeout


class EndsWithLoop(Protocol):
    """An object that is notified if the event loop fails."""

    def loop_failed(self) -> None:
        """Handle the failure of the loop; all batches have failed."""


class LoopWaiter:
    """A coroutine that waits for a batch, on any event loop.

    Arguments:
        loop: the event loop on which the coroutine runs.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.arrived: asyncio.Future[None] = loop.create_future()

    def release(self) -> None:
        """Wake the coroutine. Any thread may call this."""
        if asyncio._get_running_loop() is self._loop:
            if not self.arrived.done():
                self.arrived.set_result(None)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrive)

    def _arrive(self) -> None:
        if not self.arrived.done():
            self.arrived.set_result(None)


@cython.no_gc  # a future references only its batch, which drops its callbacks when done, so no cycle persists
@cython.freelist(1024)
@cython.cclass
class FutureRecordMetadata:
    """The future of one record that is being sent. It is cheap to create and to drop.

    `get`, the callbacks and `await` return a `RecordMetadata` or the error. Callbacks of a `KafkaProducer` run in a
    thread of that producer, in order within a partition; they may run for a long time, block, and call any client.
    Callbacks of an `AsyncKafkaProducer` run on its event loop. A callback that is added to a completed future runs
    immediately, in the caller's thread.
    """

    _batch: BatchFields
    _index: cython.Py_ssize_t
    _timestamp_ms: cython.longlong
    _key_size: cython.Py_ssize_t
    _value_size: cython.Py_ssize_t
    _header_size: cython.Py_ssize_t

    @property
    def is_done(self) -> bool:
        """Whether the record has been delivered or has failed."""
        done: bool = self.place()[0].done
        return done

    @property
    def value(self) -> RecordMetadata | None:
        """The record's metadata, or None if the record has not been delivered."""
        batch, index = self.place()
        return self._metadata(batch, index) if batch.done and batch.error is None else None

    @property
    def exception(self) -> KafkaError | None:
        """The error, or None if the record has not failed."""
        batch, index = self.place()
        if not batch.done or batch.error is None:
            return None
        batch.look()
        error: KafkaError | None = batch.error_of(index)
        return error

    @property
    def _produce_future(self) -> Any:
        """The batch; tracing packages read its `topic_partition` under this name."""
        return self.place()[0]

    def succeeded(self) -> bool:
        """Return whether the record has been delivered; False while it is in flight. Does not wait."""
        batch, _ = self.place()
        batch.look()
        return batch.done and batch.error is None

    def failed(self) -> bool:
        """Return whether the record has failed; False while it is in flight. Does not wait."""
        return self.exception is not None

    def retriable(self) -> bool:
        """Return whether the record has failed with an error for which a retry may succeed."""
        error = self.exception
        return error is not None and error.retriable

    def get(self, timeout: Seconds = None) -> RecordMetadata:
        """Wait for the record to be acknowledged and return its metadata.

        Arguments:
            timeout: maximum wait in seconds; None waits until the record is delivered or has failed, at most
                `delivery_timeout_ms`.

        Raises `KafkaTimeoutError` when the time is up, `TypeError` or `IllegalArgumentError` for an invalid timeout,
        and the record's error if it was not delivered.
        """
        batch, index = self.place()
        while not batch.done:
            if batch.owner.on_own_loop():
                raise IllegalStateError(
                    "get() on the producer's own event loop would wait for itself; use add_callback() or await"
                )
            batch.owner.check_may_wait()
            timeout = seconds(timeout)
            if not batch.wait(timeout):
                why: Exception | None = batch.owner.obstacle(batch)
                raise KafkaTimeoutError(
                    f"the record for {batch.name} was not acknowledged within {timeout or 0:g} seconds; it is still on "
                    "its way" + ("" if why is None else f": {why}")
                ) from why
            batch, index = self.place()
        if batch.error is not None:
            batch.look()
            raise batch.error_of(index).with_traceback(None)
        return self._metadata(batch, index)

    def add_callback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f(*args, record_metadata, **kwargs)`` once the record is delivered; returns this future."""
        self._add(ON_SUCCESS, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def add_errback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f(*args, error, **kwargs)`` if the record fails; returns this future."""
        self._add(ON_FAILURE, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def add_both(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f`` on success or failure, with the `RecordMetadata` or the error last; returns this future.

        Arguments:
            f: the function to call; see the class for the thread.
            args: the first positional arguments for the function.
            kwargs: the keyword arguments for the function.
        """
        self._add(ON_BOTH, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def observe(self, f: Callable[[Any], object]) -> None:
        """Call a function as `add_both` does, but without marking a failure as seen.

        Arguments:
            f: called with the `RecordMetadata` or the error.
        """
        self._add(ON_BOTH, f, False)

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        """Wait on an event loop, which may be a different loop from the producer's."""
        batch, _ = self.place()
        while not batch.done:
            waiter = LoopWaiter(asyncio.get_running_loop())
            if not batch.add_waiter(waiter):
                yield from waiter.arrived
            batch, _ = self.place()
        return self.get(0)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a FutureRecordMetadata belongs to its producer, so it cannot be pickled or copied; what get() returns can"
        )

    def place(self) -> tuple[Any, int]:
        """Return the batch that now contains the record, and its index there."""
        if self._batch.parts is None:  # type: ignore[attr-defined]  # in future.pxd
            return self._batch, self._index
        batch: Any = self._batch
        place: tuple[Any, int] = batch.locate(self._index)
        return place

    @cython.cfunc
    def _add(self, when: cython.int, function: object, looks: cython.bint = True) -> object:
        """Store a callback until the batch is done, or call it now."""
        callbacks: Callbacks | None = self._batch.callbacks  # type: ignore[attr-defined]  # in future.pxd
        if cython.compiled and when == ON_SUCCESS and callbacks is not None:
            # Nothing here releases the GIL, so the batch cannot complete in between.
            self._keep(callbacks, self._index, when, function)
            return None
        batch: Any = self._batch
        index: cython.Py_ssize_t = self._index
        while True:
            with batch.owner.lock:
                if looks and when != ON_SUCCESS:
                    batch.look()
                callbacks = batch.callbacks
                if callbacks is not None:
                    self._keep(callbacks, index, when, function)
                    return None
            if batch.done:
                break
            batch, index = self.place()
        callbacks = Callbacks()
        self._keep(callbacks, index, when, function)
        run_callbacks(batch, callbacks)
        return None

    @cython.cfunc
    def _keep(self, callbacks: Callbacks, index: cython.Py_ssize_t, when: cython.int, function: object) -> cython.void:
        """Add a callback for the record at `index` to the callbacks of its batch."""
        callbacks.add(function, when, index, self._timestamp_ms, self._key_size, self._value_size, self._header_size)

    @cython.cfunc
    def _metadata(self, batch: object, index: cython.Py_ssize_t) -> object:
        place: Any = batch
        topic, partition = place.topic_partition
        return record_metadata(
            topic,
            partition,
            place.topic_partition,
            place.base_offset,
            place.log_append_time,
            index,
            self._timestamp_ms,
            self._key_size,
            self._value_size,
            self._header_size,
        )


def future_of(
    batch: BatchFields,
    index: cython.Py_ssize_t,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    header_size: cython.Py_ssize_t,
) -> FutureRecordMetadata:
    """Return the future of the record at `index` in a batch."""
    future: FutureRecordMetadata = FutureRecordMetadata.__new__(FutureRecordMetadata)
    future._batch = batch
    future._index = index
    future._timestamp_ms = timestamp_ms
    future._key_size = -1 if key is None else len(key)
    future._value_size = -1 if value is None else len(value)
    future._header_size = header_size
    return future
