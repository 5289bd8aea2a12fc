# The attributes of the class in reader.py, and the functions that legacy_reader.py uses.

cdef class ColumnReader:
    cdef object _storage
    cdef long long _start_offset
    cdef long long _stop_offset
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _keys_capacity
    cdef Py_ssize_t _values_capacity
    cdef Py_ssize_t _rows
    cdef Py_ssize_t _keys_size
    cdef Py_ssize_t _values_size
    cdef Py_ssize_t _null_keys
    cdef Py_ssize_t _null_values
    cdef Py_ssize_t _header_capacity
    cdef Py_ssize_t _header_data_capacity
    cdef Py_ssize_t _header_rows
    cdef Py_ssize_t _header_keys_size
    cdef Py_ssize_t _header_values_size
    cdef Py_ssize_t _null_header_values

    cdef const unsigned char[::1] _source
    cdef Py_ssize_t _source_size
    cdef Py_ssize_t _position
    cdef Py_ssize_t _end
    cdef Py_ssize_t _left
    cdef long long _base_offset
    cdef long long _last_delta
    cdef long long _base_timestamp
    cdef bint _fixed_timestamp

    cdef bint _with_headers
    cdef bint _with_checksums
    cdef long long[::1] _offsets
    cdef long long[::1] _timestamps
    cdef long long[::1] _checksums
    cdef unsigned char[::1] _keys
    cdef int[::1] _key_ends
    cdef unsigned char[::1] _key_valid
    cdef unsigned char[::1] _values
    cdef int[::1] _value_ends
    cdef unsigned char[::1] _value_valid
    cdef int[::1] _header_ends
    cdef unsigned char[::1] _header_keys
    cdef int[::1] _header_key_ends
    cdef unsigned char[::1] _header_values
    cdef int[::1] _header_value_ends
    cdef unsigned char[::1] _header_value_valid

    cdef int _go_on(self, Py_ssize_t following, Py_ssize_t end)
    cdef int _read_batches(self, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    cdef int _begin(
        self,
        Py_ssize_t position,
        Py_ssize_t end,
        Py_ssize_t count,
        long long base_offset,
        long long last_delta,
        long long base_timestamp,
        bint fixed_timestamp,
    ) noexcept nogil
    cdef int _run(self) noexcept nogil
    cdef void store_message(
        self,
        long long offset,
        long long timestamp,
        Py_ssize_t key_at,
        long long key_size,
        Py_ssize_t value_at,
        long long value_size,
        long long checksum,
    ) noexcept nogil
    cdef Py_ssize_t _read_headers(
        self, const unsigned char[::1] data, Py_ssize_t pos, Py_ssize_t stop, long long count
    ) noexcept nogil
