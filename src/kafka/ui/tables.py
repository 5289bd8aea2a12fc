"""The table of all pages: search, sorting, paging, and hiding of entries, all in the URL.

A `Table` describes columns; `Table.chosen` selects the rows that the query asks for, and `Table.html` draws them with
the template `templates/table.jinja`. It works without scripts: the search is a form, and the rest are links.

The fields of the query are ``q`` (words that the text of a row must contain), ``sort`` (the name of a column, after "-"
for descending order), ``page``, ``rows`` (per page), and one field for each kind of entries that can be hidden, such as
``internal=show`` and ``empty=hide``. A table that is not the main one of its page has a prefix before these names, such
as ``members.q``.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from kafka.display.page_elements import Html, html
from kafka.ui.templating import render
from kafka.ui.view import address_of, current_view

T = TypeVar("T")
ROWS = 50
"""Number of rows on a page."""
_CHOICES = (50, 100, 250, 500)
_FOLDED = 100
"""Number of characters above which a cell shows only the first lines of a name, until it is opened."""
_TAG = re.compile("<[^>]*>")
_FEW = 10
"""Tables with at most this number of rows have no search."""


@dataclasses.dataclass(frozen=True)
class Column(Generic[T]):
    """A column.

    Arguments:
        title: the title, in lower case; with "-" for spaces, it is also the name for ``sort``.
        cell: returns the content of a cell: text, or `Html`.
        order: returns the value by which rows are sorted; None values come last. Without it, the column is not sorted.
        is_number: whether the column contains numbers, which are right-aligned and sorted in descending order first.
        note: an explanation of the title, shown as a tooltip.
        is_wide: whether a number is long, such as a duration. On phones, two other numbers share a line.
    """

    title: str
    cell: Callable[[T], Any]
    order: Callable[[T], Any] | None = None
    is_number: bool = False
    note: str = ""
    is_wide: bool = False

    @property
    def name(self) -> str:
        """The name in the URL."""
        return self.title.replace(" ", "-")


Columns = tuple[Column[T], ...]


@dataclasses.dataclass(frozen=True)
class Hiding(Generic[T]):
    """Entries that can be hidden and shown, with ``name=hide`` and ``name=show`` in the URL.

    Arguments:
        name: the field of the query, such as "internal".
        label: the entries, in the plural, such as "internal topics".
        matches: whether a row is such an entry.
        is_hidden: whether they are hidden at first.
    """

    name: str
    label: str
    matches: Callable[[T], bool]
    is_hidden: bool = True

    def hides(self, text: str) -> bool:
        """Return whether the entries are hidden, given the field of the query."""
        return text != "show" if self.is_hidden else text == "hide"


class Toggle(NamedTuple):
    """A link that shows or hides entries."""

    text: str
    address: str


@dataclasses.dataclass(frozen=True)
class Chosen(Generic[T]):
    """The rows that a query selects.

    Arguments:
        rows: the rows of the page.
        matching: number of rows on all pages.
        total: number of rows without search and hiding.
        page: the number of the page, from 1.
        pages: the number of pages, at least 1.
        hidden: number of rows that are hidden or can be hidden, by `Hiding.name`.
    """

    rows: Sequence[T]
    matching: int
    total: int
    page: int
    pages: int
    size: int
    search: str
    sort: str
    descending: bool
    hidden: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Table(Generic[T]):
    """A table.

    Arguments:
        caption: the name of the table for screen readers, such as "Topics".
        columns: the columns; the cells of the first one are the headings of their rows.
        text: returns the text in which ``q`` is searched; without it, the table has no search.
        hiding: entries that are hidden at first.
        sort: the initial order, as in the URL; "" keeps the order of the rows.
        prefix: the prefix of the names in the URL, for tables that are not the main one of their page.
        empty: the text shown if there are no rows at all.
    """

    caption: str
    columns: Sequence[Column[T]]
    text: Callable[[T], str] | None = None
    hiding: Sequence[Hiding[T]] = ()
    sort: str = ""
    prefix: str = ""
    empty: str = "none"

    def chosen(self, rows: Iterable[T], query: Mapping[str, str] | None = None) -> Chosen[T]:
        """Select rows. An invalid field of the query is ignored.

        Arguments:
            query: the fields of the query string; None for those of the current request.
        """
        given = current_view().query if query is None else query
        every = list(rows)
        search = given.get(f"{self.prefix}q", "").strip()
        found, hidden = every, {}
        for each in self.hiding:
            matching = [row for row in found if each.matches(row)]
            hidden[each.name] = len(matching)
            if matching and each.hides(given.get(self.prefix + each.name, "")):
                found = [row for row in found if not each.matches(row)]
        if search and self.text is not None:
            words, text = search.casefold().split(), self.text
            found = [row for row in found if all(word in text(row).casefold() for word in words)]
        sort, descending = self._order(given.get(f"{self.prefix}sort", ""))
        found = self._sorted(found, sort, descending)
        size = _number(given.get(f"{self.prefix}rows", ""), ROWS, 500)
        pages = max(1, -(-len(found) // size))
        page = min(_number(given.get(f"{self.prefix}page", ""), 1, 10**9), pages)
        shown = found[(page - 1) * size : page * size]
        return Chosen(shown, len(found), len(every), page, pages, size, search, sort, descending, hidden)

    @staticmethod
    def renewed(chosen: Chosen[T], newer: Callable[[T], T]) -> Chosen[T]:
        """Return the same choice with newer states of its rows, without choosing again."""
        return dataclasses.replace(chosen, rows=[newer(row) for row in chosen.rows])

    def html(self, rows: "Iterable[T] | Chosen[T]", query: Mapping[str, str] | None = None) -> Html:
        """Draw the table.

        Arguments:
            rows: all rows, or those that `chosen` selected from them.
            query: as in `chosen`.
        """
        given = current_view().query if query is None else query
        chosen = rows if isinstance(rows, Chosen) else self.chosen(rows, given)
        is_long = chosen.total > _FEW or bool(chosen.search)
        return render(
            "table",
            table=self,
            chosen=chosen,
            cells=[[column.cell(row) for column in self.columns] for row in chosen.rows],
            heads=[self._head(column, chosen, given) for column in self.columns],
            toggles=[
                self._toggle(each, chosen, given)
                for each in self.hiding
                if chosen.hidden[each.name] and (is_long or each.is_hidden)
            ],
            searches=self.text is not None and is_long,
            kept=self._kept(given),
            unsearched=self._with(given, q="", page=""),
            onward=self._onward(chosen, given),
            sizes=[(size, self._with(given, rows=str(size), page="")) for size in _CHOICES]
            if chosen.matching > _CHOICES[0]
            else [],
        )

    def _order(self, text: str) -> tuple[str, bool]:
        for wanted in (text, self.sort):
            name = wanted.removeprefix("-")
            if any(column.name == name and column.order is not None for column in self.columns):
                return name, wanted.startswith("-")
        return "", False

    def _sorted(self, rows: list[T], name: str, descending: bool) -> list[T]:
        order = next((column.order for column in self.columns if column.name == name), None)
        if order is None:
            return rows
        keyed = [(order(row), row) for row in rows]
        known = sorted((each for each in keyed if each[0] is not None), key=lambda each: each[0], reverse=descending)
        return [row for _, row in known] + [row for value, row in keyed if value is None]

    def _with(self, given: Mapping[str, str], **changed: str) -> str:
        """Return the address of this page with some fields of the table changed; "" removes a field."""
        fields = {**given, **{self.prefix + name: value for name, value in changed.items()}}
        return address_of("/", fields).removeprefix("./") or "?"

    def _kept(self, given: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the fields that the search form keeps."""
        own = (f"{self.prefix}q", f"{self.prefix}page")
        return [(name, value) for name, value in given.items() if name not in own and value]

    def _head(self, column: Column[T], chosen: Chosen[T], given: Mapping[str, str]) -> dict[str, Any]:
        is_sorted = bool(chosen.sort) and column.name == chosen.sort
        descending = not chosen.descending if is_sorted else column.is_number
        return {
            "title": column.title[0].upper() + column.title[1:],
            "note": column.note,
            "is_number": column.is_number,
            "is_half": column.is_number and not column.is_wide,
            "order": ("descending" if chosen.descending else "ascending") if is_sorted else "",
            "address": self._with(given, sort=f"{'-' if descending else ''}{column.name}", page="")
            if column.order is not None and chosen.total > 1
            else "",
        }

    def _toggle(self, each: Hiding[T], chosen: Chosen[T], given: Mapping[str, str]) -> Toggle:
        is_hidden = each.hides(given.get(self.prefix + each.name, ""))
        target = "" if is_hidden != each.is_hidden else "show" if is_hidden else "hide"
        number = chosen.hidden[each.name]
        label = re.sub(r"(\w+)s\b", r"\1", each.label, count=1) if number == 1 else each.label
        text = f"{'Show' if is_hidden else 'Hide'} {number:,} {label}"
        return Toggle(text, self._with(given, page="", **{each.name: target}))

    def _onward(self, chosen: Chosen[T], given: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the links between the pages."""
        places = (
            ("First", 1, chosen.page > 2),
            ("Previous", chosen.page - 1, chosen.page > 1),
            ("Next", chosen.page + 1, chosen.page < chosen.pages),
            ("Last", chosen.pages, chosen.page < chosen.pages - 1),
        )
        return [(text, self._with(given, page="" if page == 1 else str(page)) if is_on else "")
                for text, page, is_on in places]  # fmt: skip


def long_name(text: str | Html) -> Html:
    """Return the name of a topic or member for a cell; long names break, and do not squeeze other columns.

    The style shows the first lines of a very long one until it is opened.
    """
    if not text:
        return Html("")
    name = html('<span class="name">{}</span>', text)
    length = len(_TAG.sub("", text)) if isinstance(text, Html) else len(text)
    return html('<details class="fold"><summary>{}</summary></details>', name) if length > _FOLDED else name


def _number(text: str, default: int, most: int) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 10:
        return default
    return min(max(1, int(text)), most)
