# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Reads uncompressed magic 0 and 1 messages into Arrow's column layout, as `reader` does for magic 2.

Invalid messages result in a status; see `read_status`. Compiled with Cython; the plain variant behaves the same.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

if cython.compiled:
    from cython.cimports.kafka.record import layout, read_status
    from cython.cimports.kafka.record.integers import read_int32, read_int64
    from cython.cimports.kafka.record.reader import ColumnReader
else:
    from kafka.record import layout, read_status
    from kafka.record.integers import read_int32, read_int64
    from kafka.record.reader import ColumnReader

_LOW_BITS = cython.declare(cython.longlong, 0xFFFFFFFF)


def read_messages(
    reader: ColumnReader,
    position: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    magic: cython.int,
    shift: cython.longlong,
    fixed_timestamp: cython.bint,
    timestamp: cython.longlong,
) -> int:
    """Store the uncompressed magic 0 or 1 messages between two positions of the reader's source.

    Args:
        reader: a reader that has room for the messages and keeps checksums.
        position: start of the first message.
        end: end of the last message.
        magic: magic of all messages.
        shift: number added to each offset.
        fixed_timestamp: whether every message gets `timestamp`, the log append time of the outer message.
        timestamp: the log append time in milliseconds.

    Returns:
        A status; unless it is 0, none of the messages has been stored.
    """
    status: cython.int
    before: tuple[int, ...] = reader.filled()
    size: cython.Py_ssize_t = end - position
    if position < 0 or size < 0 or end > reader._source_size or not reader._with_checksums:
        return read_status.BAD_LENGTH
    if size > min(reader._keys_capacity - reader._keys_size, reader._values_capacity - reader._values_size):
        return read_status.BAD_LENGTH
    with cython.nogil:
        status = _read(reader, position, end, magic, shift, fixed_timestamp, timestamp)
    if status != read_status.OK:
        reader.restore(before)
    return status


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _read(
    reader: ColumnReader,
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    magic: cython.int,
    shift: cython.longlong,
    fixed_timestamp: cython.bint,
    fixed: cython.longlong,
) -> cython.int:
    """Read messages until the end."""
    data: cython.const[cython.uchar][::1] = reader._source  # type: ignore[valid-type]
    key_size_at: cython.Py_ssize_t = layout.KEY_SIZE_AT_0 if magic == 0 else layout.KEY_SIZE_AT_1
    stop: cython.Py_ssize_t
    key_at: cython.Py_ssize_t
    value_at: cython.Py_ssize_t
    size: cython.longlong
    key_size: cython.longlong
    value_size: cython.longlong
    offset: cython.longlong
    timestamp: cython.longlong
    checksum: cython.longlong
    while pos < end:
        if end - pos < layout.MIN_MESSAGE_SIZE or reader._rows >= reader._capacity:
            return read_status.BAD_SIZE
        size = read_int32(data, pos + layout.LENGTH_AT) + layout.LOG_OVERHEAD
        key_at = pos + key_size_at + 4
        if size > end - pos or size < key_size_at + 8:
            return read_status.BAD_LENGTH
        stop = pos + size
        if data[pos + layout.MAGIC_AT] != magic or (data[pos + layout.MESSAGE_ATTRIBUTES_AT] & layout.CODEC_MASK) != 0:
            return read_status.BAD_MAGIC
        offset = read_int64(data, pos)
        timestamp = -1 if magic == 0 else read_int64(data, pos + layout.MESSAGE_TIMESTAMP_AT)
        if offset < -layout.MAX_OFFSET or offset > layout.MAX_OFFSET:
            return read_status.BAD_DELTA
        if timestamp < -layout.MAX_OFFSET or timestamp > layout.MAX_OFFSET:
            return read_status.BAD_DELTA
        key_size = read_int32(data, key_at - 4)
        if key_size < -1 or key_size > stop - key_at - 4:
            return read_status.BAD_LENGTH
        value_at = key_at + 4 + (key_size if key_size > 0 else 0)
        value_size = read_int32(data, value_at - 4)
        if value_size < -1 or (value_size if value_size > 0 else 0) != stop - value_at:
            return read_status.BAD_LENGTH
        offset += shift
        if reader._start_offset <= offset < reader._stop_offset:
            if fixed_timestamp:
                timestamp = fixed
            checksum = read_int32(data, pos + layout.MESSAGE_CRC_AT) & _LOW_BITS
            reader.store_message(offset, timestamp, key_at, key_size, value_at, value_size, checksum)
        pos = stop
    return read_status.OK
