# What other compiled modules call of arrow_writers.py.

from kafka.formats.avro.encoder_output cimport Output


cdef class ArrowWriter:
    cdef int write(self, Output out, Py_ssize_t row) except? -1
