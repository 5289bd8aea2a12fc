# What readers call of skip.py.

from kafka.formats.json.cursor cimport Cursor


cdef int skip_value(Cursor cursor) except? -1
cdef int read_constant(Cursor cursor) except? -2
