# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# The function of utf8.py for compiled modules. tests/unit/formats/test_utf8.py compares them.

from libc.string cimport memcpy


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
