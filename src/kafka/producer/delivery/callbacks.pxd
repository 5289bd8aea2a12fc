# The C declarations of callbacks.py, and the parts of Python's public C API that it uses.

from cpython cimport array

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    void Py_SET_TYPE(object thing, PyTypeObject* kind)
    void PyObject_GC_UnTrack(object thing)


cdef class Callbacks:
    cdef public list functions
    cdef public array.array rows
    cdef void add(
        self,
        object function,
        long long when,
        long long index,
        long long timestamp_ms,
        long long key_size,
        long long value_size,
        long long header_size,
    )


cdef object record_metadata(
    object topic,
    object partition,
    object topic_partition,
    long long base_offset,
    long long log_append_time,
    Py_ssize_t index,
    long long timestamp_ms,
    Py_ssize_t key_size,
    Py_ssize_t value_size,
    Py_ssize_t header_size,
)
