"""The tables that notebooks show: small, escaped, and cheap, however large a value is."""

import datetime
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

from kafka.display.markup import Html, html, joined

MOST_ROWS = 10
"""So many rows are shown at most; how many there are besides is said below."""
_MOST_TEXT = 200
_MOST_VALUE = 80
_LEFT = Html(' style="text-align: left"')
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_WITH_VALUES = ("key", "value", "headers")
_OF_A_RECORD = ("topic", "partition", "offset", "timestamp", *_WITH_VALUES, "delivery_count")
"""The fields of a record that are shown, where it has them."""


class _Values(reprlib.Repr):
    """The `repr` of a value, of which too much is not looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = _MOST_VALUE
        self.maxlevel = 4

    def repr_bytes(self, value: bytes, level: int) -> str:
        """As of a text."""
        return repr(value) if len(value) <= _MOST_VALUE else f"{value[:_MOST_VALUE]!r}... ({len(value):,} bytes)"


_VALUES = _Values()


def titled(title: str, *parts: Html) -> Html:
    """Parts below a line that says what they are of."""
    return html("<div><p><b>{}</b></p>{}</div>", text(title), joined(parts))


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """A table of names and values; None, and what is empty, is left out."""
    rows = [
        html("<tr><th{}>{}</th><td{}>{}</td></tr>", _LEFT, text(name), _LEFT, text(value))
        for name, value in pairs
        if value is not None and value != ""
    ]
    return html("<table><tbody>{}</tbody></table>", joined(rows))


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> Html:
    """A table of rows, of which `MOST_ROWS` are asked for at most.

    Arguments:
        titles: of the columns.
        rows: the cells.
        total: how many rows there are.
    """
    head = joined(html("<th{}>{}</th>", _LEFT, text(each)) for each in titles)
    body = [
        html("<tr>{}</tr>", joined(html("<td{}>{}</td>", _LEFT, text(cell)) for cell in row))
        for row, _ in zip(rows, range(MOST_ROWS), strict=False)
    ]
    more = html("<p>and {} more</p>", f"{total - len(body):,}") if total > len(body) else Html("")
    return html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}", head, joined(body), more)


def text(shown: object) -> str:
    """What a cell says: a text, or a number; no more than a reader takes in. The caller escapes it."""
    if isinstance(shown, Html):
        return shown
    told = str(shown) if shown is not None else ""
    return told if len(told) <= _MOST_TEXT else f"{told[:_MOST_TEXT]}…"


def value(shown: object) -> str:
    """A key, a value or headers, as Python writes them, shortened; a text whatever a program's own class does."""
    try:
        return _VALUES.repr(shown)
    except Exception:  # of a class of the program's own, which is not to be in the way of the other records
        return f"<{type(shown).__name__}>"


def time(timestamp_ms: object) -> str:
    """A timestamp in milliseconds since 1970-01-01 UTC as a date; what is none as it is, and "" for -1."""
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
    """A record, a named tuple, field by field."""
    return titled(type(record).__name__, facts(zip(_shown(record), _cells(record), strict=True)))


def many_records(title: str, records: Iterable[Any], total: int) -> Html:
    """Records, one a row.

    Arguments:
        title: what they are.
        records: named tuples of one class, of which `MOST_ROWS` are asked for at most.
        total: how many there are.
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
