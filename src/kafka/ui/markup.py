"""HTML, of which nothing is left unescaped by mistake."""

import html as _html
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

_UNSEEN: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},  # pictures of control characters
    0x7F: 0x2421,
    **{
        code: f"\\u{code:04x}"  # would change how the text around them reads
        for code in (0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
    },
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


def link(text: Any, path: str, **query: Any) -> Html:
    """A link; the values of ``query`` that are None or "" are left out."""
    return html('<a href="{}">{}</a>', address(path, **query), text)


def address(path: str, **query: Any) -> str:
    """A path with a query."""
    given = {name.rstrip("_"): value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def table(titles: Iterable[str], rows: Iterable[Iterable[Any]], numbers: Iterable[str] = (), caption: str = "") -> Html:
    """A table.

    Arguments:
        titles: of the columns.
        rows: the cells; the first of each row names it.
        numbers: titles of the columns that have numbers, which stand to the right.
        caption: says what it is to those who do not see it.
    """
    names, right = list(titles), frozenset(numbers)
    kinds = [Html(' class="n"') if name in right else Html("") for name in names]
    head = joined(html('<th scope="col"{}>{}</th>', kind, name) for kind, name in zip(kinds, names, strict=True))
    body = joined(html("<tr>{}</tr>", _cells(row, kinds)) for row in rows)
    if not body:
        body = html('<tr><td colspan="{}" class="quiet">none</td></tr>', len(names))
    return html(
        '<div class="wide" tabindex="0" role="region" aria-label="{}"><table>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
        caption or names[0],
        head,
        body,
    )


def _cells(row: Iterable[Any], kinds: list[Html]) -> Html:
    cells = [
        html("<td{}>{}</td>" if at else '<th scope="row"{}>{}</th>', kind, cell)
        for at, (kind, cell) in enumerate(zip(kinds, row, strict=True))
    ]
    return joined(cells)


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """A list of names and values."""
    return html("<dl>{}</dl>", joined(html("<div><dt>{}</dt><dd>{}</dd></div>", *pair) for pair in pairs))
