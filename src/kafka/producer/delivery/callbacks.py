"""The callbacks of a batch's records: kept without an object a record, called once the batch is done.

Compiled by Cython, equal (but for the speed) when it runs plain. Fields and C functions are declared in callbacks.pxd.
"""

from __future__ import annotations

import array
import logging
from types import BuiltinMethodType, MethodType
from typing import Any

from kafka.producer.delivery.record_metadata import RecordMetadata

try:
    import cython
except ImportError:  # the plain variant needs no Cython
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

    What they are to be told of a record is kept in rows of numbers, not in its future: most programs drop that at once,
    and the next one is made from its memory, which is still in the caches.

    Attributes:
        functions: what is called, once for any number of records in a row.
        rows: of each callback the place of its function, when it is called, and of the record the index in the batch,
            the timestamp, and the sizes of key, value and headers.
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
        """Add a callback of the record at `index` in the batch."""
        functions: list[Any] = self.functions
        number: cython.Py_ssize_t = len(functions) - 1
        if number < 0 or not _is_same(function, functions[number]):
            if cython.compiled and number < 0:
                # The garbage collector would look at every function of every batch that is being filled, to no end: a
                # batch gives up its callbacks when it is done, which ends all cycles. (The C functions of callbacks.pxd
                # and of `array` are known to the compiler alone.)
                PyObject_GC_UnTrack(functions)  # type: ignore[name-defined]  # noqa: F821
            functions += (function,)  # no call, after which a signal's handler may add one
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
    """Whether two functions are the same, or the same method of one object, so that either can replace the other.

    Each access to `list.append` and the like creates another object, which the garbage collector tracks. With many
    records under way, the collector would take longer than all other work.
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
        return tuple.__new__(RecordMetadata, fields)  # a third of the time that the class's own constructor takes
    # Given the class, the tuple is what the constructor would make. It holds only text and numbers, so it cannot be
    # part of a cycle and the garbage collector need not track it. Otherwise, collection would take longer than all
    # other work in a program that keeps the metadata passed to callbacks.
    Py_INCREF(RecordMetadata)  # as an instance of a class defined in Python holds it
    # names of callbacks.pxd
    kind = cython.cast(cython.pointer(PyTypeObject), RecordMetadata)  # type: ignore[name-defined]  # noqa: F821
    Py_SET_TYPE(fields, kind)  # type: ignore[name-defined]  # noqa: F821
    PyObject_GC_UnTrack(fields)  # type: ignore[name-defined]  # noqa: F821
    return fields


def run_callbacks(batch: Any, callbacks: Callbacks) -> None:
    """Call the callbacks of a finished batch in order; an `Exception` that one raises is logged.

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
