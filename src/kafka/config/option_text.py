"""Formats the option table as text, for the clients' `help()` and for explanations of options."""

import sys
from collections.abc import Callable
from typing import TypeVar

from kafka.config.option import Option
from kafka.config.secrecy import is_secret
from kafka.config.table import option_table

C = TypeVar("C", bound=type)

_MARGIN = "" if sys.version_info >= (3, 13) else "    "
"""The indentation of a class's docstring, which is removed by Python 3.13 and later."""


def described(row: Option) -> str:
    """Describe an option on one line, with its unit, default and Java name."""
    what = row.doc or "Accepted for compatibility with older programs."
    if row.inert:
        what += " It has no effect yet." if row.doc else " It has no effect."
    unit = {"ms": "milliseconds", "bytes": "bytes"}.get(row.unit)
    facts = [f"in {unit}"] if unit else []
    if not is_secret(row.name):
        facts.append(f"default {default_text(row.default)}")
    if row.java:
        facts.append(f"Java: {row.java}")
    return f"{what} ({'; '.join(facts)})" if facts else what


def default_text(default: object) -> str:
    """Format a default without memory addresses."""
    text = repr(default)
    if not text.startswith("<"):
        return text
    return getattr(default, "__name__", None) or f"{type(default).__name__}()"


def option_lines(client: str) -> list[str]:
    """Format every option of a client, in table order: name, type and description."""
    rows = [row for row in option_table().values() if client in row.clients]
    return [f"{row.name}: {row.accepts}\n    {described(row)}" for row in rows]


def with_options(client: str) -> Callable[[C], C]:
    """Return a decorator that appends all options to the docstring of a client's class."""

    def decorate(cls: C) -> C:
        if cls.__doc__ is not None:  # python -OO removes docstrings
            lines = ["Options:", "", *"\n".join(option_lines(client)).split("\n")]
            cls.__doc__ = f"{cls.__doc__.rstrip()}\n\n" + "".join(f"{_MARGIN}{line}".rstrip() + "\n" for line in lines)
        return cls

    return decorate
