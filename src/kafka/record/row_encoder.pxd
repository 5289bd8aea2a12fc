# The attributes of the classes in row_encoder.py.

cdef class ByteColumn:
    cdef const long long[::1] ends
    cdef const unsigned char[::1] data
    cdef long long size
    cdef bint has_nulls
    cdef const unsigned char[::1] valid
    cdef Py_ssize_t valid_at
    cdef readonly Py_ssize_t rows


cdef class RowColumns:
    cdef ByteColumn keys
    cdef ByteColumn values
    cdef const long long[::1] timestamps
    cdef bint has_headers
    cdef const long long[::1] header_ends
    cdef ByteColumn header_keys
    cdef ByteColumn header_values
    cdef readonly Py_ssize_t rows
