"""HTML elements for the pages: links, tables, lists of names and values; numbers and times as text."""

import datetime
import html as _html
from collections.abc import Collection, Iterable
from typing import Any
from urllib.parse import urlencode

from kafka.display import size_text
from kafka.display.html_tables import Html, escaped, html, joined, visible

__all__ = ["Html", "address", "escaped", "facts", "html", "joined", "link", "sent_back", "table", "visible"]


def sent_back(value: Any) -> Html:
    """Escape the value of a form field so that the browser sends it back unchanged."""
    return Html("" if value is None else _html.escape(str(value)))


def link(text: Any, path: str, **query: Any) -> Html:
    """Return a link; values of ``query`` that are None or "" are omitted."""
    return html('<a href="{}">{}</a>', address(path, **query), text)


def address(path: str, **query: Any) -> str:
    """Return the relative address of a page, with a query string.

    Addresses are relative so that the pages work below any path, as for several clusters or behind a proxy.

    Arguments:
        path: the path below the cluster's root, such as "/topic".
        query: the fields; values that are None or "" are omitted, and a "_" at the end of a name is removed.
    """
    page = path.lstrip("/") or "./"
    given = {name.rstrip("_"): value for name, value in query.items() if value not in (None, "")}
    return f"{page}?{urlencode(given, errors='surrogatepass')}" if given else page


def table(titles: Iterable[str], rows: Iterable[Iterable[Any]], numbers: Iterable[str] = (), caption: str = "") -> Html:
    """Return a table.

    Arguments:
        titles: the column titles.
        rows: the cells of each row; the first cell is the row's heading.
        numbers: titles of the columns that contain numbers, which are right-aligned.
        caption: the label for screen readers.
    """
    names, right = list(titles), frozenset(numbers)
    kinds = [Html(' class="n"') if name in right else Html("") for name in names]
    head = joined(html('<th scope="col"{}>{}</th>', kind, name) for kind, name in zip(kinds, names, strict=True))
    body = joined(html("<tr>{}</tr>", _cells(row, names, right)) for row in rows)
    if not body:
        body = html('<tr><td colspan="{}" class="quiet">none</td></tr>', len(names))
    return html(
        '<div class="wide" tabindex="0" role="region" aria-label="{}"><table>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
        caption or names[0],
        head,
        body,
    )


def _cells(row: Iterable[Any], names: list[str], right: Collection[str]) -> Html:
    """Return the cells of a row. On phones, the web UI shows their labels, and two numbers on a line."""
    cells = []
    for at, (name, cell) in enumerate(zip(names, row, strict=True)):
        is_number = name in right
        if at:
            kind = Html(' class="n half"') if is_number else ""
            cells.append(html('<td{} data-label="{}">{}</td>', kind, name[:1].upper() + name[1:], cell))
        else:
            cells.append(html('<th scope="row"{}>{}</th>', Html(' class="n"') if is_number else "", cell))
    return joined(cells)


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """Return a list of names and values."""
    return html("<dl>{}</dl>", joined(html("<div><dt>{}</dt><dd>{}</dd></div>", *pair) for pair in pairs))


UNKNOWN = "–"  # noqa: RUF001  # an en dash stands for no value


def count(value: float | None) -> str:
    """Format a whole number with thousands separators."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def rate(value: float | None, unit: str = "/s") -> str:
    """Format a rate."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}{unit}" if value >= 10 or value == 0 else f"{value:.2g}{unit}"


def size(value: float | None) -> str:
    """Format a number of bytes with its unit."""
    return UNKNOWN if value is None else size_text(value)


def time(timestamp_ms: int) -> str:
    """Format a record's timestamp in UTC, or in milliseconds if it is not a valid date; -1 means unknown."""
    if timestamp_ms < 0:
        return UNKNOWN
    try:
        found = datetime.datetime.fromtimestamp(timestamp_ms / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return f"{timestamp_ms} ms"
    return found.isoformat(" ", "milliseconds").replace("+00:00", "Z")


def short(value: float) -> str:
    """Format a number for an axis, with three digits and a prefix such as k."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= 0.9995 * factor:  # three digits of smaller values do not round up to 1000
            return f"{value / factor:.3g}{unit}"
    return f"{value:.3g}"
