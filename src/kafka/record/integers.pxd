# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# The functions of integers.py, for compiled modules. tests/unit/record/test_integers.py compares the two.

cdef inline Py_ssize_t varint_size(long long value) noexcept nogil:
    cdef Py_ssize_t size = 1
    cdef unsigned long long bits = (<unsigned long long> value << 1) ^ <unsigned long long> (value >> 63)
    while bits >= 128:
        bits >>= 7
        size += 1
    return size


cdef inline Py_ssize_t put_varint(unsigned char[::1] out, Py_ssize_t at, long long value) noexcept nogil:
    cdef unsigned long long bits = (<unsigned long long> value << 1) ^ <unsigned long long> (value >> 63)
    cdef unsigned char* place = &out[0] + at
    while bits >= 128:
        place[0] = <unsigned char> ((bits & 127) | 128)
        place += 1
        bits >>= 7
    place[0] = <unsigned char> bits
    return place - &out[0] + 1


cdef inline (long long, Py_ssize_t) read_varint(
    const unsigned char[::1] data, Py_ssize_t at, Py_ssize_t end
) noexcept nogil:
    cdef const unsigned char* first = &data[0]
    cdef unsigned long long byte
    cdef unsigned long long bits = 0
    cdef int shift = 0
    while at < end:
        byte = first[at]
        at += 1
        if byte < 128:
            if shift == 63 and byte > 1:
                return 0, -1
            bits |= byte << shift
            return <long long> ((bits >> 1) ^ (0 - (bits & 1))), at
        if shift == 63:
            return 0, -1
        bits |= (byte & 127) << shift
        shift += 7
    return 0, -1


cdef inline long long read_int16(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    cdef const unsigned char* place = &data[0] + at
    return <short> (place[0] << 8 | place[1])


cdef inline long long read_int32(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    cdef const unsigned char* place = &data[0] + at
    return <int> (<unsigned int> place[0] << 24 | place[1] << 16 | place[2] << 8 | place[3])


cdef inline long long read_int64(const unsigned char[::1] data, Py_ssize_t at) noexcept nogil:
    return <long long> (
        <unsigned long long> read_int32(data, at) << 32 | <unsigned int> read_int32(data, at + 4)
    )
