# The attributes of the classes of cursor.py, and what readers call of it.

cdef class Cursor:
    cdef const unsigned char[::1] data
    cdef Py_ssize_t at
    cdef Py_ssize_t end
    cdef public str reason
    cdef public list path
    cdef public Py_ssize_t failed_at
    cdef int depth
    cdef long long empty
    cdef int begin(self, Py_ssize_t at) except? -1
    cdef int fail(self, str reason) except? -1
    cdef int fail_in(self, str part) except? -1
    cdef Cursor refuse(self, str reason)
    cdef Cursor refuse_in(self, str part)
    cdef bint is_too_deep(self) except? -1


cdef class Reader:
    cdef int read(self, Cursor cursor) except? -1


cdef class ObjectReader:
    cdef object read(self, Cursor cursor)


cdef Py_ssize_t read_length(Cursor cursor) except? -2
cdef long long read_count(Cursor cursor, Py_ssize_t least_size) except? -2
