"""The callbacks of a batch's records: stored without an object per record, called once the batch is done.

Compiled with Cython; the plain variant behaves the same. Fields and C functions are declared in callbacks.pxd.
"""

from __future__ import annotations

import array
import logging
from types import BuiltinMethodType, MethodType
from typing import Any

from kafka.producer.delivery.record_metadata import RecordMetadata

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.cpython import array  # type: ignore[no-redef]  # the same module, with its C functions
    from cython.cimports.cpython.ref import Py_INCREF

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
"""Number of integers stored for each callback, see `Callbacks`."""


@cython.cclass
class Callbacks:
    """The callbacks of a batch's records, in the order in which they were added.

    Rows of numbers store the properties of a callback's record. Storing them in the future would keep the future alive.
    Most programs drop a future immediately, so that the next one reuses its memory, which is still in the CPU's caches.

    Attributes:
        functions: the functions to call; each may serve several consecutive rows.
        rows: for each callback, the index of its function, when to call it, and the record's index in the batch,
            timestamp, and sizes of key, value and headers.
    """

    def __init__(self) -> None:
        self.functions: list[Any] = []
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
        """Add a callback for the record at `index` in the batch."""
        functions: list[Any] = self.functions
        number: cython.Py_ssize_t = len(functions) - 1
        if number < 0 or not _is_same(function, functions[number]):
            if cython.compiled and number < 0:
                # The garbage collector would visit every function of every open batch without finding garbage: a
                # finished batch drops its callbacks, which breaks all cycles. (Only the compiler knows the C functions
                # of callbacks.pxd and of `array`.)
                PyObject_GC_UnTrack(functions)  # type: ignore[name-defined]  # noqa: F821
            functions += (function,)  # without a function call, after which a signal handler may add a callback
            number = len(functions) - 1
        if cython.compiled:
            at: cython.Py_ssize_t = len(self.rows)
            array.resize_smart(self.rows, at + _ROW)  # type: ignore[attr-defined]
            row: cython.pointer[cython.longlong] = self.rows.data.as_longlongs + at  # type: ignore[attr-defined]
            row[0] = number
            row[1] = when
            row[2] = index
            row[3] = timestamp_ms
            row[4] = key_size
            row[5] = value_size
            row[6] = header_size
        else:
            self.rows.extend((number, when, index, timestamp_ms, key_size, value_size, header_size))

    def move_to_parts(self, batch: Any) -> None:
        """Move the callbacks to the parts of a split batch."""
        for at in range(0, len(self.rows), _ROW):
            row: Any = self.rows[at : at + _ROW]
            number, when, index, timestamp_ms, key_size, value_size, header_size = row
            part, index = batch.locate(index)
            given: Callbacks = part.callbacks
            given.add(self.functions[number], when, index, timestamp_ms, key_size, value_size, header_size)


@cython.cfunc
def _is_same(function: Any, last: Any) -> cython.bint:
    """Return whether two functions are the same, or the same method of one object, and thus interchangeable.

    Each access to `list.append` and the like creates another object, which the garbage collector tracks. With many
    records in flight, collecting these would take longer than all other work.
    """
    if function is last:
        return True
    if type(function) is BuiltinMethodType:
        return type(last) is BuiltinMethodType and function == last
    if type(function) is MethodType:
        return type(last) is MethodType and function.__self__ is last.__self__ and function.__func__ is last.__func__
    return False


def record_metadata(
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
    """Return the metadata of the record at `index` in its batch."""
    offset: cython.longlong = base_offset + index if base_offset >= 0 else -1
    if log_append_time >= 0:
        timestamp_ms = log_append_time
    fields = (topic, partition, topic_partition, offset, timestamp_ms, None, key_size, value_size, header_size)
    if not cython.compiled or not _IS_TUPLE:
        return tuple.__new__(RecordMetadata, fields)  # takes a third of the time that the class's constructor takes
    # With its type changed, the tuple equals what the constructor would create. It contains only text and numbers, so
    # it cannot be part of a cycle and the garbage collector need not track it. Otherwise, collection would take longer
    # than all other work in a program that keeps the metadata passed to callbacks.
    Py_INCREF(RecordMetadata)  # every instance of a class defined in Python holds a reference to its class
    # names from callbacks.pxd
    kind = cython.cast(cython.pointer(PyTypeObject), RecordMetadata)  # type: ignore[name-defined]  # noqa: F821
    Py_SET_TYPE(fields, kind)  # type: ignore[name-defined]  # noqa: F821
    PyObject_GC_UnTrack(fields)  # type: ignore[name-defined]  # noqa: F821
    return fields


def run_callbacks(batch: Any, callbacks: Callbacks) -> None:
    """Call the callbacks of a finished batch in order, and log any `Exception` that one raises.

    If callbacks raise other exceptions (`SystemExit`, `KeyboardInterrupt`), raises the first of these after all have
    run.
    """
    exit_wanted: BaseException | None = None
    error: Any = batch.error
    place: Any = batch.topic_partition
    topic, partition = place  # unpacked once: item access of a named tuple takes longer than creating the metadata
    base_offset: cython.longlong = batch.base_offset
    log_append_time: cython.longlong = batch.log_append_time
    functions: list[Any] = callbacks.functions
    rows: array.array[int] = callbacks.rows
    row: cython.pointer[cython.longlong]
    at: cython.Py_ssize_t
    for at in range(0, len(rows), _ROW):
        # The array's memory, which only the compiler can access.
        row = rows.data.as_longlongs + at if cython.compiled else rows[at : at + _ROW]  # type: ignore[attr-defined]
        function = functions[row[0]]
        when: cython.longlong = row[1]
        try:
            if error is None:
                if when != ON_FAILURE:
                    function(
                        record_metadata(
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
