# The attributes of the class of encoder_output.py, and what writers call of it.

cdef class Output:
    cdef unsigned char[::1] data
    cdef Py_ssize_t at
    cdef Py_ssize_t room
    cdef int depth
    cdef public str reason
    cdef public list path
    cdef int reserve(self, Py_ssize_t size) except -1
    cdef int put_byte(self, int value) except -1
    cdef int put_long(self, long long value) except -1
    cdef int put_float(self, double value) except -1
    cdef int put_double(self, double value) except -1
    cdef int put_bytes(self, bytes value) except -1
    cdef int put_text(self, object value) except? -1
    cdef int put_slice(self, const unsigned char[::1] source, Py_ssize_t start, Py_ssize_t size) except -1
    cdef int fail(self, str reason) except? -1
    cdef int fail_in(self, str part) except? -1
    cdef bint is_too_deep(self) except? -1


cdef class ObjectWriter:
    cdef int write(self, Output out, object value) except? -1
    cdef bint fits(self, Output out, object value) except? -1
