"""HTML, of which nothing is left unescaped by mistake."""

import html as _html
from collections.abc import Iterable
from typing import Any

_UNSEEN: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},  # pictures of control characters
    0x7F: 0x2421,
    **{
        code: f"\\u{code:04x}"  # would change how the text around them reads
        for code in (
            *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
            *(*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
            *range(0xFFF0, 0xFFFC),
        )
    },
    **{code: f"\\U{code:08x}" for code in range(0xE0000, 0xE1000)},  # tags and selectors, which draw nothing
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)},  # no characters; UTF-8 has none of them
}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def html(template: str, *values: Any) -> Html:
    """HTML of a template in the manner of `str.format`; values are escaped unless they are `Html`."""
    return Html(template.format(*map(escaped, values)))


def escaped(value: Any) -> Html:
    """A value as HTML: as text or in an attribute within quotes. None is nothing."""
    if isinstance(value, Html):
        return value
    if value is None:
        return Html("")
    return Html(_html.escape(visible(str(value))))


def visible(text: str) -> str:
    """A text in which control characters, and those that change the direction of others, are seen."""
    return text.translate(_UNSEEN)


def joined(parts: Iterable[Html], between: str = "") -> Html:
    """Parts one after the other; ``between`` is HTML."""
    return Html(between.join(parts))
