"""Checks a built site: `python -m scripts.site build/docs/html`. Prints what is wrong, and exits with 1.

links: that links and anchors lead somewhere, and that pages fetch nothing from elsewhere
texts: that the sources contain no typographic dashes or quotes, and no common misspellings
search: that queries find the pages that readers look for; needs Node
sizes: that pages are not too long or too wide; needs Chromium
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.reference import links
from scripts.site import browser, finding, texts

MOST_PIXELS = 12_000
"""Maximum height of a page at a desktop's width."""


def sizes(site: Path, chromium: str) -> Iterator[str]:
    """Which pages are too long or do not fit, a sentence each."""
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    desktop = browser.WIDTHS[0]
    for each in browser.measure(site, chromium, pages):
        if each.width == desktop and each.height > MOST_PIXELS:
            yield f"{each.page} is {each.height} pixels high, over {MOST_PIXELS}: split it (scripts/site/chapters.py)"
        if each.overflows:
            yield f"{each.page} is wider than {each.width} pixels"
        if each.width == desktop:
            yield from (f"{each.page} has a table that does not fit: {text}" for text in each.cut_tables)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("site", type=Path, help="folder with the built pages")
    site = parser.parse_args().site.resolve()
    found = [*links.complaints(site), *texts.complaints()]
    try:
        found += finding.complaints(site)
    except FileNotFoundError as error:
        print(f"not searched: {error}", file=sys.stderr)
    if chromium := browser.find():
        found += sizes(site, chromium)
    else:
        print("not measured: Chromium is not in PATH", file=sys.stderr)
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages, nothing wrong")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
