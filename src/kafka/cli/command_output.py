"""The output of commands: JSON on request, tables on a terminal, and tab-separated lines for other programs."""

import codecs
import datetime
import enum
import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from kafka.cli.escapes import escaped_json
from kafka.cli.json_text import colored
from kafka.display import size_text

_GAP = "  "


class Output:
    """Prints results on standard output.

    Arguments:
        as_json: print JSON.
        titles: print column titles above tables.
        color: "always", "never", or "auto": on a terminal, unless ``NO_COLOR`` is set.

    Attributes:
        as_json: whether the output is JSON.
        terminal: whether standard output is a terminal.
        colors: whether the output has colours.
    """

    def __init__(self, as_json: bool, titles: bool = True, color: str = "auto") -> None:
        self.as_json = as_json
        self._titles = titles
        self._printed: tuple[str, ...] = ()
        self.terminal = sys.stdout.isatty()
        wanted = self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.colors = color == "always" or (color == "auto" and wanted)
        self._takes_all = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Print rows.

        JSON is a list of objects with all fields. A terminal gets a table with a line of titles. Other programs get one
        tab-separated line per row, after one with the titles, which are not repeated if the next table has the same.

        Arguments:
            columns: the columns to print, in order; a terminal shows ``bytes`` and similar columns with units.
        """
        if self.as_json:
            self.data(list(rows))
            return
        if not self.terminal:
            if self._titles and self._printed != tuple(columns):
                click.echo("\t".join(columns))
            self._printed = tuple(columns)
            for row in rows:
                click.echo("\t".join(_plain(row.get(column)) for column in columns))
            return
        cells = [[_shown(column, row.get(column)) for column in columns] for row in rows]
        numbers = [all(_is_number(row.get(column)) for row in rows) and bool(rows) for column in columns]
        titles = [column.replace("_", " ").upper() for column in columns]
        first, *lines = aligned([titles, *cells], numbers)
        if self._titles:
            click.echo(self._bold(first), color=self.colors)
        for line in lines:
            click.echo(line)

    def fields(self, values: Mapping[str, Any]) -> None:
        """Print one object: as a JSON object, or one line per field."""
        if self.as_json:
            self.data(values)
            return
        width = max((len(name) for name in values), default=0)
        for name, value in values.items():
            title = name.replace("_", " ")
            if self.terminal:
                click.echo(f"{self._bold(f'{title:<{width}}')}{_GAP}{_shown(name, value)}", color=self.colors)
            else:
                click.echo(f"{name}\t{_plain(value)}")

    def done(self, text: str, value: Any) -> None:
        """Report a completed action: print the text, or the value as JSON."""
        if self.as_json:
            self.data(value)
        else:
            click.echo(text)

    def data(self, value: Any) -> None:
        """Print a value as JSON."""
        indent = 2 if self.terminal else None
        text = escaped_json(json.dumps(jsonable(value), ensure_ascii=not self._takes_all, indent=indent))
        click.echo(colored(text) if self.colors else text, color=self.colors)

    def _bold(self, text: str) -> str:
        return click.style(text, bold=True) if self.colors else text

    def title(self, text: str) -> None:
        """Print a heading between tables, on a terminal only."""
        if self.terminal and not self.as_json:
            click.echo(self._bold(printable(text)), color=self.colors)


def output_of(given: Mapping[str, Any]) -> Output:
    """Return the output for the common options of a command."""
    titles = given.get("titles")
    return Output(bool(given["as_json"]), titles is None or bool(titles), (given.get("color") or "auto").lower())


def note(text: str) -> None:
    """Print a line for the user on standard error."""
    click.echo(text, err=True)


def aligned(rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> list[str]:
    """Format rows as lines with aligned columns.

    Arguments:
        rows: rows of the same length.
        numbers: whether each column contains numbers, which are right-aligned.
    """
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths, numbers) for row in rows]


def _line(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    padded = []
    for cell, width, number in zip(cells, widths, numbers, strict=True):
        blank = " " * (width - _width(cell))
        padded.append(blank + cell if number else cell + blank)
    return _GAP.join(padded).rstrip()


def _width(text: str) -> int:
    """Return the width of a text in terminal columns: two per wide East Asian character, none per combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def printable(text: str) -> str:
    """Escape characters in untrusted text that could move a terminal's cursor, or change its colours or title."""
    if text.isprintable():
        return text
    blank = text.replace("\t", " ").replace("\n", " ")
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in blank)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _plain(value: Any) -> str:
    """Format a value for other programs, without line breaks and tabs."""
    value = jsonable(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(_plain(each) for each in value)
    if isinstance(value, dict):
        return ",".join(f"{name}={_plain(each)}" for name, each in value.items())
    return printable(str(value))


def _shown(name: str, value: Any) -> str:
    """Format a value for a terminal."""
    if value is None:
        return "-"
    if name in ("bytes", "size") and isinstance(value, int):
        return size_text(value)
    if isinstance(value, int) and not isinstance(value, bool | enum.Enum) and name in ("records", "lag", "offsets"):
        return f"{value:,}"
    return _plain(value)


def jsonable(value: Any) -> Any:
    """Convert a value to types that JSON supports."""
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Mapping):
        return {_key(name): jsonable(each) for name, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return jsonable(value._asdict())
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [jsonable(each) for each in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _key(name: Any) -> str:
    if isinstance(name, tuple):
        return "-".join(str(part) for part in name)
    return str(jsonable(name))
