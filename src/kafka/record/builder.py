# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Builds a batch record by record. Compiled with Cython; the plain variant behaves the same.

Appending encodes a record into its final bytes. Building the batch only adds the header, compresses and computes the
checksum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

try:
    import cython
except ImportError:  # the plain variant does not need Cython
    from kafka import _cython as cython

from kafka.record import legacy_messages
from kafka.record.batch_headers import NO_PRODUCER, ProducerState, finish_batch
from kafka.record.batch_types import Buffer, Compression
from kafka.record.codecs import compress
from kafka.record.memory import allocate
from kafka.record.record_headers import encode_headers

if cython.compiled:
    from cython.cimports.kafka.record.integers import put_varint, varint_size
    from cython.cimports.kafka.record.layout import HEADER_SIZE
    from cython.cimports.libc.string import memcpy
else:
    from kafka.record.integers import put_varint, varint_size
    from kafka.record.layout import HEADER_SIZE

MAX_TIMESTAMP = 1 << 61
"""The latest timestamp that can be encoded, in milliseconds."""
MAX_BATCH_SIZE = 0x7FFFFFFF
_FIRST_CAPACITY = cython.declare(cython.Py_ssize_t, 2048)
_MAX_RECORD_OVERHEAD = cython.declare(cython.Py_ssize_t, 36)
"""Sizes of the length, attributes, two deltas and three more lengths: 5 + 1 + 10 + 5 + 5 + 5 + 5."""
_MAX_TIMESTAMP = cython.declare(cython.longlong, MAX_TIMESTAMP)
_MAX_BATCH_SIZE = cython.declare(cython.Py_ssize_t, MAX_BATCH_SIZE)


@cython.cfunc
@cython.inline
def _as_bytes(data: object, what: str) -> bytes:
    """Convert a key or value to bytes.

    Raises:
        TypeError: the key or value is not a bytes-like object.
    """
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(
        f"Expected the {what} as bytes, bytearray, memoryview or None, got {type(data).__name__}: serialize it"
    )


