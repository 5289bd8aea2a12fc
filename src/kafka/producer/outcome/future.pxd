# The C side of future.py.

from kafka.producer.batch.state cimport BatchState


cpdef object future_of(
    BatchState batch,
    Py_ssize_t index,
    long long timestamp_ms,
    bytes key,
    bytes value,
    Py_ssize_t header_size,
)
