"""Parses the HTML of a notebook like a browser."""

from __future__ import annotations

from html.parser import HTMLParser

TAGS = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "pre"}
"""All tags that our tables use."""
SCRIPT = "<script>alert('x')</script>"


class Shown(HTMLParser):
    """The texts of a document; raises `AssertionError` for an unexpected or unclosed tag, or an unexpected attribute.

    Arguments:
        document: the HTML.
    """

    def __init__(self, document: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(document)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert attrs in ([], [("style", "text-align: left")]), attrs
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        """The whole text."""
        return " ".join(self.texts)

    def fact(self, name: str) -> str:
        """The value next to a name."""
        (found,) = (row[1] for row in self.rows if len(row) == 2 and row[0] == name)
        return found
