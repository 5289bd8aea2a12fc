"""Encodings of JSON other than plain UTF-8: UTF-16, UTF-32, byte order marks and surrogates in UTF-8.

Python's json reads all of these. A surrogate is half a character, which can occur alone in JSON's escapes and in the
strings of other languages.
"""

from __future__ import annotations

import json
import re

from kafka.record.batch_types import Buffer

_SURROGATE = re.compile("[\ud800-\udfff]")


def in_utf8(value: bytes) -> bytes | None:
    """Return a value in UTF-8 without a byte order mark; None if it is that, or has no encoding."""
    encoding = json.detect_encoding(value)
    if encoding == "utf-8":
        return None
    try:
        return value.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


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
