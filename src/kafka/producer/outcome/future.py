"""The future of a record: a view of the batch that the record is in.

A batch has one lock, one event and one outcome; a record has none of these, so that a future costs next to nothing.
Compiled by Cython, equal (but for the speed) when it runs plain.
"""

from __future__ import annotations

import array
import asyncio
import logging
from collections.abc import Callable, Generator
from functools import partial
from types import BuiltinMethodType, MethodType
from typing import Any

from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.producer.outcome.record_metadata import RecordMetadata

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython import array  # type: ignore[no-redef]  # the same module, with its C functions
    from cython.cimports.cpython.ref import Py_INCREF

__all__ = ["FutureRecordMetadata", "RecordMetadata", "append_unlocked", "append_locked"]

log = logging.getLogger(__name__)

ON_SUCCESS = 1
ON_FAILURE = 2
ON_BOTH = 3
_IS_TUPLE = cython.declare(
    cython.bint,
    RecordMetadata.__basicsize__ == tuple.__basicsize__
    and RecordMetadata.__itemsize__ == tuple.__itemsize__
    and not RecordMetadata.__dictoffset__
    and not RecordMetadata.__weakrefoffset__,
)
"""Whether a `RecordMetadata` has a tuple's layout in memory."""
_ROW = cython.declare(cython.Py_ssize_t, 7)
"""How many numbers a callback is kept in, see `Callbacks`."""


@cython.cclass
class Callbacks:
    """The callbacks of a batch's records, in the order in which they were added.

    What they are to be told of a record is kept in rows of numbers, not in its future: most programs drop that at once,
    and the next one is made from its memory, which is still in the caches.

    Attributes:
        functions: what is called, once for any number of records in a row.
        rows: of each callback the place of its function, when it is called, and of the record the index in the batch,
            the timestamp, and the sizes of key, value and headers.
    """

    functions = cython.declare(list, visibility="public")
    rows = cython.declare(array.array, visibility="public")

    def __init__(self) -> None:
        self.functions = []
        self.rows = array.array("q")

    @cython.cfunc
    def add(
        self,
        function: object,
        when: cython.longlong,
        index: cython.longlong,
        timestamp_ms: cython.longlong,
        key_size: cython.longlong,
        value_size: cython.longlong,
        header_size: cython.longlong,
    ) -> cython.void:
        """Add one of a record that is `index`-th in the batch."""
        functions: list[Any] = self.functions
        number: cython.Py_ssize_t = len(functions) - 1
        if number < 0 or not _is_same(function, functions[number]):
            if cython.compiled and number < 0:
                # The garbage collector would look at every function of every batch that is being filled, to no end: a
                # batch gives up its callbacks when it is done, which ends all cycles. (The C functions of future.pxd
                # and of `array` are known to the compiler alone.)
                PyObject_GC_UnTrack(functions)  # type: ignore[name-defined]  # noqa: F821
            functions.append(function)
            number += 1
        if cython.compiled:
            at: cython.Py_ssize_t = len(self.rows)
            array.resize_smart(self.rows, at + _ROW)  # type: ignore[attr-defined]
            row: cython.pointer[cython.longlong] = self.rows.data.as_longlongs + at
            row[0] = number
            row[1] = when
            row[2] = index
            row[3] = timestamp_ms
            row[4] = key_size
            row[5] = value_size
            row[6] = header_size
        else:
            self.rows.extend((number, when, index, timestamp_ms, key_size, value_size, header_size))

    def hand_over(self, batch: Any) -> None:
        """Give them to the parts that a batch was split into."""
        for at in range(0, len(self.rows), _ROW):
            row: Any = self.rows[at : at + _ROW]
            number, when, index, timestamp_ms, key_size, value_size, header_size = row
            part, index = batch.locate(index)
            given: Callbacks = part.callbacks
            given.add(self.functions[number], when, index, timestamp_ms, key_size, value_size, header_size)


@cython.cclass
class BatchState:
    """What each of its records asks of a batch: compiled, it need not be looked up by name.

    Attributes:
        builder: takes the records, as long as the batch is open.
        callbacks: of records; None once the batch is done or split.
        parts: the batches that it was split into, each with the index of its first record; else None.
    """

    __weakref__: object
    builder = cython.declare(object, visibility="public")
    callbacks = cython.declare(Callbacks, visibility="public")
    parts = cython.declare(list, visibility="public")


