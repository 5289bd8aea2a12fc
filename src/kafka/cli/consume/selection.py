"""Selects records by key, header and value, up to a limit."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafka.cli.escapes import as_typed

if TYPE_CHECKING:
    from kafka.filters import Filter, FilterRecord
    from kafka.record import Columns, ConsumerRecord


class Piece(NamedTuple):
    """Selected records from one partition.

    Attributes:
        columns: the columns that contain the records.
        rows: the selected rows; None: all rows.
        next_offset: the offset after the last record examined.
    """

    columns: "Columns"
    rows: list[int] | None
    next_offset: int

    def __len__(self) -> int:
        return len(self.columns) if self.rows is None else len(self.rows)

    def records(self) -> "list[ConsumerRecord]":
        """Return the selected records as objects."""
        records = self.columns.to_records()
        return records if self.rows is None else [records[row] for row in self.rows]


class Selection:
    """Filters, and a limit on the number of records. A record must match all filters.

    Arguments:
        keys: possible values of the key.
        key_regex: a regular expression to find in the key.
        headers: pairs of a name and a value (None: any) that the record's headers must contain.
        grep: a regular expression to find in the value.
        most: maximum number of records; None: no limit.
        condition: an expression that must be true.

    Attributes:
        has_filters: whether there are any filters.
        looked_at: number of records examined.
        last: the last record for which the condition was not true, if possible one with a value.
    """

    def __init__(
        self,
        keys: Sequence[str] = (),
        key_regex: str | None = None,
        headers: Sequence[tuple[str, str | None]] = (),
        grep: str | None = None,
        most: int | None = None,
        condition: "Filter | None" = None,
    ) -> None:
        self._keys = {as_typed(key) for key in keys}
        self._key_pattern = _pattern("--key-regex", key_regex)
        self._headers = [(name, None if value is None else as_typed(value)) for name, value in headers]
        self._value_pattern = _pattern("--grep", grep)
        self.condition = condition
        self.last: FilterRecord | None = None
        self.has_filters = bool(self._keys or self._headers) or not all(
            each is None for each in (key_regex, grep, condition)
        )
        self._left = most
        self.looked_at = 0

    @property
    def complete(self) -> bool:
        """Whether the limit has been reached."""
        return self._left is not None and self._left <= 0

    def take(self, columns: "Columns") -> Piece:
        """Select records from columns, and count them toward the limit."""
        self.looked_at += len(columns)
        if not self.has_filters and (self._left is None or self._left >= len(columns)):
            rows, next_offset = None, columns.next_offset
        else:
            rows, next_offset = self._rows(columns)
        piece = Piece(columns, rows, next_offset)
        if self._left is not None:
            self._left -= len(piece)
        return piece

    def _rows(self, columns: "Columns") -> tuple[list[int], int]:
        rows: list[int] = []
        for row in range(len(columns)):
            if len(rows) == self._left:
                return rows, columns.offsets[row]
            if self._wanted(columns, row):
                rows.append(row)
        return rows, columns.next_offset

    def _wanted(self, columns: "Columns", row: int) -> bool:
        if self._keys or self._key_pattern:
            key = columns.key(row)
            if self._keys and key not in self._keys:
                return False
            if self._key_pattern and (key is None or not self._key_pattern.search(key)):
                return False
        if self._headers and not self._has_headers(columns.headers(row)):
            return False
        if self._value_pattern:
            value = columns.value(row)
            if value is None or self._value_pattern.search(value) is None:
                return False
        return self.condition is None or self._holds(self.condition, columns, row)

    def _holds(self, condition: "Filter", columns: "Columns", row: int) -> bool:
        from kafka.cli.consume.record_fields import of_row

        record = of_row(columns, row, condition.roots)
        matches = condition.matches(record)
        if not matches and (self.last is None or record.value is not None):
            self.last = record
        return matches

    def _has_headers(self, there: Sequence[tuple[str, bytes | None]]) -> bool:
        return all(any(name == has and value in (None, it) for has, it in there) for name, value in self._headers)


def _pattern(option: str, text: str | None) -> "re.Pattern[bytes] | None":
    """Compile the pattern of an option. Raises `ValueError`."""
    try:
        return None if text is None else re.compile(as_typed(text))
    except re.error as error:
        raise ValueError(
            f"{option} expects a regular expression, got {text!r}: {error}; use a backslash to match a special "
            "character itself"
        ) from None
