"""JSON in UTF-16 or UTF-32, or with a byte order mark, which Python's json reads as well."""

from __future__ import annotations

import json


def in_utf8(value: bytes) -> bytes | None:
    """Return a value in UTF-8 without a byte order mark; None if it is that, or has no encoding."""
    encoding = json.detect_encoding(value)
    if encoding == "utf-8":
        return None
    try:
        return value.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
