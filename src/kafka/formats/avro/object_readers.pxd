# The functions of object_readers.py that other compiled modules call.

from kafka.formats.avro.cursor cimport Cursor


cdef object read_text(Cursor cursor)
