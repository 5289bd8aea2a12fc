"""The error for invalid or unsupported schemas."""

from __future__ import annotations


class JsonSchemaError(ValueError):
    """JSON values cannot be read or written as a schema or type. The message names the field."""

    remedy = "Correct the schema at the position that the message names."


def place(path: str) -> str:
    """Return the beginning of an error message: the field's path, if there is one."""
    path = path.strip(".")
    return f"At {path}: " if path else ""
