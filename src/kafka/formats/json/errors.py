"""The error for invalid or unsupported schemas."""

from __future__ import annotations


class JsonSchemaError(ValueError):
    """A schema or type is invalid, or JSON values cannot be read or written with it. The message names the field."""

    remedy = "Correct the schema at the position that the message names."


def place(path: str) -> str:
    """Return the beginning of an error message: the field's path, if there is one."""
    path = path.strip(".")
    return f"At {path}: " if path else ""
