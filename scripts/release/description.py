"""Checks what a package index shows of a distribution: the long description, rendered as the index renders it.

`check` renders the description in the metadata of a wheel, and looks at its links and images. What the description
contains is made by `scripts/long_description.py`.
"""

from __future__ import annotations

import email
import importlib
import io
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from scripts.release.build import BuildError

_TARGETS = {"a": "href", "img": "src"}
_LEADS_SOMEWHERE = ("https://", "http://", "mailto:")


class _Links(HTMLParser):
    """Collects where the links and images of a page lead, and the places within the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `html.parser.HTMLParser`."""
        self.places |= {f"#{value}" for name, value in attrs if name == "id"}
        self.found += [value for name, value in attrs if name == _TARGETS.get(tag) and value is not None]


def check(wheel: Path) -> str:
    """Render the long description of a wheel, and say how much there is of it.

    Raises `BuildError` if it cannot be rendered, or a link leads nowhere on a package index.
    """
    renderer: Any = importlib.import_module("readme_renderer.markdown")  # only an environment for a release has it
    warnings = io.StringIO()
    page = renderer.render(description_of(wheel), stream=warnings)
    if not page:
        raise BuildError(f"the long description of {wheel.name} cannot be rendered: {warnings.getvalue()}")
    if lost := leading_nowhere(page):
        raise BuildError(f"links of the long description lead nowhere on a package index: {', '.join(lost)}")
    return f"the long description has {len(page)} characters of HTML, and no link that leads nowhere"


def description_of(wheel: Path) -> str:
    """Return the long description in the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = [each for each in file.namelist() if each.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(file.read(name))
    payload = metadata.get_payload(decode=True)
    return payload.decode() if isinstance(payload, bytes) else ""


def leading_nowhere(page: str) -> list[str]:
    """Return the targets of links and images of a page that are neither addresses nor places within the page."""
    links = _Links()
    links.feed(page)
    return [target for target in links.found if not target.startswith(_LEADS_SOMEWHERE) and target not in links.places]
