"""Docstrings and comments are plain English: a list of words and turns that do not occur in them.

`python tests/unit/test_english.py` prints what this test would report.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "scripts", "bench")
REWRITE = {
    "nobody": "no one; or say what does not happen",
    "whoever": "name the thread, the caller or the task",
    "shall": "must, should or will",
    "anew": "again; or the verb that says so, such as renew",
    "made again": "recreated",
    "(?:is|are|was|were|be|been) had": "exists, is available, is created",
    "(?:is|are|was|were|be|been) seen to": "is done, is handled",
    r"(?<!there )(?:is|are|was|were) (?-i:none)": "say what it is not, as in: is not a topic",
    "so (?:many|much|long|often)(?! (?:that|as))": "name the limit: at most `count`, for `timeout_ms`",
    "passed over": "ignored, skipped",
    "goes before": "takes precedence over",
    "of (?:ours|theirs)": "our, their",
    "by (?:itself|themselves)": "automatically, alone",
    "beside": "next to, in addition to, while",
    "for want of": "because there is no",
    "in vain": "without success",
    r"(?<=[,;:]) else(?! [a-z]*error)": "otherwise, at the beginning of a sentence",
    r"else(?=[.;,)])": "otherwise, at the beginning of a sentence",
}
"""Regular expressions, and what to write instead."""
ALLOWED: dict[str, tuple[str, ...]] = {}
"""By file, below the root, the texts that may stand there."""
_PATTERN = re.compile("|".join(rf"(?<![\w`])(?:{each})(?![\w`])" for each in REWRITE), re.IGNORECASE)
_CODE = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, with their lines."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                yield each.lineno, each.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def found(path: Path) -> list[str]:
    """Return the places of a file with a word of the list."""
    name = path.relative_to(ROOT).as_posix()
    places = []
    for line, text in texts(path.read_text(encoding="utf-8")):
        plain = " ".join(_CODE.sub("``", text).split())
        for match in _PATTERN.finditer(plain):
            around = plain[max(match.start() - 40, 0) : match.end() + 40]
            if not any(each in around for each in ALLOWED.get(name, ())):
                places.append(f"{name}:{line}: {match[0]!r} in {around!r}")
    return places


def _all() -> list[str]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [place for path in files for place in found(path)]


@pytest.mark.slow
def test_no_text_has_a_word_of_the_list() -> None:
    places = _all()
    assert not places, "write something else, see REWRITE"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("# nobody waits", True),
        ('"""Return so many records."""', True),
        ('"""Wait so long that the session expires."""', False),
        ('"""The offset, else None."""', True),
        ('"""Something else happens."""', False),
        ('"""What `nobody` is in ``nobody``."""', False),
        ("x = 'nobody'", False),
        ("# It is None", False),
        ("# what is none", True),
    ],
)
def test_only_docstrings_and_comments_are_searched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, is_found: bool
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(text + "\n")
    assert bool(found(tmp_path / "module.py")) is is_found


if __name__ == "__main__":
    print("\n".join(_all()))
