"""What is wrong with the words of the Markdown sources: typographic characters, and common misspellings.

codespell knows the misspellings. `KNOWN` has the words that it takes for misspellings and that are right here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ("unsecure",)
"""Words in lower case; this one is a name of librdkafka."""
_TYPOGRAPHIC = re.compile("[\u2013\u2014\u2018\u2019\u201c\u201d]")


def sources() -> list[Path]:
    """The Markdown files of the root and of `docs`, without generated ones."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "names"]
    return sorted([*ROOT.glob("*.md"), *pages])


def typographic(path: Path) -> Iterator[str]:
    """Where a file has dashes or quotes that break when a command is copied, a sentence each."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := _TYPOGRAPHIC.search(line):
            yield f"{path.relative_to(ROOT)}:{number} has U+{ord(found[0]):04X}: write - or \" or '"


def misspelled(paths: list[Path]) -> list[str]:
    """What codespell finds in files, a line each.

    Raises `RuntimeError` if codespell does not run.
    """
    command = [sys.executable, "-m", "codespell_lib", "-L", ",".join(KNOWN), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 65):
        raise RuntimeError(done.stderr)
    return done.stdout.splitlines()


def complaints() -> Iterator[str]:
    """What is wrong with the sources, a sentence each."""
    paths = sources()
    for path in paths:
        yield from typographic(path)
    yield from misspelled(paths)
