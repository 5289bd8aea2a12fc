# The functions of object_writers.py that other compiled modules call.

cdef object whole(object value)
cdef object as_bytes(object value)
