"""The list of methods in `docs/ADMIN.md`, from the docstrings of `KafkaAdminClient`. The guide is hand-written.

A method's docstring ends with its counterpart in Java, if it has one, the first release of Kafka whose brokers support
it, and whether the embedded broker does::

    Like Java's `Admin.electLeaders`. Requires Kafka 2.2. The embedded broker does not support it.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import FunctionType

from kafka import KafkaAdminClient

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ADMIN.md"
HEADING = "## Methods\n"
INTRODUCTION = """
"Kafka" is the first release whose brokers support the method, if that is later than 0.10.2; with older brokers, the
method raises `UnsupportedVersionError`. A ✓ means that the embedded broker supports the method.
Methods without a counterpart in Java's `Admin` come from kafka-python, or exist only in this package.
"""
UNSUPPORTED = "The embedded broker does not support it."


def text() -> str:
    """The page: what precedes the list of methods, as it is, and the list."""
    guide, heading, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    assert heading, f"{PAGE.name}: expected the heading {HEADING.strip()!r}"
    return guide + heading + INTRODUCTION + "".join(_subject(cls, methods) for cls, methods in _methods().items())


def _methods() -> dict[type, dict[str, FunctionType]]:
    """The public methods of the admin client, by the class that defines them, in the order of the source."""
    found: dict[type, dict[str, FunctionType]] = {}
    for cls in KafkaAdminClient.__mro__[1:]:
        methods = {name: value for name, value in vars(cls).items() if name[0] != "_" and inspect.isfunction(value)}
        if methods:
            found[cls] = methods
    return found


def _subject(cls: type, methods: dict[str, FunctionType]) -> str:
    subject = re.match(r"Methods for (?:the )?([^.(,]+)", inspect.getdoc(cls) or "")
    heading = subject[1][0].upper() + subject[1][1:].strip() if subject else "The client"
    lines = [f"\n### {heading}\n| method | | Java's `Admin` | Kafka | embedded broker |\n|---|---|---|---|---|\n"]
    lines += [_row(name, inspect.getdoc(method) or "") for name, method in methods.items()]
    return "".join(lines)


def _row(name: str, docstring: str) -> str:
    counterparts = ", ".join(f"`{each}`" for each in java(docstring))
    mark = "" if UNSUPPORTED in docstring else "✓"
    return f"| `{name}` | {summary(docstring)} | {counterparts} | {release(docstring)} | {mark} |\n"


def java(docstring: str) -> list[str]:
    """The names of the counterparts in Java's `Admin`."""
    line = re.search(r"^Like Java's (.*)", docstring, re.MULTILINE)
    return re.findall(r"`Admin\.(\w+)`", line[1]) if line else []


def release(docstring: str) -> str:
    """The first release of Kafka that supports the method, such as "2.4"; empty for all supported releases."""
    found = re.search(r"\bRequires Kafka ([\d.]*\d)", docstring)
    return found[1] if found else ""


def summary(docstring: str) -> str:
    """The first sentence up to a colon, as the cell of a table."""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    sentence = re.match(r".*?[.:](?= |$)", paragraph)
    return (sentence[0] if sentence else paragraph).rstrip(".:").replace("|", "\\|").replace("``", "`")
