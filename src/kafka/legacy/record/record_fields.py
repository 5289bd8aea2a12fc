"""What a record of any magic consists of."""

from __future__ import annotations

from kafka.record.abc import ABCRecord


class RecordFields(ABCRecord):
    """The fields that records of all formats have. Magic 0 has no timestamp: both of its fields are None."""

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
        """In milliseconds since the epoch; None in magic 0."""
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
