"""Columns whose keys and values were converted to text; `typed.py` creates them for ``--value`` and ``--key-format``.

Everything that `selection.py` and the formats use of columns is available here, too.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.record import Columns, ConsumerRecord


class TextColumns:
    """Columns whose keys and values have been converted to text; everything else comes from the original columns."""

    def __init__(self, columns: "Columns", records: "list[ConsumerRecord]") -> None:
        self._columns = columns
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._columns, name)

    def key(self, row: int) -> bytes | None:
        """Return the text of a key."""
        key: bytes | None = self._records[row].key
        return key

    def value(self, row: int) -> bytes | None:
        """Return the text of a value."""
        value: bytes | None = self._records[row].value
        return value

    def to_records(self) -> "list[ConsumerRecord]":
        """Return the records with the converted texts."""
        return self._records
