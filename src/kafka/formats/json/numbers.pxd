# What readers call of numbers.py.

from kafka.formats.json.cursor cimport Cursor


cdef int read_number(Cursor cursor) except? -1
cdef bint is_number(int byte) noexcept
cdef double to_double(Cursor cursor) except? -1.0
cdef int to_whole(Cursor cursor, unsigned long long least, unsigned long long most, str expects) except? -1
cdef bytes number_text(Cursor cursor)
