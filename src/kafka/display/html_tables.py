"""The HTML tables that notebooks show: small, escaped, and cheap even for large values."""

import datetime
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

from kafka.display.markup import Html, html, joined

MOST_ROWS = 10
"""Maximum number of rows shown; the number of remaining rows is stated below."""
_MOST_TEXT = 200
_MOST_VALUE = 80
_LEFT = Html(' style="text-align: left"')
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_WITH_VALUES = ("key", "value", "headers")
_OF_A_RECORD = ("topic", "partition", "offset", "timestamp", *_WITH_VALUES, "delivery_count")
"""The fields of a record that are shown, if it has them."""


class _Values(reprlib.Repr):
    """The `repr` of a value, computed from a limited part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = _MOST_VALUE
        self.maxlevel = 4

    def repr_bytes(self, value: bytes, level: int) -> str:
        """As for text."""
        return repr(value) if len(value) <= _MOST_VALUE else f"{value[:_MOST_VALUE]!r}... ({len(value):,} bytes)"


_VALUES = _Values()


def titled(title: str, *parts: Html) -> Html:
    """Return parts below a title."""
    return html("<div><p><b>{}</b></p>{}</div>", text(title), joined(parts))


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Return a table of names and values; None and empty values are omitted."""
    rows = [
        html("<tr><th{}>{}</th><td{}>{}</td></tr>", _LEFT, text(name), _LEFT, text(value))
        for name, value in pairs
        if value is not None and value != ""
    ]
    return html("<table><tbody>{}</tbody></table>", joined(rows))


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> Html:
    """Return a table; reads at most `MOST_ROWS` rows.

    Arguments:
        titles: the column titles.
        rows: the cells.
        total: the total number of rows.
    """
    head = joined(html("<th{}>{}</th>", _LEFT, text(each)) for each in titles)
    body = [
        html("<tr>{}</tr>", joined(html("<td{}>{}</td>", _LEFT, text(cell)) for cell in row))
        for row, _ in zip(rows, range(MOST_ROWS), strict=False)
    ]
    more = html("<p>and {} more</p>", f"{total - len(body):,}") if total > len(body) else Html("")
    return html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}", head, joined(body), more)


def text(shown: object) -> str:
    """Return the shortened text of a cell; the caller escapes it."""
    if isinstance(shown, Html):
        return shown
    told = str(shown) if shown is not None else ""
    return told if len(told) <= _MOST_TEXT else f"{told[:_MOST_TEXT]}…"


def value(shown: object) -> str:
    """Return the shortened `repr` of a key, a value or headers; never raises, whatever a user's class does."""
    try:
        return _VALUES.repr(shown)
    except Exception:  # from a user's class, which must not prevent showing the other records
        return f"<{type(shown).__name__}>"


def time(timestamp_ms: object) -> str:
    """Format a timestamp in milliseconds since 1970-01-01 UTC; invalid ones unchanged, and "" for -1."""
    if not isinstance(timestamp_ms, int):
        return text(timestamp_ms)
    if timestamp_ms < 0:
        return ""
    try:
        moment = _EPOCH + datetime.timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return str(timestamp_ms)
    return moment.isoformat(" ", "milliseconds")


def one_record(record: Any) -> Html:
    """Return a table of the fields of a record, a named tuple."""
    return titled(type(record).__name__, facts(zip(_shown(record), _cells(record), strict=True)))


def many_records(title: str, records: Iterable[Any], total: int) -> Html:
    """Return a table of records, one per row.

    Arguments:
        title: the title.
        records: named tuples of one class; at most `MOST_ROWS` are read.
        total: the total number of records.
    """
    first = [record for record, _ in zip(records, range(MOST_ROWS), strict=False)]
    if not first:
        return titled(title)
    return titled(title, table(_shown(first[0]), map(_cells, first), total))


def _shown(record: Any) -> list[str]:
    return [name for name in _OF_A_RECORD if name in record._fields]


def _cells(record: Any) -> list[str]:
    found = {name: getattr(record, name) for name in _shown(record)}
    return [
        value(each) if name in _WITH_VALUES else time(each) if name == "timestamp" else text(each)
        for name, each in found.items()
    ]
