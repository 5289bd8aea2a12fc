"""Splits a long guide into one page for each chapter, and follows its anchors to their new pages.

The sources stay single files, which read well on a Git forge. `STARTS` says which guides are split, and at which
headings. The guide's own page keeps its introduction and lists the chapters; old anchors on it lead to their chapter.
"""

from __future__ import annotations

import dataclasses
import html
import re

_SECOND = re.compile(r"## ")
STARTS: dict[str, re.Pattern[str]] = {
    "CHANGES": re.compile(r"###? "),
    "COMMAND_LINE": re.compile(r"## |### kafka \S+$"),
    "COMPATIBILITY": _SECOND,
    "DELIVERY": re.compile(r"## Deleted and recreated topics$"),
    "ERRORS": re.compile(r"###? "),
    "FORMATS": _SECOND,
    "HELPING": _SECOND,
    "KIPS": _SECOND,
    "KUBERNETES": _SECOND,
    "MIGRATION": _SECOND,
    "OPTIONS": _SECOND,
    "PERFORMANCE": re.compile(r"## |### (Round trips|Share groups|Profiles|Records a|Milliseconds|Memory|Decoders)"),
    "PIPELINES": _SECOND,
    "RELIABILITY": _SECOND,
    "SCHEMA_REGISTRY": _SECOND,
    "SECURITY_GUIDE": re.compile(r"## Hosted services$"),
    "SIDE_BY_SIDE": _SECOND,
    "SPARK": _SECOND,
    "UI": _SECOND,
}
"""By guide: the heading lines at which a page starts. A third-level heading starts a page below the second-level's."""
KEPT = {"CHANGES": 2}
"""By guide: how many of these headings stay on its own page with their text, so that it is not only a list of pages."""
SHORT = {"MIGRATION": "Migration", "SIDE_BY_SIDE": "Side by side"}
"""By guide with a long title: what the titles of its chapters begin with instead."""


@dataclasses.dataclass
class Page:
    """A page of the site: its name without extension, its Markdown text, and the titles and pages of its chapters."""

    name: str
    text: str
    chapters: list[tuple[str, str]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Guide:
    """A guide's pages, its own first, and by anchor of the source: the page and the anchor there ("" for its top).

    titles: the titles of its headings by anchor, and its own as "".
    """

    pages: list[Page]
    anchors: dict[str, tuple[str, str]]
    titles: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Heading:
    """A heading of a source: its line, counted from 0, its level, its title in Markdown, and its anchor."""

    line: int
    level: int
    title: str
    anchor: str


def headings(text: str) -> list[Heading]:
    """The headings of a Markdown text, except in blocks of code, with anchors as a Git forge makes them."""
    found: list[Heading] = []
    counts: dict[str, int] = {}
    fence = ""
    for number, line in enumerate(text.splitlines()):
        if mark := re.match(r"(`{3,}|~{3,})", line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and (heading := re.match(r"(#{1,6}) (.+)", line)):
            title = heading[2].strip()
            anchor = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-")
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            found.append(Heading(number, len(heading[1]), title, f"{anchor}-{count}" if count else anchor))
    return found


def split(name: str, text: str) -> Guide:
    """The pages of a guide with this name: one for a short guide, otherwise one for each chapter, too."""
    lines, found = text.splitlines(), headings(text)
    titles = {"": found[0].title} | {each.anchor: each.title for each in found}
    pattern = STARTS.get(name)
    starts = [each for each in found if pattern and pattern.match(lines[each.line])][KEPT.get(name, 0) :]
    if not starts:
        return Guide([Page(name, text)], {each.anchor: (name, each.anchor) for each in found}, titles)
    top = Page(name, "\n".join(lines[: starts[0].line]).rstrip() + "\n")
    pages, anchors = [top], {each.anchor: (name, each.anchor) for each in found if each.line < starts[0].line}
    parents = {1: top}
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        parent = parents.get(start.level - 1, top)
        page = Page(f"{name}/{start.anchor}", "")
        inside = [each for each in found if start.line <= each.line and (end is None or each.line < end.line)]
        page.text = _chapter(
            SHORT.get(name, found[0].title), start, inside, lines[start.line : end.line if end else None]
        )
        parent.chapters.append((start.title, page.name))
        parents[start.level] = page
        pages.append(page)
        anchors[start.anchor] = (page.name, "")
        anchors |= _anchors_below(page, inside[1:])
    below = {page.name: {page.name, *(name for _, name in page.chapters)} for page in pages}
    for page in pages:
        title = "More changes" if page is top and name == "CHANGES" else "Contents"
        page.text += _contents(page, below, anchors if page is top else {}, title)
    return Guide(pages, anchors, titles)


def _chapter(guide: str, start: Heading, inside: list[Heading], lines: list[str]) -> str:
    """The text of a chapter, whose heading becomes the title of its page."""
    up = start.level - 1
    for each in inside:
        lines[each.line - start.line] = f"{'#' * max(each.level - up, 2)} {each.title}"
    lines[0] = f"# {guide}: {start.title}"
    return "\n".join(lines).rstrip() + "\n"


def _anchors_below(page: Page, inside: list[Heading]) -> dict[str, tuple[str, str]]:
    """A page counts headings of the same title for itself, so their anchors may differ from the source's."""
    new = headings(page.text)[1:]
    return {old.anchor: (page.name, each.anchor) for old, each in zip(inside, new, strict=True)}


def _contents(page: Page, below: dict[str, set[str]], anchors: dict[str, tuple[str, str]], title: str) -> str:
    """The list of a page's chapters, with the old anchors next to their links; `docs/_static/site.js` follows these.

    below: by name of a page, the names of that page and of its chapters.
    """
    if not page.chapters:
        return ""
    folder = page.name.rpartition("/")[0]
    rows, tree = [], []
    for chapter, name in page.chapters:
        target = name.removeprefix(f"{folder}/") if folder else name
        marks = "".join(
            f'<span id="{html.escape(old)}" data-page="{where}.html{"#" if new else ""}{html.escape(new)}"></span>'
            for old, (where, new) in anchors.items()
            if where in below[name]
        )
        rows.append(f"- {marks}[{chapter}](/{name}.md)\n")
        tree.append(f"{re.sub('[`*]', '', chapter)} <{target}>\n")
    return f"\n## {title}\n{''.join(rows)}\n```{{toctree}}\n:hidden:\n\n{''.join(tree)}```\n"
