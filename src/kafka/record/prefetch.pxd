# What Cython does not know of the C compiler: a hint which bytes are read soon. It does nothing where there is none.

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
        /* the empty statement keeps the compiler from leaving out a function that does nothing else */
        #define kafka_prefetch(place) do { __builtin_prefetch(place); __asm__ volatile (""); } while (0)
    #else
        #define kafka_prefetch(place)
    #endif
    """
    void prefetch "kafka_prefetch" (const void* place) nogil
