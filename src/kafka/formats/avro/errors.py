"""Errors for single Avro values."""

from __future__ import annotations


class AvroDecodeError(ValueError):
    """Bytes are not a valid value of the schema."""

    remedy = "Find out which program wrote these bytes, and with which schema."

    def __init__(self, path: str, position: int, reason: str) -> None:
        """Make the error.

        Args:
            path: the field, such as `order.items[3].price`; empty for the whole value.
            position: the offset of the byte at which reading failed.
            reason: what was expected and found.
        """
        super().__init__(path, position, reason)
        self.path, self.position, self.reason = path, position, reason

    def __str__(self) -> str:
        at = f"{self.path}, byte {self.position}" if self.path else f"byte {self.position}"
        return f"At {at}: {self.reason}"


class AvroEncodeError(ValueError):
    """A value does not fit the schema."""

    remedy = "Correct the value of the field that the message names."

    def __init__(self, path: str, reason: str, row: int | None = None) -> None:
        """Make the error.

        Args:
            path: the field, such as `order.items[3].price`; empty for the whole value.
            reason: what was expected and found.
            row: the row number, if the value is from a column.
        """
        super().__init__(path, reason, row)
        self.path, self.reason, self.row = path, reason, row

    def __str__(self) -> str:
        at = ", ".join(([] if self.row is None else [f"row {self.row}"]) + ([self.path] if self.path else []))
        return f"At {at}: {self.reason}" if at else f"{self.reason[:1].upper()}{self.reason[1:]}"
