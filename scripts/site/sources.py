"""Writes the sources of the site into a folder: `python -m scripts.site.sources build/docs/source`.

They are the pages of `docs`, with long guides split by `chapters`, some files of the root, and the pages of public
names. Links are changed to where their targets went. The search words of the pages are in `keywords`.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.reference import names_pages, types_page
from scripts.site.chapters import Guide, Page, split
from scripts.site.keywords import KEYWORDS
from scripts.site.programs import shown

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OF_ROOT = {"CHANGELOG.md": "CHANGES", "CONTRIBUTING.md": "HELPING", "SECURITY.md": "REPORTING", "README.md": "index"}
"""By file of the root: the name of its page. There is no page of the README; links to it lead to the front page."""
PART_LINES = 130
"""Length of the parts into which long lists of changes are split, in lines."""
_GUIDE = re.compile(r"`?(?<![\w(/\[])docs/(?P<name>[A-Z_]+)\.md`?")
"""A guide that a changelog names by its file."""
_LINK = re.compile(r"(`+)(?:(?!\1).)*\1|(?P<file>\[(?:docs/)?[A-Z_]+\.md)?\]\((?P<target>[^)\s]+)\)", re.DOTALL)
"""Code, or the end of a link with its text if that is the name of a guide's file."""


class Site:
    """The guides by their name, and where each of their anchors went."""

    def __init__(self) -> None:
        self.guides: dict[str, Guide] = {}
        for path in sorted(DOCS.rglob("*.md")):
            name = path.relative_to(DOCS).with_suffix("").as_posix()
            if not name.startswith("names/"):
                self.guides[name] = split(name, shown(path))
        for file, name in OF_ROOT.items():
            if name != "index":
                text = (ROOT / file).read_text(encoding="utf-8")
                self.guides[name] = split(name, with_links(in_parts(text)) if name == "CHANGES" else text)

    def pages(self) -> Iterator[tuple[str, Page]]:
        """Each page with links to where their targets went, and the name of its guide."""
        for name, guide in self.guides.items():
            for page in guide.pages:
                yield name, Page(page.name, linked(page.text, self._mover(name, page.name)), page.chapters)

    def _mover(self, guide: str, page: str) -> Callable[[str], tuple[str, str]]:
        of_root = next((file for file, name in OF_ROOT.items() if name == guide and name != "index"), None)
        home = ROOT if of_root else (DOCS / guide).parent
        return lambda target: self.moved(target, home, guide, page)

    def moved(self, target: str, home: Path, guide: str, page: str) -> tuple[str, str]:
        """The target of a link on a page of a guide whose source is in the folder `home`, and its title, if known."""
        if re.match(r"[a-z]+:|/", target):
            return target, ""
        path, _, anchor = target.partition("#")
        found = Path(os.path.normpath(home / path))
        if not path:
            name = guide
        elif found.is_relative_to(DOCS):
            name = found.relative_to(DOCS).as_posix().removesuffix(".md")
        else:
            name = OF_ROOT.get(found.relative_to(ROOT).as_posix(), "")
        if not name:
            raise ValueError(f"the link to {target} on {guide} leads out of the site: name the file instead")
        title = ""
        if name in self.guides:
            title = self.guides[name].titles[anchor]
            name, anchor = self.guides[name].anchors[anchor] if anchor else (name, "")
            if name == page and anchor:
                return f"#{anchor}", title
        suffix = ".md" if name in self._names() or name.startswith("names/") else ""
        relative = posixpath.relpath(f"{name}{suffix}", posixpath.dirname(page) or ".")
        return relative + (f"#{anchor}" if anchor else ""), title

    def _names(self) -> set[str]:
        return {page.name for guide in self.guides.values() for page in guide.pages}


def linked(text: str, moved: Callable[[str], tuple[str, str]]) -> str:
    """A Markdown text whose links, except in code, have the targets that `moved` returns for theirs.

    If the text of a link is the name of a file, such as UI.md, it becomes the title that `moved` returns.
    """

    def replace(match: re.Match[str]) -> str:
        if not match["target"]:
            return match[0]
        target, title = moved(match["target"])
        return f"[{title}]({target})" if match["file"] and title else f"{match['file'] or ''}]({target})"

    return _LINK.sub(replace, text)


def in_parts(text: str) -> str:
    """A changelog whose long lists of changes have a heading for each part."""
    lines, title, since, part = [], "", 0, 1
    for line in text.splitlines():
        if line.startswith("#"):
            title, since, part = line, 0, 1
        elif since > PART_LINES and line.startswith("- ") and title.startswith("### "):
            since, part = 0, part + 1
            lines.append(f"\n{title}, part {part}")
        lines.append(line)
        since += 1
    return "\n".join(lines) + "\n"


def with_links(text: str) -> str:
    """A changelog in which guides that it names by their files are links."""
    return _GUIDE.sub(r"[docs/\g<name>.md](docs/\g<name>.md)", text)


def front_matter(name: str) -> str:
    """What Sphinx has to know about a page: that the front page has no list of its headings."""
    return "---\nhide-toc: true\n---\n" if name == "index" else ""


def write(target: Path) -> int:
    """Write the sources into a folder, remove others from it, and return their number."""
    texts = {f"{page.name}.md": front_matter(page.name) + page.text for _, page in Site().pages()}
    texts |= {f"names/{name}": text for name, text in names_pages.pages().items()}
    texts["names/types.md"] = types_page.text()
    if unknown := sorted(KEYWORDS.keys() - {name.removesuffix(".md") for name in texts}):
        raise ValueError(f"KEYWORDS of scripts/site/keywords.py names pages that do not exist: {', '.join(unknown)}")
    for name, text in texts.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for old in target.rglob("*.md"):
        if old.relative_to(target).as_posix() not in texts:
            old.unlink()
    shutil.copytree(DOCS / "pictures", target / "pictures", dirs_exist_ok=True)
    return len(texts)


if __name__ == "__main__":
    print(write(Path(sys.argv[1])), "pages")
