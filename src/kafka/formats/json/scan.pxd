# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# The functions of scan.py for compiled modules. The tests in tests/unit/formats/json run with both variants;
# test_column_encoder.py compares the functions that read numbers.

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcmp, memcpy

from kafka.formats.json.cursor cimport Cursor


cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef extern from *:
    """
    static const double kafka_powers_of_ten[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
    };
    """
    const double[23] kafka_powers_of_ten


cdef inline int next_byte(Cursor cursor) noexcept:
    cdef const unsigned char* first = &cursor.data[0]
    cdef Py_ssize_t at = cursor.at
    cdef Py_ssize_t end = cursor.end
    cdef unsigned char byte
    while at < end:
        byte = first[at]
        if byte > 32 or not (byte == 32 or byte == 9 or byte == 10 or byte == 13):
            cursor.at = at
            return byte
        at += 1
    cursor.at = at
    return -1


cdef inline Py_ssize_t text_end(const unsigned char[::1] data, Py_ssize_t at, Py_ssize_t end) noexcept nogil:
    cdef const unsigned char* first = &data[0]
    cdef unsigned long long ones = 0x0101010101010101
    cdef unsigned long long tops = 0x8080808080808080
    cdef unsigned long long eight
    cdef unsigned long long quotes
    cdef unsigned long long slashes
    cdef unsigned long long all_bits = 0
    cdef unsigned char byte
    while end - at >= 8:
        memcpy(&eight, first + at, 8)
        quotes = eight ^ (ones * 34)
        slashes = eight ^ (ones * 92)
        if (((eight - ones * 32) & ~eight) | ((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes)) & tops:
            break
        all_bits |= eight
        at += 8
    all_bits &= tops
    while at < end:
        byte = first[at]
        if byte == 34 or byte == 92 or byte < 32:
            break
        all_bits |= byte & 128
        at += 1
    return at * 2 + (1 if all_bits else 0)


cdef inline bint same_bytes(
    const unsigned char[::1] data, Py_ssize_t at, const unsigned char[::1] other, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    return memcmp(&data[0] + at, &other[0] + start, size) == 0


cdef inline double scaled_double(unsigned long long digits, Py_ssize_t exponent) noexcept nogil:
    if exponent >= 0:
        return <double> digits * kafka_powers_of_ten[exponent]
    return <double> digits / kafka_powers_of_ten[-exponent]


cdef inline double exact_double(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t size) except? -1.0:
    cdef char[64] text
    cdef bytes copied
    if size < 64:
        memcpy(text, &data[0] + start, size)
        text[size] = 0
        return PyOS_string_to_double(text, NULL, NULL)
    copied = PyBytes_FromStringAndSize(<const char*> &data[0] + start, size)
    return PyOS_string_to_double(copied, NULL, NULL)


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
