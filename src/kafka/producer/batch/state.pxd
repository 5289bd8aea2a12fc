cdef class BatchState:
    cdef object __weakref__
    cdef public object builder
    cdef public object callbacks
    cdef public list parts


cdef class QueueState:
    cdef object __weakref__
    cdef public object open