@cython.final
@cython.cclass
class BatchBuilder:
    """An open batch. Not thread-safe: callers use their own lock.

    Offsets count from 0 in the order of appending; timestamps are relative to the first record's.
    """

    def __init__(
        self,
        magic: int = 2,
        compression: Compression = Compression.NONE,
        *,
        compression_level: int | None = None,
        size_limit: int = 16384,
    ) -> None:
        """Start a batch.

        Args:
            magic: 2, or 0 and 1 for brokers before Kafka 0.11.
            compression: the codec.
            compression_level: the codec's level; None for the default level.
            size_limit: maximum uncompressed size in bytes. The first record always fits.

        Raises:
            ValueError: the magic or codec does not exist.
        """
        if magic not in (0, 1, 2):
            raise ValueError(f"Expected magic 0, 1 or 2, got {magic}")
        self._magic = magic
        self._compression = compression if type(compression) is Compression else Compression(compression)
        self._level = compression_level
        self._size_limit = size_limit
        self._capacity = 0
        self._buffer = memoryview(b"")
        self.clear()

    def clear(self) -> None:
        """Drop the appended records, and start another batch with the same magic, codec and size limit."""
        self._count = 0
        self._appending = False
        self._size = HEADER_SIZE
        self._largest = 0
        self._base_timestamp = self._max_timestamp = -1
        nothing: Buffer | None = None
        self._compressed = nothing
        self._compressed_size = 0
        if self._compression == Compression.NONE or self._capacity == 0:  # the caller may still hold the old buffer
            self._capacity = 0
            self._grow(min(_FIRST_CAPACITY, max(self._size_limit, 128)))

    @property
    def count(self) -> int:
        """The number of appended records."""
        return self._count

    @property
    def size_in_bytes(self) -> int:
        """The uncompressed size of the batch in bytes."""
        return self._size if self._magic == 2 else self._size - HEADER_SIZE

    @property
    def largest_record(self) -> int:
        """The uncompressed size of the largest record in bytes; 0 without records."""
        return self._largest

    @property
    def base_timestamp(self) -> int:
        """The first record's timestamp in milliseconds; -1 without records."""
        return self._base_timestamp

    @property
    def max_timestamp(self) -> int:
        """The latest timestamp in milliseconds; -1 without records."""
        return self._max_timestamp

    @cython.cfunc
    def _reserve(self, needed: cython.Py_ssize_t) -> cython.bint:
        """Ensure room for `needed` bytes in total."""
        if needed > self._capacity:
            self._grow(needed)
        return True

    @cython.cfunc
    def _grow(self, needed: cython.Py_ssize_t) -> cython.bint:
        """Make room for `needed` bytes in total, at least doubling the capacity."""
        if needed > _MAX_BATCH_SIZE:
            raise ValueError(f"Expected a batch of less than 2 GiB, got one of {needed} bytes")
        capacity: cython.Py_ssize_t = min(max(needed, 2 * self._capacity), _MAX_BATCH_SIZE)
        buffer = allocate(capacity)
        if self._capacity:
            buffer[: self._size] = self._buffer[: self._size]
        self._buffer = buffer
        self._out = buffer
        self._capacity = capacity
        return True

    def has_room_for(
        self, key: Buffer | None, value: Buffer | None, headers: Sequence[tuple[str, bytes | None]] | None
    ) -> bool:
        """Return whether a record fits within the size limit; always True for the first record.

        Args:
            key: the key as bytes, or None.
            value: the value as bytes, or None for a tombstone.
            headers: pairs of a name and a value, which is bytes or None.
        """
        size: cython.Py_ssize_t = self._size + _MAX_RECORD_OVERHEAD
        if self._count == 0:
            return True
        if key is not None:
            size += len(key)
        if value is not None:
            size += len(value)
        if headers:
            size += len(encode_headers(headers)[0])
        return size <= self._size_limit

    def append(
        self,
        timestamp_ms: cython.longlong,
        key: Buffer | None,
        value: Buffer | None,
        headers: Sequence[tuple[str, bytes | None]] | None = (),
    ) -> int:
        """Add a record; return its offset within the batch.

        Args:
            timestamp_ms: milliseconds since the epoch.
            key: the serialized key, or None.
            value: the serialized value, or None.
            headers: pairs of a name and a value, which is bytes or None.

        Raises:
            TypeError: a key, value or header has a type other than those above.
            ValueError: the batch would reach 2 GiB, or the timestamp is below -1 or above `MAX_TIMESTAMP`.
            UnsupportedForMessageFormatError: the record has headers, and the batch is older than magic 2.
        """
        key_bytes: bytes = b"" if key is None else _as_bytes(key, "key")
        value_bytes: bytes = b"" if value is None else _as_bytes(value, "value")
        key_size: cython.Py_ssize_t = -1 if key is None else len(key_bytes)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value_bytes)
        index: cython.int = self._count
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            raise ValueError(f"Expected a timestamp in milliseconds since the epoch, or -1, got {timestamp_ms}")
        if self._magic < 2:
            self._put_raw(legacy_messages.encode_message(self._magic, index, timestamp_ms, key, value, headers))
        elif headers:
            self._put_record(timestamp_ms, key_bytes, key_size, value_bytes, value_size, encode_headers(headers)[0])
        else:
            self._put_record(timestamp_ms, key_bytes, key_size, value_bytes, value_size, None)
        self._count = index + 1
        return index

    def append_if_room(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: bytes | None,
    ) -> cython.Py_ssize_t:
        """Add a record if it fits within the size limit or is the first one; see `append`.

        Args:
            timestamp_ms: milliseconds since the epoch.
            key: the key as bytes, or None.
            value: the value as bytes, or None for a tombstone.
            headers: as returned by `encode_headers`, or None.

        Returns:
            The record's offset within the batch, or -1 if there is no room. Also -1 if a signal handler, or a finalizer
            that runs during a memory allocation, calls this method while it is already running.
        """
        if self._appending:
            return -1
        self._appending = True
        try:
            return self._append_if_room(timestamp_ms, key, value, headers)
        finally:
            self._appending = False

    @cython.cfunc
    def _append_if_room(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: bytes | None,
    ) -> cython.Py_ssize_t:
        key_size: cython.Py_ssize_t = -1 if key is None else len(key)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value)
        index: cython.Py_ssize_t = self._count
        size: cython.Py_ssize_t = self._size_with(key_size, value_size, headers)
        if index > 0 and size > self._size_limit:
            return -1
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            raise ValueError(f"Expected a timestamp in milliseconds since the epoch, or -1, got {timestamp_ms}")
        if self._magic < 2:
            with_headers = [("", None)] if headers is not None else None
            self._put_raw(legacy_messages.encode_message(self._magic, index, timestamp_ms, key, value, with_headers))
        else:
            self._put_record(timestamp_ms, key or b"", key_size, value or b"", value_size, headers)
        self._count = cython.cast(cython.int, index + 1)
        return index

    @cython.cfunc
    @cython.inline
    def _size_with(
        self, key_size: cython.Py_ssize_t, value_size: cython.Py_ssize_t, headers: bytes | None
    ) -> cython.Py_ssize_t:
        """Return the maximum size of the batch with one more record in bytes; a size of -1 means null."""
        headers_size: cython.Py_ssize_t = 1 if headers is None else len(headers)
        return self._size + _MAX_RECORD_OVERHEAD + headers_size - 1 + max(key_size, 0) + max(value_size, 0)

    def append_in_place(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: bytes | None,
    ) -> cython.Py_ssize_t:
        """Add a record if this only requires copying it; if not, the caller must use `append_if_room`.

        In the compiled variant, nothing here releases the GIL or runs other code, so no other thread can intervene.

        Args:
            timestamp_ms: milliseconds since the epoch.
            key: the key as bytes, or None.
            value: the value as bytes, or None for a tombstone.
            headers: as returned by `encode_headers`, or None.

        Returns:
            The record's offset within the batch, or -1 if more than copying is required. That is so for the first
            record, if there is too little memory or room, and before magic 2.
        """
        key_size: cython.Py_ssize_t = -1 if key is None else len(key)
        value_size: cython.Py_ssize_t = -1 if value is None else len(value)
        index: cython.Py_ssize_t = self._count
        size: cython.Py_ssize_t = self._size_with(key_size, value_size, headers)
        if (
            self._appending
            or index == 0
            or size > self._size_limit
            or size + _MAX_RECORD_OVERHEAD > self._capacity
            or self._magic < 2
        ):
            return -1
        if timestamp_ms < -1 or timestamp_ms > _MAX_TIMESTAMP:
            return -1
        self._put_record(timestamp_ms, key or b"", key_size, value or b"", value_size, headers)
        self._count = cython.cast(cython.int, index + 1)
        return index

    @cython.cfunc
    def _put_raw(self, data: bytes) -> cython.bint:
        """Add bytes that are already encoded."""
        size: cython.Py_ssize_t = len(data)
        if self._size + size > self._capacity:
            self._grow(self._size + size)
        self._buffer[self._size : self._size + size] = data
        self._size += size
        if size > self._largest:
            self._largest = size
        return True

    @cython.cfunc
    def _put_record(
        self,
        timestamp: cython.longlong,
        key: bytes,
        key_size: cython.Py_ssize_t,
        value: bytes,
        value_size: cython.Py_ssize_t,
        headers: bytes | None,
    ) -> cython.bint:
        """Encode a magic 2 record. A size of -1 means null; `headers` are encoded with their count, or None."""
        delta: cython.longlong
        headers_size: cython.Py_ssize_t = 1 if headers is None else len(headers)
        body: cython.Py_ssize_t
        at: cython.Py_ssize_t = self._size
        if self._count == 0:
            self._base_timestamp = self._max_timestamp = timestamp
        elif timestamp > self._max_timestamp:
            self._max_timestamp = timestamp
        delta = timestamp - self._base_timestamp
        body = 1 + varint_size(delta) + varint_size(self._count) + varint_size(key_size) + varint_size(value_size)
        body += max(key_size, 0) + max(value_size, 0) + headers_size
        if at + body + 10 > self._capacity:
            self._grow(at + body + 10)
        at = put_varint(self._out, at, body)
        self._out[at] = 0
        at = put_varint(self._out, at + 1, delta)
        at = put_varint(self._out, at, self._count)
        at = self._put_bytes(put_varint(self._out, at, key_size), key, key_size)
        at = self._put_bytes(put_varint(self._out, at, value_size), value, value_size)
        if headers is None:
            self._out[at] = 0
            at += 1
        else:
            at = self._put_bytes(at, headers, headers_size)
        if at - self._size > self._largest:
            self._largest = at - self._size
        self._size = at
        return True

    @cython.cfunc
    @cython.inline
    def _put_bytes(self, at: cython.Py_ssize_t, data: bytes, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Copy bytes to a position with enough room; return the position after them."""
        if size <= 0:
            return at
        if cython.compiled:
            memcpy(cython.address(self._out[at]), cython.cast(cython.p_char, data), size)
        else:
            self._out[at : at + size] = data
        return at + size

    @property
    def can_compress(self) -> bool:
        """Whether `compress` would have an effect."""
        return self._magic == 2 and self._compression != Compression.NONE and self._compressed_size != self._size

    def compress(self) -> None:
        """Compress the records now, so that `build` is fast. Any thread may call this while nothing is appended.

        Ignores errors; `build` tries again and raises them.
        """
        size: cython.Py_ssize_t = self._size
        if self.can_compress:
            self._compressed_size = size
            with contextlib.suppress(Exception):
                self._compressed = compress(self._compression, self._buffer[HEADER_SIZE:size], level=self._level)

    def build(
        self,
        *,
        base_offset: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
    ) -> bytes:
        """Encode the batch into bytes. This method may be called again with another producer state.

        Args:
            base_offset: offset of the first record; a producer leaves it at 0.
            producer_id: id of an idempotent producer (KIP-98), or -1.
            producer_epoch: epoch of that producer, or -1.
            base_sequence: sequence number of the first record, or -1.
            transactional: whether the batch belongs to a transaction.

        Raises:
            ValueError: the batch contains no record.
            UnsupportedCompressionTypeError: the magic does not support the codec.
        """
        state = ProducerState(producer_id, producer_epoch, base_sequence, transactional)
        return bytes(self.build_in_place(state, base_offset))

    def build_in_place(self, state: ProducerState = NO_PRODUCER, base_offset: int = 0) -> Buffer:
        """Encode the batch like `build`, but without a copy: the result may be this builder's own memory.

        Args:
            state: see `build`.
            base_offset: see `build`.

        Afterwards, only `clear` may be called. A magic 2 batch is writable.
        """
        if self._count == 0:
            raise ValueError("Expected at least one record in a batch to build, got none")
        if self._magic < 2:
            records = self._buffer[HEADER_SIZE : self._size]
            return legacy_messages.finish_messages(
                self._magic, records, self._count, base_offset, self._compression, self._level
            )
        return finish_batch(
            self._buffer[: self._size],
            self._count,
            base_offset,
            self._base_timestamp,
            self._max_timestamp,
            self._compression,
            self._level,
            state,
            self._compressed if self._compressed_size == self._size else None,
        )
