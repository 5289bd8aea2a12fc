"""Surrogates in UTF-8: half a character each, which JSON's escapes and other languages' strings can have alone."""

from __future__ import annotations

import re

from kafka.record.types import Buffer

_SURROGATE = re.compile("[\ud800-\udfff]")


def is_utf8_but_surrogates(data: Buffer, start: int, size: int) -> bool:
    """Return whether bytes are UTF-8, in which surrogates may stand, as for Python's json."""
    try:
        str(data[start : start + size], "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def without_surrogates(text: bytes) -> bytes:
    """Put U+FFFD in the place of each surrogate; the size stays the same."""
    return _SURROGATE.sub("\ufffd", text.decode("utf-8", "surrogatepass")).encode()
