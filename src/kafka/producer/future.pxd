# The C declarations of future.py.

cdef class BatchFields:
    cdef object __weakref__
    cdef public object builder
    cdef public object callbacks
    cdef public list named
    cdef public list parts


cdef class QueueFields:
    cdef object __weakref__
    cdef public object open


cpdef object future_of(
    BatchFields batch,
    Py_ssize_t index,
    long long timestamp_ms,
    bytes key,
    bytes value,
    Py_ssize_t header_size,
)
