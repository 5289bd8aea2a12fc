"""Escape sequences: those that users write in options, and those that replace control characters in output.

A control character in a record could move a terminal's cursor, change its colours or title, or write to the clipboard.
Output therefore escapes control characters, including C1 (U+009B starts a sequence like ESC [), and characters that
change the direction of the surrounding text. Line breaks and tabs are kept.
"""

import re

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_NAMED = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


def as_typed(text: str) -> bytes:
    """Return the bytes of an argument as typed, even if they are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def unescaped(text: str) -> bytes:
    r"""Replace the escapes in a text, such as ``\t`` and ``\x00``; return UTF-8. Raises `ValueError`."""
    parts, at = [], 0
    for match in _ESCAPE.finditer(text):
        parts += [as_typed(text[at : match.start()]), escaped(match[1])]
        at = match.end()
    return b"".join([*parts, as_typed(text[at:])])


def unescaped_option(option: str, text: str | None) -> bytes | None:
    """Like `unescaped`, for an option that may be missing. Errors name the option."""
    try:
        return None if text is None else unescaped(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def escaped(name: str) -> bytes:
    """Return the bytes for the characters after a backslash. Raises `ValueError`."""
    if name[0] == "x" and len(name) == 3:
        return bytes.fromhex(name[1:])
    if name not in _NAMED:
        raise ValueError(f"\\{name} is not an escape; expected one of \\n \\t \\r \\0 \\\\ \\xNN")
    return _NAMED[name]


_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_RAW_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    r"""Replace control characters with escapes such as ``\x1b`` and ``\u202e``."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def bytes_without_controls(value: bytes) -> bytes:
    r"""Like `without_controls`, for UTF-8; a byte that is not UTF-8 becomes an escape too, such as ``\x9b``."""
    return without_controls(value.decode("utf-8", "backslashreplace")).encode()


def escaped_json(text: str) -> str:
    """Escape the control characters that `json.dumps` leaves unescaped; the JSON has the same value."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
