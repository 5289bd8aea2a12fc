# The attributes of the class in builder.py; row_encoder.py writes to them too.

cdef class BatchBuilder:
    cdef int _magic
    cdef object _compression
    cdef object _level
    cdef Py_ssize_t _size_limit
    cdef int _count
    cdef bint _appending
    cdef Py_ssize_t _size
    cdef Py_ssize_t _largest
    cdef Py_ssize_t _capacity
    cdef long long _base_timestamp
    cdef long long _max_timestamp
    cdef object _buffer
    cdef unsigned char[::1] _out
    cdef object _compressed
    cdef Py_ssize_t _compressed_size
    cdef bint _reserve(self, Py_ssize_t needed)
    cdef bint _grow(self, Py_ssize_t needed)
    cdef Py_ssize_t _append_if_room(self, long long timestamp_ms, bytes key, bytes value, bytes headers)
    cdef Py_ssize_t _size_with(self, Py_ssize_t key_size, Py_ssize_t value_size, bytes headers)
    cdef bint _put_raw(self, bytes data)
    cdef bint _put_record(
        self, long long timestamp, bytes key, Py_ssize_t key_size, bytes value, Py_ssize_t value_size, bytes headers
    )
    cdef Py_ssize_t _put_bytes(self, Py_ssize_t at, bytes data, Py_ssize_t size)
