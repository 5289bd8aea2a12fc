# What readers call of texts.py.

from kafka.formats.json.cursor cimport Cursor


cdef int read_text(Cursor cursor) except? -1
cdef int skip_text(Cursor cursor) except? -1
