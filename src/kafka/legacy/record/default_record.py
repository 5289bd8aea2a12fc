"""Magic 2 records, and fields and constants shared by readers and builders."""

from __future__ import annotations

import struct

from kafka.record import layout
from kafka.record.abc import ABCRecord
from kafka.record.batch_types import Compression


class RecordFields(ABCRecord):
    """Fields of records in all formats. Magic 0 has no timestamps: the timestamp and its type are None."""

    __slots__ = ("_key", "_offset", "_timestamp", "_timestamp_type", "_value")

    _offset: int
    _timestamp: int | None
    _timestamp_type: int | None
    _key: bytes | None
    _value: bytes | None

    @property
    def offset(self) -> int:
        return self._offset

    @property
    def timestamp(self) -> int | None:
        """The timestamp in milliseconds since 1970; None in magic 0."""
        return self._timestamp

    @property
    def timestamp_type(self) -> int | None:
        return self._timestamp_type

    @property
    def key(self) -> bytes | None:
        return self._key

    @property
    def value(self) -> bytes | None:
        return self._value


class DefaultRecordBase:
    """Constants for magic 2."""

    HEADER_STRUCT = layout.HEADER
    ATTRIBUTES_OFFSET = layout.ATTRIBUTES_AT
    CRC_OFFSET = layout.CRC_AT
    AFTER_LEN_OFFSET = layout.LOG_OVERHEAD

    CODEC_MASK = layout.CODEC_MASK
    CODEC_NONE = int(Compression.NONE)
    CODEC_GZIP = int(Compression.GZIP)
    CODEC_SNAPPY = int(Compression.SNAPPY)
    CODEC_LZ4 = int(Compression.LZ4)
    CODEC_ZSTD = int(Compression.ZSTD)
    TIMESTAMP_TYPE_MASK = layout.LOG_APPEND_TIME
    TRANSACTIONAL_MASK = layout.TRANSACTIONAL
    CONTROL_MASK = layout.CONTROL

    LOG_APPEND_TIME = 1
    CREATE_TIME = 0
    NO_PRODUCER_ID = -1
    NO_SEQUENCE = -1
    MAX_INT = 2147483647


class DefaultRecord(RecordFields):
    """A record in a magic 2 batch."""

    __slots__ = ("_headers", "_size_in_bytes")

    def __init__(
        self,
        size_in_bytes: int,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes | None]],
    ) -> None:
        """Set the fields; `size_in_bytes` is the size field of the record."""
        self._size_in_bytes = size_in_bytes
        self._offset = offset
        self._timestamp = timestamp
        self._timestamp_type = timestamp_type
        self._key = key
        self._value = value
        self._headers = headers

    @property
    def size_in_bytes(self) -> int:
        """Size of the record in its batch, without the size field, in bytes."""
        return self._size_in_bytes

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        return self._headers

    @property
    def checksum(self) -> None:
        """Always None: checksums belong to batches."""
        return None

    def validate_crc(self) -> bool:
        """Return True: checksums belong to batches."""
        return True

    def __repr__(self) -> str:
        return (
            f"DefaultRecord(offset={self._offset!r}, timestamp={self._timestamp!r}, "
            f"timestamp_type={self._timestamp_type!r}, key={self._key!r}, value={self._value!r}, "
            f"headers={self._headers!r})"
        )


class ControlRecord(DefaultRecord):
    """A record that ends a transaction."""

    __slots__ = ("_type", "_version")

    KEY_STRUCT = struct.Struct(">hh")
    """The version and the type: 0 for an abort, 1 for a commit."""

    def __init__(
        self,
        size_in_bytes: int,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[tuple[str, bytes | None]],
    ) -> None:
        """Set the fields; the key contains the version and the type."""
        super().__init__(size_in_bytes, offset, timestamp, timestamp_type, key, value, headers)
        self._version, self._type = self.KEY_STRUCT.unpack(key or b"")

    @property
    def version(self) -> int:
        """The version of the key."""
        return int(self._version)

    @property
    def type(self) -> int:
        """0 for an abort, 1 for a commit."""
        return int(self._type)

    @property
    def abort(self) -> bool:
        """Whether the transaction was aborted."""
        return self.type == 0

    @property
    def commit(self) -> bool:
        """Whether the transaction was committed."""
        return self.type == 1

    def __repr__(self) -> str:
        what = "abort" if self.abort else "commit"
        return (
            f"ControlRecord(offset={self._offset!r}, timestamp={self._timestamp!r}, "
            f"timestamp_type={self._timestamp_type!r}, version={self.version!r}, type={self.type!r} <{what}>)"
        )


class DefaultRecordMetadata:
    """The result of adding a record to a builder."""

    __slots__ = ("_offset", "_size", "_timestamp")

    def __init__(self, offset: int, size: int, timestamp: int) -> None:
        """Set the record's offset in its batch, its size in bytes, and its timestamp in milliseconds."""
        self._offset = offset
        self._size = size
        self._timestamp = timestamp

    @property
    def offset(self) -> int:
        """The offset in the batch."""
        return self._offset

    @property
    def crc(self) -> None:
        """Always None: checksums belong to batches."""
        return None

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self._size

    @property
    def timestamp(self) -> int:
        """The timestamp in milliseconds since 1970."""
        return self._timestamp

    def __repr__(self) -> str:
        return f"DefaultRecordMetadata(offset={self._offset!r}, size={self._size!r}, timestamp={self._timestamp!r})"
