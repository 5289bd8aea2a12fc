# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# The functions of numbers_at.py for compiled modules. tests/unit/formats/json/test_column_encoder.py compares the variants.

from libc.string cimport memcpy


cdef inline long long signed_at(const unsigned char[::1] data, Py_ssize_t at, int width) noexcept nogil:
    cdef long long eight
    cdef int four
    cdef short two
    if width == 8:
        memcpy(&eight, &data[at], 8)
        return eight
    if width == 4:
        memcpy(&four, &data[at], 4)
        return four
    if width == 2:
        memcpy(&two, &data[at], 2)
        return two
    return <signed char> data[at]


cdef inline unsigned long long unsigned_at(const unsigned char[::1] data, Py_ssize_t at, int width) noexcept nogil:
    cdef unsigned long long eight
    cdef unsigned int four
    cdef unsigned short two
    if width == 8:
        memcpy(&eight, &data[at], 8)
        return eight
    if width == 4:
        memcpy(&four, &data[at], 4)
        return four
    if width == 2:
        memcpy(&two, &data[at], 2)
        return two
    return data[at]


cdef inline double double_at(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    cdef double value
    memcpy(&value, &data[at], 8)
    return value


cdef inline double float_at(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    cdef float value
    memcpy(&value, &data[at], 4)
    return value


cdef inline double as_float(double value) noexcept nogil:
    return <float> value
