"""Checks that bytes are UTF-8. For the plain variant; `utf8.pxd` has the same for compiled modules."""

from __future__ import annotations

from kafka.record.batch_types import Buffer


def is_utf8(data: Buffer, start: int, size: int) -> bool:
    """Return whether bytes, which are known to be there, are UTF-8 without surrogates."""
    try:
        str(data[start : start + size], "utf-8")
    except UnicodeDecodeError:
        return False
    return True