@cython.cclass
class QueueState:
    """What each record asks of the queue of its partition; compiled, likewise.

    Attributes:
        open: the batch that takes records (a `BatchState`), or None.
    """

    __weakref__: object
    open = cython.declare(object, visibility="public")


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

    _batch: BatchState
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

    def get(self, timeout: float | None = None) -> RecordMetadata:
        """Wait for the record to be acknowledged and return where it is.

        Arguments:
            timeout: longest wait in seconds; None waits until the record is delivered or has failed, which it does at
                the latest after `delivery_timeout_ms`.

        Raises `KafkaTimeoutError` when the time is up, and else what befell the record.
        """
        batch, index = self.place()
        while not batch.done:
            if batch.owner.on_own_loop():
                raise IllegalStateError(
                    "get() on the producer's own event loop would wait for itself; use add_callback() or await"
                )
            if not batch.wait(timeout):
                raise KafkaTimeoutError(
                    f"the record for {batch.name} was not acknowledged within {timeout} seconds; it is still on its way"
                )
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
        """Call ``f`` in either case, with the `RecordMetadata` or the error last; returns this future."""
        self._add(ON_BOTH, partial(f, *args, **kwargs) if args or kwargs else f)
        return self

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        """Wait on an event loop, which need not be the producer's."""
        batch, _ = self.place()
        while not batch.done:
            waiter = LoopWaiter(asyncio.get_running_loop())
            if not batch.add_waiter(waiter):
                yield from waiter.arrived
            batch, _ = self.place()
        return self.get(0)

    def place(self) -> tuple[Any, int]:
        """The batch that the record is in now, and its index there."""
        if self._batch.parts is None:
            return self._batch, self._index
        batch: Any = self._batch
        place: tuple[Any, int] = batch.locate(self._index)
        return place

    @cython.cfunc
    def _add(self, when: cython.int, function: object) -> object:
        """Keep a callback until the batch is done, or call it now."""
        callbacks: Callbacks | None = self._batch.callbacks
        if cython.compiled and when == ON_SUCCESS and callbacks is not None:
            # Nothing here gives up the interpreter's lock, so that the batch cannot be completed in between.
            self._keep(callbacks, self._index, when, function)
            return None
        batch: Any = self._batch
        index: cython.Py_ssize_t = self._index
        while True:
            lock: Any = batch.lock
            lock.acquire()
            try:
                if when != ON_SUCCESS:
                    batch.look()
                callbacks = batch.callbacks
                if callbacks is not None:
                    self._keep(callbacks, index, when, function)
                    return None
            finally:
                lock.release()
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
        return _record_metadata(
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


@cython.cfunc
def _is_same(function: Any, last: Any) -> cython.bint:
    """Whether two functions are one, or one method of one object, so that either can be kept in the other's place.

    `list.append` and the like are an object more each time they are asked for, and one that the garbage collector looks
    at: with many records under way it would take longer than all else.
    """
    if function is last:
        return True
    if type(function) is BuiltinMethodType:
        return type(last) is BuiltinMethodType and function == last
    if type(function) is MethodType:
        return type(last) is MethodType and function.__self__ is last.__self__ and function.__func__ is last.__func__
    return False


@cython.cfunc
def _record_metadata(
    topic: object,
    partition: object,
    topic_partition: object,
    base_offset: cython.longlong,
    log_append_time: cython.longlong,
    index: cython.Py_ssize_t,
    timestamp_ms: cython.longlong,
    key_size: cython.Py_ssize_t,
    value_size: cython.Py_ssize_t,
    header_size: cython.Py_ssize_t,
) -> object:
    offset: cython.longlong = base_offset + index if base_offset >= 0 else -1
    if log_append_time >= 0:
        timestamp_ms = log_append_time
    fields = (topic, partition, topic_partition, offset, timestamp_ms, None, key_size, value_size, header_size)
    if not cython.compiled or not _IS_TUPLE:
        return tuple.__new__(RecordMetadata, fields)  # a third of the time that the class's own constructor takes
    # Given the class, the tuple is what the constructor would make. It holds text and numbers alone, so that it is part
    # of no cycle: the garbage collector need not look at it, which would take longer than all else for somebody who
    # keeps what callbacks are given.
    Py_INCREF(RecordMetadata)  # as an instance of a class defined in Python holds it
    # names of future.pxd
    kind = cython.cast(cython.pointer(PyTypeObject), RecordMetadata)  # type: ignore[name-defined]  # noqa: F821
    Py_SET_TYPE(fields, kind)  # type: ignore[name-defined]  # noqa: F821
    PyObject_GC_UnTrack(fields)  # type: ignore[name-defined]  # noqa: F821
    return fields


def run_callbacks(batch: Any, callbacks: Callbacks) -> None:
    """Call the callbacks of records of a batch that is done, in their order; an `Exception` that one raises is logged.

    Raises the first of what else they raise (`SystemExit`, `KeyboardInterrupt`), once all have run.
    """
    exit_wanted: BaseException | None = None
    error: Any = batch.error
    place: Any = batch.topic_partition
    topic, partition = place  # once: asking a named tuple for an item takes longer than making the metadata
    base_offset: cython.longlong = batch.base_offset
    log_append_time: cython.longlong = batch.log_append_time
    functions: list[Any] = callbacks.functions
    rows: array.array[int] = callbacks.rows
    row: cython.pointer[cython.longlong]
    at: cython.Py_ssize_t
    for at in range(0, len(rows), _ROW):
        # The array's own memory, of which the compiler alone knows.
        row = rows.data.as_longlongs + at if cython.compiled else rows[at : at + _ROW]  # type: ignore[attr-defined]
        function = functions[row[0]]
        when: cython.longlong = row[1]
        try:
            if error is None:
                if when != ON_FAILURE:
                    function(
                        _record_metadata(
                            topic,
                            partition,
                            place,
                            base_offset,
                            log_append_time,
                            row[2],
                            row[3],
                            row[4],
                            row[5],
                            row[6],
                        )
                    )
            elif when != ON_SUCCESS:
                function(batch.error_of(row[2]))
        except Exception:
            log.exception("a callback of a record for %s raised", batch.name)
        except BaseException as raised:
            exit_wanted = exit_wanted or raised
    if exit_wanted is not None:
        raise exit_wanted


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
            self._arrive()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrive)

    def _arrive(self) -> None:
        if not self.arrived.done():
            self.arrived.set_result(None)


