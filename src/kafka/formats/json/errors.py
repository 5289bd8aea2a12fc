"""The error of schemas."""

from __future__ import annotations


class JsonSchemaError(ValueError):
    """A schema or type that JSON values cannot be read as, or columns written as. The text names the field."""

    remedy = "Correct the schema at the position that the message names."


def place(path: str) -> str:
    """Return the beginning of an error: the path of the field, if there is one."""
    path = path.strip(".")
    return f"At {path}: " if path else ""
