"""Puts programs of `examples` into the pages of the site.

A page refers to a program with a link that has a paragraph of its own, which also works on a Git forge. On the site,
the program is there in place of the link: a Python file as a block of code, a notebook as its texts and cells.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

_ALONE = re.compile(r"(?<=\n\n)\[[^\]]+\]\((\.\./[^)\s]+\.(?:py|ipynb))\)(?=\n\n)")
"""A link to a program that is a paragraph."""


def shown(page: Path) -> str:
    """The Markdown text of a page with the programs that it refers to.

    Raises `FileNotFoundError` if one of them does not exist.
    """
    text = page.read_text(encoding="utf-8")
    return _ALONE.sub(lambda match: _program(page.parent / match[1]), text)


def _program(path: Path) -> str:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n".join(_cell(cell) for cell in json.loads(source)["cells"]).rstrip()
    return _block(source)


def _cell(cell: dict[str, object]) -> str:
    lines = cell["source"]
    source = "".join(lines) if isinstance(lines, list) else str(lines)
    if cell["cell_type"] == "code":
        return _block(source)
    return re.sub(r"^#+ (.*)$", r"**\1**", source, flags=re.MULTILINE) + "\n"


def _block(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```\n"
