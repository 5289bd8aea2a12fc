# The attributes of the classes of cursor.py, and what readers call of it.

from kafka.formats.column_builders cimport Column


cdef class Cursor:
    cdef readonly const unsigned char[::1] data
    cdef public Py_ssize_t start
    cdef public Py_ssize_t at
    cdef public Py_ssize_t end
    cdef Py_ssize_t failed_at
    cdef str reason
    cdef list path
    cdef bint replaces_surrogates
    cdef unsigned char[::1] text
    cdef Py_ssize_t text_size
    cdef Py_ssize_t text_at
    cdef unsigned char[::1] nesting
    cdef Py_ssize_t number_at
    cdef unsigned long long digits
    cdef Py_ssize_t exponent
    cdef bint negative
    cdef bint exact
    cdef bint plain
    cdef int fail(self, Py_ssize_t at, str reason) except? -1
    cdef int fail_in(self, str part) except? -1
    cdef int expected(self, Py_ssize_t at, str what) except? -1


cdef class Reader:
    cdef readonly Column column
    cdef readonly bint nullable
    cdef readonly str expects
    cdef int read(self, Cursor cursor) except? -1


cdef int read_value(Reader reader, Cursor cursor) except? -1
