cdef class BatchFields:
    cdef object __weakref__
    cdef public object builder
    cdef public object callbacks
    cdef public list named
    cdef public list parts


cdef class QueueFields:
    cdef object __weakref__
    cdef public object open
