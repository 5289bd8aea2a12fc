"""Characters that cannot be typed, as they are written in options."""

import re

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_NAMED = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


def as_typed(text: str) -> bytes:
    """The bytes of an argument: those that were typed, also where they are no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def unescaped(text: str) -> bytes:
    r"""A text with its escapes, such as ``\t`` and ``\x00``, as UTF-8. Raises `ValueError`."""
    parts, at = [], 0
    for match in _ESCAPE.finditer(text):
        parts += [as_typed(text[at : match.start()]), escaped(match[1])]
        at = match.end()
    return b"".join([*parts, as_typed(text[at:])])


def unescaped_option(option: str, text: str | None) -> bytes | None:
    """As `unescaped`, of an option that may not be given; the error names it."""
    try:
        return None if text is None else unescaped(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def escaped(name: str) -> bytes:
    """What stands behind a backslash. Raises `ValueError`."""
    if name[0] == "x" and len(name) == 3:
        return bytes.fromhex(name[1:])
    if name not in _NAMED:
        raise ValueError(f"\\{name} is not an escape; expected one of \\n \\t \\r \\0 \\\\ \\xNN")
    return _NAMED[name]