def append_locked(
    batch: BatchState,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    headers: bytes | None,
    header_size: cython.Py_ssize_t,
) -> FutureRecordMetadata | None:
    """Add a record to an open batch and return its future; None if it does not fit. Needs `RecordBuffer.lock`."""
    index: cython.Py_ssize_t = batch.builder.append_if_room(timestamp_ms, key, value, headers)
    if index < 0:
        return None
    return _future(batch, index, timestamp_ms, key, value, header_size)


def append_unlocked(
    queues: list[Any],
    partition: cython.Py_ssize_t,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    headers: bytes | None,
    header_size: cython.Py_ssize_t,
) -> FutureRecordMetadata | None:
    """Add a record to the open batch of a partition and return its future; None if more is to be done than copying.

    Only where this is compiled: then the interpreter's lock stands in for `RecordBuffer.lock`, as nothing in here gives
    it up, and who holds `RecordBuffer.lock` keeps what is open fit to be added to.

    Arguments:
        queues: a `QueueState` a partition.
    """
    queue: QueueState = queues[partition]
    if queue.open is None:
        return None
    batch: BatchState = queue.open
    if batch.builder is None:
        return None
    index: cython.Py_ssize_t = batch.builder.append_at_once(timestamp_ms, key, value, headers)
    if index < 0:
        return None
    return _future(batch, index, timestamp_ms, key, value, header_size)


def future_of(
    batch: BatchState,
    index: cython.Py_ssize_t,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    header_size: cython.Py_ssize_t,
) -> FutureRecordMetadata:
    """The future of the record that is `index`-th in a batch."""
    return _future(batch, index, timestamp_ms, key, value, header_size)


@cython.cfunc
@cython.inline
def _future(
    batch: BatchState,
    index: cython.Py_ssize_t,
    timestamp_ms: cython.longlong,
    key: bytes | None,
    value: bytes | None,
    header_size: cython.Py_ssize_t,
) -> FutureRecordMetadata:
    future: FutureRecordMetadata = FutureRecordMetadata.__new__(FutureRecordMetadata)
    future._batch = batch
    future._index = index
    future._timestamp_ms = timestamp_ms
    future._key_size = -1 if key is None else len(key)
    future._value_size = -1 if value is None else len(value)
    future._header_size = header_size
    return future
