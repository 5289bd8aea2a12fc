# The attributes of the classes of column_builders.py, and what decoders call of them.

cdef class Column:
    cdef readonly Py_ssize_t rows
    cdef readonly Py_ssize_t nulls
    cdef Py_ssize_t _room
    cdef unsigned char[::1] _valid
    cdef int _grow(self) except? -1
    cdef int _begin_row(self) except? -1
    cdef int _set_null(self) except? -1
    cdef int _start_nulls(self) except? -1
    cdef int append_null(self) except? -1
    cdef int truncate(self, Py_ssize_t rows) except? -1


cdef class NullColumn(Column):
    pass


cdef class BooleanColumn(Column):
    cdef unsigned char[::1] _values
    cdef int append(self, bint value) except? -1


cdef class Int32Column(Column):
    cdef int[::1] _values
    cdef int append(self, int value) except? -1


cdef class Int64Column(Column):
    cdef long long[::1] _values
    cdef int append(self, long long value) except? -1


cdef class FloatColumn(Column):
    cdef float[::1] _values
    cdef int append(self, float value) except? -1


cdef class DoubleColumn(Column):
    cdef double[::1] _values
    cdef int append(self, double value) except? -1


cdef class BytesColumn(Column):
    cdef int[::1] _ends
    cdef unsigned char[::1] _data
    cdef Py_ssize_t _data_room
    cdef readonly Py_ssize_t data_size
    cdef int _reserve(self, Py_ssize_t size) except? -1
    cdef int append(self, const unsigned char[::1] source, Py_ssize_t start, Py_ssize_t size) except? -1


cdef class FixedColumn(Column):
    cdef readonly Py_ssize_t width
    cdef unsigned char[::1] _data
    cdef int append(self, const unsigned char[::1] source, Py_ssize_t start) except? -1
    cdef int append_number(self, const unsigned char[::1] source, Py_ssize_t start, Py_ssize_t size) except? -1


cdef class ListColumn(Column):
    cdef int[::1] _ends
    cdef readonly Column items
    cdef int end_list(self) except? -1


cdef class StructColumn(Column):
    cdef readonly list fields
    cdef int end_row(self) except? -1
