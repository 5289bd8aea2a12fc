"""Check a built site: no dead link within it, and nothing that a browser would fetch from elsewhere.

python -m scripts.reference.links build/docs/html
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
_MAY_BE_FOREIGN = ("canonical", "author", "license")


class Page(HTMLParser):
    """What a page links to, what it has fetched, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        for name, value in given.items():
            if (tag, name) in _FETCHED and given.get("rel") not in _MAY_BE_FOREIGN:
                self.fetched.append(value)


def complaints(site: Path) -> Iterator[str]:
    """What is wrong with the site in a folder, a sentence each."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        where = file.relative_to(site)
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.fetched and parts.scheme != "data":
                    yield f"{where} has {link} fetched from elsewhere"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                yield f"{where} links to {link}, which is not there"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where} links to {link}, but there is no such anchor"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            yield f"{sheet.relative_to(site)} has something fetched from elsewhere"


def main() -> int:
    """Print what is wrong with the site named in the command line."""
    site = Path(sys.argv[1]).resolve()
    found = list(complaints(site))
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages, no dead link, nothing fetched")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
