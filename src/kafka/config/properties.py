"""Reads properties files in Java's format (java.util.Properties)."""

import codecs
import os
import re
from collections.abc import Iterator
from typing import Any

from kafka.config.java_names import from_java_names
from kafka.errors import KafkaConfigurationError

_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = " \t\f"
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.|$)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PAIR = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def load_properties(path: "str | os.PathLike[str]", client: str | None = None) -> dict[str, Any]:
    """Return keyword arguments from a properties file for Kafka's Java clients.

    ``KafkaConsumer("topic", **load_properties("client.properties"))`` works with an unmodified file. Text that is not
    UTF-8 is read as ISO 8859-1, as in Java.

    Arguments:
        path: the file.
        client: "consumer", "producer", "admin" or "share consumer"; None: accept the names of all of them.

    Raises `KafkaConfigurationError`, which suggests the nearest name for an unknown one, and `OSError`.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise KafkaConfigurationError(f"expected text in UTF-8 in {os.fspath(path)}, found UTF-16: convert the file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    try:
        return from_java_names(parse_properties(text), client)
    except KafkaConfigurationError as error:
        raise KafkaConfigurationError(f"in {os.fspath(path)}: {error.args[0]}") from None


def parse_properties(text: str) -> dict[str, str]:
    """Return the names and values in a properties file; if a name occurs more than once, the last value applies.

    Raises `KafkaConfigurationError` for an invalid escape, with its line number.
    """
    found = {}
    for number, line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        assert match is not None  # the pattern matches any line
        try:
            found[_unescaped(match[1])] = _unescaped(match[2])
        except ValueError as error:
            raise KafkaConfigurationError(f"line {number} contains {error}") from None
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines, joined at continuations and without comments, each with the number of its first line."""
    whole, first = "", 0
    for number, line in enumerate(_LINE_END.split(text), 1):
        line = line.lstrip(_SPACE)
        if not whole:  # also after a line that contains only a backslash
            if not line or line[0] in "#!":
                continue
            first = number
        slashes = len(line) - len(line.rstrip("\\"))
        if slashes % 2:
            whole += line[:-1]
            continue
        yield first, whole + line
        whole = ""
    if whole:
        yield first, whole


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        what = match[1]
        if what == "u":
            raise ValueError("\\u without four hexadecimal digits")
        return chr(int(what[1:], 16)) if len(what) == 5 else _NAMED.get(what, what)

    # Characters beyond U+FFFF are written as two escapes.
    return _ESCAPE.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
