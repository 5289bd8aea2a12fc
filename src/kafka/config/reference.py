"""The options of a client as text for its docstring, from the option table."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from kafka.config.option import Option
from kafka.config.table import option_table

Class = TypeVar("Class", bound=type)


def option_reference(client: str) -> str:
    """A line or more for each option of a client ("consumer", "producer", "admin") that has an effect."""
    rows = [row for row in option_table().values() if client in row.clients and not row.inert]
    return "\n".join(_entry(row) for row in rows)


def _entry(row: Option) -> str:
    return textwrap.fill(f"{row.name}={_shown(row.default)}: {row.doc}", 110, subsequent_indent="    ")


def _shown(default: Any) -> str:
    """A default as text without addresses in memory."""
    text = repr(default)
    if not text.startswith("<"):
        return text
    return getattr(default, "__name__", None) or f"{type(default).__name__}()"


def with_option_reference(client: str) -> Callable[[Class], Class]:
    """A class decorator: adds the options of a client to the docstring, where ``help()`` shows them."""

    def add(cls: Class) -> Class:
        if cls.__doc__ is not None:  # python -OO leaves docstrings out
            options = textwrap.indent(option_reference(client), "    ")
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\nOptions, with their defaults:\n{options}\n"
        return cls

    return add
