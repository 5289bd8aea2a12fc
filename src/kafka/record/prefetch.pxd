# A compiler hint that bytes will be read soon, which Cython lacks. Without compiler support, it does nothing.

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
        /* the empty statement keeps the compiler from removing the function */
        #define kafka_prefetch(place) do { __builtin_prefetch(place); __asm__ volatile (""); } while (0)
    #else
        #define kafka_prefetch(place)
    #endif
    """
    void prefetch "kafka_prefetch" (const void* place) nogil
