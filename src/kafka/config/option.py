"""What an option is: its row in the option table, and the checks that rows share."""

import dataclasses
import difflib
import math
from collections.abc import Callable, Iterable
from typing import Any

from kafka.errors import KafkaConfigurationError

Parse = Callable[[str, Any], Any]
"""Takes an option's name and the value given; returns the value to use, or raises `KafkaConfigurationError`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """A row of the option table.

    Arguments:
        name: the keyword argument; a name that ends in ``_ms`` is in milliseconds, in ``_bytes`` in bytes.
        default: the value where none is given, as the caller would write it.
        parse: checks a value and brings it into the form used inside.
        doc: what it does, in a sentence.
        java: the name in Kafka's Java clients, "" where they have none.
        clients: which clients have it, of "consumer", "producer", "admin".
        inert: accepted for the sake of older programs, without effect.
    """

    name: str
    default: Any
    parse: Parse
    doc: str
    java: str
    clients: frozenset[str]
    inert: bool = False

    @property
    def unit(self) -> str:
        """The unit of the value: "ms", "bytes" or ""."""
        if self.name.endswith("_ms"):
            return "ms"
        return "bytes" if self.name.endswith(("_bytes", "_size", "_memory")) else ""


def option(default: Any, parse: Parse, doc: str, java: str = "", inert: bool = False) -> Any:
    """Declare a field of an option slice; the slice says which clients have it."""
    return dataclasses.field(
        default_factory=lambda: default if parse is anything else parse("default", default),
        metadata={"default": default, "parse": parse, "doc": doc, "java": java, "inert": inert},
    )


def invalid(name: str, expected: str, value: object) -> KafkaConfigurationError:
    """The error of a value that an option cannot take."""
    return KafkaConfigurationError(f"option {name!r} expects {expected}, not {value!r}")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name, or ""."""
    found = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return f"; did you mean {found[0]!r}?" if found else ""


def anything(name: str, value: Any) -> Any:
    """Any value."""
    return value


def integer(low: int, high: int = 2**31 - 1, none: bool = False) -> Parse:
    """A whole number from ``low`` to ``high``; None too where ``none`` says so."""
    expected = f"a whole number from {low} to {high}" + (" or None" if none else "")

    def parse(name: str, value: Any) -> int | None:
        if value is None and none:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise invalid(name, expected, value)
        return value

    return parse


def number(low: float, none: bool = False) -> Parse:
    """A number, infinity included, of at least ``low``."""

    def parse(name: str, value: Any) -> float | None:
        if value is None and none:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value) or value < low:
            raise invalid(name, f"a number of at least {low}", value)
        return value

    return parse


def boolean(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise invalid(name, "True or False", value)
    return value


def text(none: bool = False, empty: bool = True) -> Parse:
    """A string."""

    def parse(name: str, value: Any) -> str | None:
        if value is None and none:
            return None
        if not isinstance(value, str) or not (value or empty):
            raise invalid(name, "a string" + ("" if empty else " that is not empty") + (" or None" * none), value)
        return value

    return parse


def path(name: str, value: Any) -> str | None:
    """The path of a file, or None."""
    import os

    if value is None:
        return None
    if not isinstance(value, str | os.PathLike):
        raise invalid(name, "the path of a file or None", value)
    if not os.path.exists(value):
        raise KafkaConfigurationError(f"option {name!r} names a file that is not there: {os.fspath(value)}")
    return os.fspath(value)


def choice(choices: dict[Any, Any]) -> Parse:
    """One of a few values; the dictionary maps what may be written to what it means."""

    def parse(name: str, value: Any) -> Any:
        key = value.lower() if isinstance(value, str) else value
        for written, meaning in choices.items():
            if type(key) is type(written) and key == written:
                return meaning
        raise invalid(name, "one of " + ", ".join(repr(c) for c in choices), value)

    return parse


def function(name: str, value: Any) -> Any:
    """Something that can be called, or None."""
    if value is not None and not callable(value):
        raise invalid(name, "something that can be called, or None", value)
    return value
