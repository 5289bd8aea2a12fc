# The C side of future.py.

from kafka.producer.outcome.hot_fields cimport BatchFields


cpdef object future_of(
    BatchFields batch,
    Py_ssize_t index,
    long long timestamp_ms,
    bytes key,
    bytes value,
    Py_ssize_t header_size,
)
