# The attributes of the classes of encoder_output.py, and what writers call of it.

from kafka.formats.column_builders cimport BytesColumn


cdef class Output:
    cdef BytesColumn column
    cdef const unsigned char[::1] words
    cdef str reason
    cdef list path
    cdef int fail(self, str reason) except? -1
    cdef int fail_in(self, str part) except? -1
    cdef int put(self, const unsigned char[::1] source, Py_ssize_t start, Py_ssize_t size) except? -1
    cdef int put_byte(self, unsigned char byte) except? -1
    cdef int put_number(self, unsigned long long value, bint negative) except? -1
    cdef int put_digits(self, unsigned long long value, Py_ssize_t count) except? -1
    cdef int _put_escape(self, unsigned char byte) except? -1
    cdef int put_text(self, const unsigned char[::1] source, Py_ssize_t start, Py_ssize_t size) except? -1


cdef class Writer:
    cdef const unsigned char[::1] _valid
    cdef bint _has_nulls
    cdef Py_ssize_t _offset
    cdef bint is_null(self, Py_ssize_t row) except? -1
    cdef int write(self, Output out, Py_ssize_t row) except? -1


cdef int write_value(Writer writer, Output out, Py_ssize_t row) except? -1
