# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Records to the bytes of a batch: one by one for `send()`, and straight from Arrow columns.

Compiled by Cython, equal when it runs plain. Records are encoded when they are appended, as their final bytes; building a
batch only adds the header, compresses and computes the checksum.
"""

from __future__ import annotations

from collections.abc import Sequence

try:
    import cython
except ImportError:  # the plain variant needs no Cython
    from kafka import _cython as cython

from kafka.record import legacy, seal
from kafka.record.memory import allocate
from kafka.record.types import Buffer, Compression

if cython.compiled:
    from cython.cimports.libc.string import memcpy

_HEADER_SIZE = cython.declare(cython.Py_ssize_t, 61)
_FIRST_CAPACITY = cython.declare(cython.Py_ssize_t, 2048)
_MAX_RECORD_OVERHEAD = cython.declare(cython.Py_ssize_t, 36)
"""Length, attributes, two deltas, three more lengths: 5 + 1 + 10 + 5 + 5 + 5 + 5."""
_MAX_TIMESTAMP = cython.declare(cython.longlong, 1 << 61)
_MAX_BATCH_SIZE = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varint_size(value: cython.longlong) -> cython.Py_ssize_t:
    """How many bytes a zigzag number takes."""
    size: cython.Py_ssize_t = 1
    bits: cython.ulonglong
    if cython.compiled:
        bits = (cython.cast(cython.ulonglong, value) << 1) ^ cython.cast(cython.ulonglong, value >> 63)
    else:
        bits = (value << 1) ^ (value >> 63)
    while bits >= 128:
        bits >>= 7
        size += 1
    return size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_varint(out: cython.uchar[::1], at: cython.Py_ssize_t, value: cython.longlong) -> cython.Py_ssize_t:
    """Write a zigzag number where room for it is known to be; returns the position after it."""
    bits: cython.ulonglong
    if cython.compiled:
        bits = (cython.cast(cython.ulonglong, value) << 1) ^ cython.cast(cython.ulonglong, value >> 63)
    else:
        bits = (value << 1) ^ (value >> 63)
    while bits >= 128:
        out[at] = cython.cast(cython.uchar, (bits & 127) | 128)
        bits >>= 7
        at += 1
    out[at] = cython.cast(cython.uchar, bits)
    return at + 1


@cython.cfunc
@cython.inline
def _as_bytes(data: object, what: str) -> bytes:
    """Return a key or value as bytes.

    Raises:
        TypeError: it is no bytes-like object.
    """
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"Expected the {what} as bytes, bytearray, memoryview or None, got {type(data).__name__}: serialize it")


@cython.cclass
class BatchBuilder:
    """A batch that is being filled. Not thread-safe: the caller holds its own lock.

    Offsets count from 0 in the order of appending; timestamps are relative to the first record's.
    """

    _magic: cython.int
    _compression: object
    _level: object
    _size_limit: cython.Py_ssize_t
    _count: cython.int
    _size: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _base_timestamp: cython.longlong
    _max_timestamp: cython.longlong
    _buffer: bytearray
    _out: cython.uchar[::1]

    def __init__(
        self,
        magic: int = 2,
        compression: Compression = Compression.NONE,
        *,
        compression_level: int | None = None,
        size_limit: int = 16384,
    ) -> None:
        """Begin a batch.

        Args:
            magic: 2, or 0 and 1 for brokers before Kafka 0.11.
            compression: the codec.
            compression_level: the codec's own level, None for its default.
            size_limit: bytes, before compression, up to which `has_room_for` says yes. The first record always fits.

        Raises:
            ValueError: no such magic.
        """
        if magic not in (0, 1, 2):
            raise ValueError(f"Expected magic 0, 1 or 2, got {magic}")
        self._magic = magic
        self._compression = compression
        self._level = compression_level
        self._size_limit = size_limit
        self._count = 0
        self._size = _HEADER_SIZE
        self._base_timestamp = self._max_timestamp = -1
        self._capacity = 0
        self._grow(min(_FIRST_CAPACITY, max(size_limit, 128)))

    @property
    def count(self) -> int:
        """How many records have been appended."""
        return self._count

    @property
    def size_in_bytes(self) -> int:
        """How large the batch is before compression."""
        return self._size if self._magic == 2 else self._size - _HEADER_SIZE

    @property
    def base_timestamp(self) -> int:
        """The first record's timestamp in milliseconds, -1 without records."""
        return self._base_timestamp

    @property
    def max_timestamp(self) -> int:
        """The latest timestamp in milliseconds, -1 without records."""
        return self._max_timestamp

    @cython.cfunc
    def _grow(self, needed: cython.Py_ssize_t) -> cython.bint:
        """Make room for `needed` bytes in all, at least double of what there is."""
        if needed > _MAX_BATCH_SIZE:
            raise ValueError(f"Expected a batch of less than 2 GiB, got one of {needed} bytes")
        capacity: cython.Py_ssize_t = min(max(needed, 2 * self._capacity), _MAX_BATCH_SIZE)
        buffer = allocate(capacity)
        if self._capacity:
            buffer[: self._size] = memoryview(self._buffer)[: self._size]
        self._buffer = buffer
        self._out = buffer
        self._capacity = capacity
        return True

    def has_room_for(
        self, key: Buffer | None, value: Buffer | None, headers: Sequence[tuple[str, bytes | None]] | None
    ) -> bool:
        """Whether a record fits without passing the size limit; always true of the first."""
        size: cython.Py_ssize_t = self._size + _MAX_RECORD_OVERHEAD
        if self._count == 0:
            return True
        if key is not None:
            size += len(key)
        if value is not None:
            size += len(value)
        if headers:
            size += seal.headers_bound(headers)
        return size <= self._size_limit

    def append(
        self,
        timestamp_ms: cython.longlong,
        key: Buffer | None,
        value: Buffer | None,
        headers: Sequence[tuple[str, bytes | None]] | None = (),
    ) -> int:
        """Add a record; returns its offset within the batch.

        Args:
            timestamp_ms: milliseconds since the epoch.
            key: serialized, None for null.
            value: serialized, None for null.
            headers: names, with bytes or None for null.

        Raises:
            TypeError: a key, value or header is not of the type above.
            ValueError: the batch would reach 2 GiB, or the timestamp is below -1 or beyond all calendars.
            UnsupportedForMessageFormatError: headers, before magic 2.
        """
        key_bytes: bytes = b"" if key is None else _as_bytes(key, "key")
        value_bytes: bytes = b"" if value is None else _as_bytes(value, "value")
        key_size: cython.Py_ssize_t = -1 if key is None else len(key_bytes)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value_bytes)
        index: cython.int = self._count
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            raise ValueError(f"Expected a timestamp in milliseconds since the epoch, or -1, got {timestamp_ms}")
        if self._magic < 2:
            self._put_raw(legacy.encode_message(self._magic, index, timestamp_ms, key, value, headers))
        elif headers:
            self._put_record(timestamp_ms, key_bytes, key_size, value_bytes, value_size, seal.encode_headers(headers))
        else:
            self._put_record(timestamp_ms, key_bytes, key_size, value_bytes, value_size, None)
        self._count = index + 1
        return index

    @cython.cfunc
    def _put_raw(self, data: bytes) -> cython.bint:
        """Add bytes that are encoded already."""
        size: cython.Py_ssize_t = len(data)
        if self._size + size > self._capacity:
            self._grow(self._size + size)
        self._buffer[self._size : self._size + size] = data
        self._size += size
        return True

    @cython.cfunc
    def _put_record(
        self,
        timestamp: cython.longlong,
        key: bytes,
        key_size: cython.Py_ssize_t,
        value: bytes,
        value_size: cython.Py_ssize_t,
        headers: object,
    ) -> cython.bint:
        """Encode a record of magic 2; a size of -1 is null, `headers` their encoding with the count, None for none."""
        delta: cython.longlong
        headers_size: cython.Py_ssize_t = 1 if headers is None else len(headers)
        body: cython.Py_ssize_t
        at: cython.Py_ssize_t = self._size
        if self._count == 0:
            self._base_timestamp = self._max_timestamp = timestamp
        elif timestamp > self._max_timestamp:
            self._max_timestamp = timestamp
        delta = timestamp - self._base_timestamp
        body = 1 + _varint_size(delta) + _varint_size(self._count) + _varint_size(key_size) + _varint_size(value_size)
        body += max(key_size, 0) + max(value_size, 0) + headers_size
        if at + body + 10 > self._capacity:
            self._grow(at + body + 10)
        at = _put_varint(self._out, at, body)
        self._out[at] = 0
        at = _put_varint(self._out, at + 1, delta)
        at = _put_varint(self._out, at, self._count)
        at = self._put_bytes(_put_varint(self._out, at, key_size), key, key_size)
        at = self._put_bytes(_put_varint(self._out, at, value_size), value, value_size)
        if headers is None:
            self._out[at] = 0
            at += 1
        else:
            at = self._put_bytes(at, headers, headers_size)
        self._size = at
        return True

    @cython.cfunc
    @cython.inline
    def _put_bytes(self, at: cython.Py_ssize_t, data: bytes, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Copy bytes to where room for them is known to be; returns the position after them."""
        if size <= 0:
            return at
        if cython.compiled:
            memcpy(cython.address(self._out[at]), cython.cast(cython.p_char, data), size)
        else:
            self._out[at : at + size] = data
        return at + size

    def build(
        self,
        *,
        base_offset: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
    ) -> bytes:
        """Encode the batch. It may be called again, with another producer state.

        Args:
            base_offset: of the first record; a producer leaves it at 0.
            producer_id: of an idempotent producer (KIP-98), -1 without.
            producer_epoch: likewise.
            base_sequence: the sequence number of the first record, -1 without.
            transactional: whether the batch belongs to a transaction.

        Raises:
            ValueError: there is no record.
            UnsupportedCompressionTypeError: the codec does not go with the magic.
        """
        if self._count == 0:
            raise ValueError("Expected at least one record in a batch to build, got none")
        records = memoryview(self._buffer)[61 : self._size]
        if self._magic < 2:
            return legacy.seal(self._magic, records, self._count, base_offset, self._compression, self._level)
        state = seal.ProducerState(producer_id, producer_epoch, base_sequence, transactional)
        return seal.seal(
            memoryview(self._buffer)[: self._size],
            self._count,
            base_offset,
            self._base_timestamp,
            self._max_timestamp,
            self._compression,
            self._level,
            state,
        )
