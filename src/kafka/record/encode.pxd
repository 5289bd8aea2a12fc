# What encode.py uses of the C compiler and Cython does not know: a hint, which does nothing where there is none.

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
        #define kafka_prefetch(place) __builtin_prefetch(place)
    #else
        #define kafka_prefetch(place)
    #endif
    """
    void prefetch "kafka_prefetch" (const void* place) nogil
