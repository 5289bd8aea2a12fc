"""Checks a built site: `python -m scripts.site build/docs/html`. Prints what is wrong, and exits with 1.

types: that every type in a signature is a link to what it is, unless it comes from Python or another package
links: that links and anchors lead somewhere, and that pages fetch nothing from elsewhere
texts: that the sources contain no typographic dashes or quotes, and no common misspellings
search: that queries find the pages that readers look for; needs Node
sizes: that pages are not too long or too wide, and that texts have enough contrast in both themes; needs Chromium

A check whose program is missing is named as skipped; with `CI=true`, as in `make release-check`, this is an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from scripts.reference import links, types_page
from scripts.site import browser, finding, texts

MOST_PIXELS = {1400: 12_000, 390: 12_000}
"""Maximum height of a page by the width of the window: a desktop's and a phone's."""
MOST_PIXELS_OF_NAMES = {1400: 12_000, 390: 16_000}
"""The same for pages of the reference, which are split by subject."""


def sizes(site: Path, chromium: str) -> Iterator[str]:
    """Which pages are too long or do not fit, a sentence each."""
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    for each in browser.measure(site, chromium, pages, tuple(MOST_PIXELS)):
        is_reference = each.page.startswith("names/")
        most = (MOST_PIXELS_OF_NAMES if is_reference else MOST_PIXELS)[each.width]
        if each.height > most:
            where = "scripts/reference/subjects.py" if is_reference else "scripts/site/chapters.py"
            yield f"{each.page} is {each.height} pixels high at {each.width}, over {most}: split it ({where})"
        if each.overflows:
            yield f"{each.page} is wider than {each.width} pixels"
        cut = f"{each.page} has a table that does not fit {each.width} pixels"
        yield from (f"{cut}: {text}" for text in each.cut_tables)
        broken = f"{each.page} has a signature that breaks inside a word at {each.width} pixels"
        yield from (f"{broken}: {text}" for text in each.broken_signatures)
        yield from (f"{each.page} has a text with a contrast of {text}" for text in each.faint_texts)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("site", type=Path, help="folder with the built pages")
    site = parser.parse_args().site.resolve()
    found = [*links.complaints(site), *types_page.complaints(site), *texts.complaints()]
    skipped: dict[str, str] = {}
    try:
        found += finding.complaints(site)
    except FileNotFoundError as error:
        skipped["search"] = str(error)
    if chromium := browser.find():
        found += sizes(site, chromium)
    else:
        skipped["sizes"] = "Chromium is not in PATH (on Debian and Ubuntu: apt-get install chromium)"
    said = [f"{check}: SKIPPED: {why}" for check, why in skipped.items()]
    if os.environ.get("CI") == "true":
        found += said
    else:
        for line in said:
            print(line, file=sys.stderr)
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages, nothing wrong{_without(skipped)}")
    return int(bool(found))


def _without(skipped: Collection[str]) -> str:
    return f", without the checks of {' and '.join(skipped)}" if skipped else ""


if __name__ == "__main__":
    sys.exit(main())
