"""Texts of records without what a terminal obeys: it would be moved, coloured, renamed, or made to write a clipboard.

These are control characters, C1 included (U+009B begins a sequence as ESC [ does), and those that change the direction
of the text around them. Line ends and tabs stay in texts.
"""

import re

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_RAW_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    r"""A text with escapes such as ``\x1b`` and ``\u202e`` for what a terminal obeys."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def bytes_without_controls(value: bytes) -> bytes:
    r"""Likewise, as UTF-8; a byte that is no UTF-8 is an escape, too, such as ``\x9b``."""
    return without_controls(value.decode("utf-8", "backslashreplace")).encode()


def escaped_json(text: str) -> str:
    """JSON with escapes for what `json.dumps` leaves raw of it: the same value to whoever reads it."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
