"""Write the synchronous twin of each asyncio module that has one.

Client code is written once, as asyncio code, in packages called `_async`. Its synchronous twin, in the package `_sync`
next to it, is the same text without `async`, `await` and the prefix `Async` of classes, and with the names of the
tables below exchanged. What really differs, how to wait, is behind these names. Both files are in the tree, so that
readers, type checkers and tracebacks see ordinary Python. To add a twin, add a module to an `_async` package.

    python scripts/twins.py            write the twins
    python scripts/twins.py --check    exit 1, and name them, where a twin is not what would be written
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "kafka"

EVERYWHERE: dict[str, str] = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "AsyncIterator": "Iterator",
    "AsyncGenerator": "Generator",
    "StopAsyncIteration": "StopIteration",
    "aclose": "close",
    "aclosing": "closing",
    "anext": "next",
}
"""Python's names for asynchronous things, and their synchronous counterparts."""


PREFIX = re.compile(r"Async(?=[A-Z])\w+")
"""Classes lose this prefix in the twin."""
STATEMENT = re.compile(r"\basync (?=with\b|for\b|def\b)")
"""The beginning of a statement in a docstring or comment, which loses this word."""
OTHERS: dict[str, str] = {
    "AsyncDeserializer": "SyncDeserializer",
    "AsyncSerializer": "SyncSerializer",
    "HasAsyncTransactions": "HasTransactions",
    "LoopRunner": "ThreadRunner",
    "_async": "_sync",
    "async_consumer": "kafka_consumer",
    "checked_async_registry": "checked_registry",
    "loop_runner": "thread_runner",
    "read_async": "read",
    "settled_async": "settled",
}
"""Names that do not follow the rule."""
NAMES = EVERYWHERE | OTHERS


@dataclass(frozen=True)
class Twin:
    """A pair of modules, both paths below `src/kafka`.

    Arguments:
        source: the asyncio module, in a package `_async`.
        target: the synchronous one, of the same name in the package `_sync` next to it.
    """

    source: str
    target: str


def twins() -> list[Twin]:
    """Return all pairs: each module of a package `_async` has a twin, and so has the package if it contains code."""
    modules = [path for path in sorted(SOURCE.rglob("_async/*.py")) if path.stem != "__init__" or _has_class(path)]
    sources = [path.relative_to(SOURCE).as_posix() for path in modules]
    return [Twin(source, source.replace("/_async/", "/_sync/")) for source in sources]


def _has_class(path: Path) -> bool:
    return re.search(r"^class ", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


_WITH_WORDS = (tokenize.NAME, tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1))
"""Tokens in which names are exchanged; from Python 3.12 on f-strings are several tokens."""
_HEADER = "# Written by scripts/twins.py from {source}: change that file, not this one.\n"


def renamed(found: re.Match[str]) -> str:
    """Return the name in the twin for one that `ANYWHERE` has found."""
    return NAMES.get(found[0], found[0].removeprefix("Async"))


ANYWHERE = re.compile(rf"\b(?:{'|'.join(sorted(NAMES, key=len, reverse=True))}|{PREFIX.pattern})\b")


def worded(text: str) -> str:
    """A name, comment or text with the names of the twin, and with its statements."""
    return STATEMENT.sub("", ANYWHERE.sub(renamed, text))


def synchronous(text: str) -> str:
    """The synchronous form of an asyncio module's text."""
    lines = text.splitlines(keepends=True)
    edits: list[tuple[int, int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, start), (end_row, end) = token.start, token.end
        if token.type == tokenize.NAME and token.string in ("async", "await"):
            gap = len(lines[row - 1][end:]) - len(lines[row - 1][end:].lstrip(" "))
            edits.append((row, start, end + gap, ""))
        elif row == end_row and token.type in _WITH_WORDS:
            there = lines[row - 1][start:end]
            changed = worded(there)
            if changed != there:
                edits.append((row, start, end, changed))
        elif row != end_row:  # a text of several lines
            for number in range(row, end_row + 1):
                first, last = (start if number == row else 0), (end if number == end_row else len(lines[number - 1]))
                part = lines[number - 1][first:last]
                edits.append((number, first, last, worded(part)))
    for row, start, end, new in sorted(edits, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + new + line[end:]
    return "".join(lines)


def tidy(text: str, name: str) -> str:
    """The text as ruff sorts its imports and formats it."""
    for command in (["check", "--quiet", "--fix-only", "--select", "I"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", name, "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def written(twin: Twin) -> str:
    """The text of the synchronous module."""
    text = (SOURCE / twin.source).read_text(encoding="utf-8")
    target = str(SOURCE / twin.target)
    return tidy(_HEADER.format(source=f"kafka/{twin.source}") + synchronous(text), target)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, or check, all twins."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a twin is out of date")
    check = parser.parse_args(arguments).check
    stale = [twin for twin in twins() if _read(twin.target) != written(twin)]
    for twin in stale:
        if check:
            print(f"src/kafka/{twin.target} is not the twin of src/kafka/{twin.source}: run python scripts/twins.py")
        else:
            (SOURCE / twin.target).write_text(written(twin), encoding="utf-8")
            print(f"wrote src/kafka/{twin.target}")
    return 1 if check and stale else 0


def _read(name: str) -> str:
    file = SOURCE / name
    return file.read_text(encoding="utf-8") if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
