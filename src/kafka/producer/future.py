"""The future of a record: a view of the batch that the record is in.

A batch has one lock, one event and one outcome; a record has none of these, so that a future costs next to nothing.
Compiled by Cython, equal (but for the speed) when it runs plain. `future_of` is declared in future.pxd.
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
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.producer.delivery.callbacks import Callbacks, record_metadata
else:
    from kafka.producer.delivery.callbacks import Callbacks, record_metadata

if TYPE_CHECKING:
    Seconds = float | None
    """A name that Cython does not know, so that it takes any object: what is no number is refused by `seconds`."""


class BatchFields:
    """What each of its records asks of a batch: compiled, it need not be looked up by name.

    Attributes:
        builder: takes the records while the batch is open.
        callbacks: of records; None once the batch is done or split.
        named: which records go to this partition because the caller named it, as runs: the first index of each and the
            index after its last; None if the partitioner chose for all.
        parts: where the records are now if they were moved to other batches; None if they were not. Each run of
            records has the index of its first record, the batch, and the index of that record there.
    """


class QueueFields:
    """What each record asks of the queue of its partition; compiled, likewise.

    Attributes:
        open: the batch that takes records (a `BatchFields`), or None.
    """


def seconds(given: Any) -> float | None:
    """A time to wait as a float, None for as long as it takes; raises `IllegalArgumentError` or `TypeError`."""
    if given is None:
        return None
    try:
        timeout = math.copysign(math.fabs(given), given)  # takes what float() takes, but no text
    except (TypeError, ValueError):
        raise TypeError(f"a timeout is a number of seconds, or None, not {given!r}") from None
    if math.isnan(timeout):
        raise IllegalArgumentError(f"a timeout is a number of seconds, or None, not {given!r}")
    return timeout


class EndsWithLoop(Protocol):
    """What waits for something on the loop."""

    def loop_failed(self) -> None:
        """Nothing runs there any more, and all batches have failed."""


class LoopWaiter:
    """A coroutine that waits for a batch, on any event loop.

    Arguments:
        loop: where it runs.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.arrived: asyncio.Future[None] = loop.create_future()

    def release(self) -> None:
        """Let it go on; from any thread."""
        if asyncio._get_running_loop() is self._loop:
            if not self.arrived.done():
                self.arrived.set_result(None)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrive)

    def _arrive(self) -> None:
        if not self.arrived.done():
            self.arrived.set_result(None)


@cython.no_gc  # it refers to its batch alone, which gives up its callbacks when it is done: no cycle lasts
@cython.freelist(1024)
@cython.cclass
class FutureRecordMetadata:
    """What becomes of one record: a view of its batch, cheap to make and to drop.

    `get`, the callbacks and `await` give a `RecordMetadata` or the error. Callbacks of a `KafkaProducer` run in a
    thread of that producer, in order for a partition, and may take their time, wait, and call any client; those of an
    `AsyncKafkaProducer` run on its event loop. One that is added to a future that is done runs at once, in the
    caller's thread.
    """

    _batch: BatchFields
    _index: cython.Py_ssize_t
    _timestamp_ms: cython.longlong
    _key_size: cython.Py_ssize_t
    _value_size: cython.Py_ssize_t
    _header_size: cython.Py_ssize_t

    @property
    def is_done(self) -> bool:
        """Whether the record is delivered or has failed."""
        done: bool = self.place()[0].done
        return done

    @property
    def value(self) -> RecordMetadata | None:
        """Where the record is, or None if it is not delivered (yet)."""
        batch, index = self.place()
        return self._metadata(batch, index) if batch.done and batch.error is None else None

    @property
    def exception(self) -> KafkaError | None:
        """Why the record failed, or None if it has not (yet)."""
        batch, index = self.place()
        if not batch.done or batch.error is None:
            return None
        batch.look()
        error: KafkaError | None = batch.error_of(index)
        return error

    @property
    def _produce_future(self) -> Any:
        """The batch, whose `topic_partition` packages that trace producers read under this name."""
        return self.place()[0]

    def succeeded(self) -> bool:
        """Whether the record is delivered."""
        batch, _ = self.place()
        batch.look()
        return batch.done and batch.error is None

    def failed(self) -> bool:
        """Whether the record has failed."""
        return self.exception is not None

    def retriable(self) -> bool:
        """Whether the record has failed with an error after which sending it again may help."""
        error = self.exception
        return error is not None and error.retriable

    def get(self, timeout: Seconds = None) -> RecordMetadata:
        """Wait for the record to be acknowledged and return where it is.

        Arguments:
            timeout: longest wait in seconds; None waits until the record is delivered or has failed, which it does at
                the latest after `delivery_timeout_ms`.

        Raises `KafkaTimeoutError` when the time is up, `TypeError` or `IllegalArgumentError` for a time that is no
        number, and else what befell the record.
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
        """Call ``f(*args, record_metadata, **kwargs)`` when the record is delivered; returns this future."""
        self._add(ON_SUCCESS, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def add_errback(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f(*args, error, **kwargs)`` when the record has failed; returns this future."""
        self._add(ON_FAILURE, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def add_both(self, f: Callable[..., object], *args: Any, **kwargs: Any) -> FutureRecordMetadata:
        """Call ``f`` in either case, with the `RecordMetadata` or the error last; returns this future.

        Arguments:
            f: what is called, in the thread that `add_callback` names.
            args: handed to it first.
            kwargs: handed to it by keyword.
        """
        self._add(ON_BOTH, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def observe(self, f: Callable[[Any], object]) -> None:
        """Like `add_both`, for mere observers: the call does not mark a failure as seen.

        Arguments:
            f: called with the `RecordMetadata` or the error.
        """
        self._add(ON_BOTH, f, False)

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        """Wait on an event loop, which need not be the producer's."""
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
        """The batch that the record is in now, and its index there."""
        if self._batch.parts is None:  # type: ignore[attr-defined]  # in future.pxd
            return self._batch, self._index
        batch: Any = self._batch
        place: tuple[Any, int] = batch.locate(self._index)
        return place

    @cython.cfunc
    def _add(self, when: cython.int, function: object, looks: cython.bint = True) -> object:
        """Keep a callback until the batch is done, or call it now."""
        callbacks: Callbacks | None = self._batch.callbacks  # type: ignore[attr-defined]  # in future.pxd
        if cython.compiled and when == ON_SUCCESS and callbacks is not None:
            # Nothing here gives up the interpreter's lock, so that the batch cannot be completed in between.
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
        """Add a callback to those of a batch, in which the record is `index`-th."""
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
    """The future of the record that is `index`-th in a batch."""
    future: FutureRecordMetadata = FutureRecordMetadata.__new__(FutureRecordMetadata)
    future._batch = batch
    future._index = index
    future._timestamp_ms = timestamp_ms
    future._key_size = -1 if key is None else len(key)
    future._value_size = -1 if value is None else len(value)
    future._header_size = header_size
    return future
