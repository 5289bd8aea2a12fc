"""HTML templates that escape all values."""

import html as _html
from collections.abc import Iterable
from typing import Any

_UNSEEN: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},  # pictures of control characters
    0x7F: 0x2421,
    **{
        code: f"\\u{code:04x}"  # would change how the surrounding text reads
        for code in (
            *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
            *(*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
            *range(0xFFF0, 0xFFFC),
        )
    },
    **{code: f"\\U{code:08x}" for code in range(0xE0000, 0xE1000)},  # tags and selectors, which are invisible
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)},  # surrogates, which UTF-8 cannot encode
}


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def html(template: str, *values: Any) -> Html:
    """Fill a template as `str.format` does; values are escaped unless they are `Html`."""
    return Html(template.format(*map(escaped, values)))


def escaped(value: Any) -> Html:
    """Escape a value for use as text or in a quoted attribute. None becomes an empty string."""
    if isinstance(value, Html):
        return value
    if value is None:
        return Html("")
    return Html(_html.escape(visible(str(value))))


def visible(text: str) -> str:
    """Make control characters, and those that change the direction of text, visible."""
    return text.translate(_UNSEEN)


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Join parts; the separator ``between`` is HTML."""
    return Html(between.join(parts))
