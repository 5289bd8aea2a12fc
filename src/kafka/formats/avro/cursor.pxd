# The attributes of the classes of cursor.py, and what readers call of it.

cdef class Cursor:
    cdef const unsigned char[::1] data
    cdef Py_ssize_t at
    cdef Py_ssize_t end
    cdef str reason
    cdef list path
    cdef int fail(self, str reason) except? -1
    cdef int fail_in(self, str part) except? -1


cdef class Reader:
    cdef int read(self, Cursor cursor) except? -1


cdef Py_ssize_t read_length(Cursor cursor) except? -2
cdef long long read_count(Cursor cursor, Py_ssize_t least_size, long long before) except? -2
