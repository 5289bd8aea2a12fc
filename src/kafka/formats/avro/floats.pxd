# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# The functions of floats.py for compiled modules. tests/unit/formats/avro/test_floats.py compares them.

from libc.string cimport memcpy


cdef inline double float_at(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    cdef const unsigned char* place = &data[0] + at
    cdef unsigned int bits = (
        <unsigned int> place[0] | <unsigned int> place[1] << 8 | <unsigned int> place[2] << 16
        | <unsigned int> place[3] << 24
    )
    cdef float value
    memcpy(&value, &bits, 4)
    return value


cdef inline double double_at(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    cdef const unsigned char* place = &data[0] + at
    cdef unsigned long long bits = 0
    cdef double value
    cdef int index
    for index in range(8):
        bits |= <unsigned long long> place[index] << (8 * index)
    memcpy(&value, &bits, 8)
    return value


cdef inline double whole_as_float(long long value) noexcept nogil:
    return <double> <float> value


cdef inline void put_float(unsigned char[::1] out, Py_ssize_t at, double value) noexcept nogil:
    cdef unsigned char* place = &out[0] + at
    cdef float narrow = <float> value
    cdef unsigned int bits
    cdef int index
    memcpy(&bits, &narrow, 4)
    for index in range(4):
        place[index] = <unsigned char> (bits >> (8 * index) & 255)


cdef inline void put_double(unsigned char[::1] out, Py_ssize_t at, double value) noexcept nogil:
    cdef unsigned char* place = &out[0] + at
    cdef unsigned long long bits
    cdef int index
    memcpy(&bits, &value, 8)
    for index in range(8):
        place[index] = <unsigned char> (bits >> (8 * index) & 255)
