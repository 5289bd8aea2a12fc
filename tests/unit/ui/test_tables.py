"""Tables are searched, sorted and paged by the URL, and are accessible."""

import dataclasses
import re
from typing import Any

import pytest

from kafka.display.page_elements import Html
from kafka.ui.tables import Column, Hiding, Table, long_name
from unit.ui.ui_support import HOSTILE, rows_of, text_of

pytestmark = pytest.mark.once


@dataclasses.dataclass
class Item:
    """A row."""

    name: str
    size: int | None = None


TABLE = Table[Item](
    "Items",
    [
        Column("item name", lambda each: each.name, lambda each: each.name),
        Column("size", lambda each: each.size, lambda each: each.size, is_number=True, note="in bytes"),
        Column("fixed", lambda each: "x"),
    ],
    text=lambda each: each.name,
    hiding=[Hiding("internal", "internal items", lambda each: each.name.startswith("__"))],
    sort="item-name",
)
MANY = [Item(f"Item {number:03}", None if number % 7 == 0 else number) for number in range(120)]
SOME = [Item("b", 2), Item("__c", 3), Item("a", None), Item("d", 10)]


def names(rows: list[Item], query: dict[str, str]) -> list[str]:
    """The names of the rows on the page."""
    return [each.name for each in TABLE.chosen(rows, query).rows]


def addresses(page: str) -> dict[str, str]:
    """The addresses of the links, by their text."""
    return {text_of(f"</header>{text}"): address.replace("&amp;", "&")
            for address, text in re.findall(r'<a[^>]*href="([^"]*)"[^>]*>(.*?)</a>', page)}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["a", "b", "d"]),
        ({"internal": "show"}, ["__c", "a", "b", "d"]),
        ({"sort": "size"}, ["b", "d", "a"]),
        ({"sort": "-size"}, ["d", "b", "a"]),
        ({"sort": "-item-name"}, ["d", "b", "a"]),
        ({"sort": "fixed"}, ["a", "b", "d"]),
        ({"sort": HOSTILE}, ["a", "b", "d"]),
        ({"q": "D"}, ["d"]),
        ({"q": "c", "internal": "show"}, ["__c"]),
        ({"q": "c d"}, []),
        ({"page": "9", "rows": "2"}, ["d"]),
        ({"page": "-1", "rows": "0"}, ["a"]),
        ({"page": "²", "rows": "x" * 50}, ["a", "b", "d"]),
    ],
)
def test_the_query_chooses_the_rows(query: dict[str, str], found: list[str]) -> None:
    assert names(SOME, query) == found


def test_links_keep_the_other_fields_and_return_to_the_first_page() -> None:
    page = TABLE.html(MANY, {"q": "item", "page": "2", "name": "of the page", "sort": "-size"})
    links = addresses(page)
    assert links["Next"] == "?q=item&page=3&name=of+the+page&sort=-size"
    assert links["Previous"] == "?q=item&name=of+the+page&sort=-size"
    assert links["Size ▼"] == "?q=item&name=of+the+page&sort=size"
    assert links["Item name"] == "?q=item&name=of+the+page&sort=item-name"
    assert links["100"] == "?q=item&name=of+the+page&sort=-size&rows=100"
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    assert hidden == [("name", "of the page"), ("sort", "-size")]
    assert "51 to 100 of 120 matching" in text_of(f"</header>{page}")


def test_tables_are_accessible() -> None:
    page = TABLE.html(MANY, {"sort": "-size"})
    assert "<caption>Items, page 1 of 3</caption>" in page
    assert page.count('aria-sort="descending"') == page.count("aria-sort") == 1
    assert page.count('<th scope="col"') == 3
    assert page.count('<th scope="row"') == 50
    assert 'aria-label="Search in Items"' in page
    assert 'title="in bytes"' in page


def test_hidden_entries_are_counted_and_can_be_shown() -> None:
    assert addresses(TABLE.html(SOME, {}))["Show 1 internal item"] == "?internal=show"
    assert addresses(TABLE.html(SOME, {"internal": "show"}))["Hide 1 internal item"] == "?"
    assert addresses(TABLE.html([*SOME, Item("__e")], {}))["Show 2 internal items"] == "?internal=show"
    assert "Show" not in TABLE.html([Item("a")], {})


@pytest.mark.parametrize(
    ("rows", "query", "told"),
    [
        ([], {}, "nothing here"),
        (SOME, {"q": HOSTILE}, f"No entry matches “{HOSTILE}”. Show all"),
        ([Item("__c")], {}, "All entries are hidden; a link above shows them."),
    ],
)
def test_an_empty_table_says_why(rows: list[Item], query: dict[str, Any], told: str) -> None:
    page = dataclasses.replace(TABLE, empty="nothing here").html(rows, query)
    assert rows_of(page, "Items") == [[told]]
    assert "<script>" not in page


def test_two_tables_of_a_page_have_their_own_fields() -> None:
    second = dataclasses.replace(TABLE, prefix="more.")
    assert [each.name for each in second.chosen(SOME, {"q": "a", "more.q": "b"}).rows] == ["b"]
    assert addresses(second.html(SOME, {"q": "a"}))["Show 1 internal item"] == "?q=a&more.internal=show"


def test_cells_are_escaped() -> None:
    page = TABLE.html([Item(HOSTILE), Item("\u202e")], {})
    assert "<img" not in page
    assert "\\u202e" in page


def test_two_numbers_share_a_line_on_phones_unless_they_are_wide() -> None:
    assert '<td class="n half" data-label="Size">2</td>' in TABLE.html(SOME, {})
    columns = [dataclasses.replace(each, is_wide=True) for each in TABLE.columns]
    assert '<td class="n" data-label="Size">2</td>' in dataclasses.replace(TABLE, columns=columns).html(SOME, {})


def test_very_long_names_are_folded() -> None:
    assert long_name("x" * 100) == f'<span class="name">{"x" * 100}</span>'
    assert long_name("x" * 101).startswith('<details class="fold"><summary><span class="name">')
    assert "fold" not in long_name(Html(f'<a href="{"x" * 101}">short</a>'))
    assert long_name("") == ""
