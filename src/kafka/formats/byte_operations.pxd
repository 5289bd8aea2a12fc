# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# The functions of byte_operations.py for compiled modules. tests/unit/formats/test_utf8.py and
# tests/unit/formats/avro/test_floats.py compare them.

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


cdef inline bint is_utf8(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t size) noexcept nogil:
    cdef const unsigned char* place
    cdef const unsigned char* end
    cdef unsigned long long eight
    cdef unsigned char first
    cdef unsigned char second
    if size <= 0:
        return True
    place = &data[0] + start
    end = place + size
    while place < end:
        while end - place >= 8:
            memcpy(&eight, place, 8)
            if eight & <unsigned long long> 0x8080808080808080:
                break
            place += 8
        if place == end:
            return True
        first = place[0]
        if first < 0x80:
            place += 1
            continue
        if first < 0xC2 or end - place < 2:
            return False
        second = place[1]
        if first < 0xE0:
            if second & 0xC0 != 0x80:
                return False
            place += 2
        elif first < 0xF0:
            if end - place < 3 or second & 0xC0 != 0x80 or place[2] & 0xC0 != 0x80:
                return False
            if (first == 0xE0 and second < 0xA0) or (first == 0xED and second >= 0xA0):
                return False
            place += 3
        else:
            if first > 0xF4 or end - place < 4 or second & 0xC0 != 0x80:
                return False
            if place[2] & 0xC0 != 0x80 or place[3] & 0xC0 != 0x80:
                return False
            if (first == 0xF0 and second < 0x90) or (first == 0xF4 and second >= 0x90):
                return False
            place += 4
    return True
