cpdef object append_unlocked(
    list queues,
    Py_ssize_t partition,
    long long timestamp_ms,
    bytes key,
    bytes value,
    bytes headers,
    Py_ssize_t header_size,
    bint named,
)
