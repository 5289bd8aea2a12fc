"""Keys and values as text: UTF-8, JSON or hexadecimal, limited to what a page can show."""

import json
from typing import NamedTuple

from kafka.display.page_elements import size

WAYS = ("auto", "schema", "utf-8", "json", "hex")
"""How to show bytes. "auto" decodes them with a schema from the registry. Without a schema, it shows objects and arrays
as JSON, text as UTF-8, and everything else as hexadecimal.
"""
LARGEST_JSON = 256 << 10
"""Maximum size of values that are parsed as JSON, in bytes."""
_SPACES = " \t\r\n"
_DEEPEST = 16
"""Maximum indentation depth, so that lines of deeply nested values do not begin with thousands of spaces."""


class Decoded(NamedTuple):
    """A key or value decoded with its schema.

    Attributes:
        text: JSON; None if the bytes could not be decoded, in which case `note` contains the reason.
        schema: a description of the schema, such as "AVRO, schema 7".
        schema_id: the schema's id; None if the schema is identified by a GUID.
    """

    text: str | None
    schema: str
    schema_id: int | None
    note: str = ""


class Shown(NamedTuple):
    """Bytes as text.

    Attributes:
        text: the text.
        way: how the bytes were decoded: one of `WAYS` except "auto" and "schema", the schema's name, or "null".
        note: a remark, for example that the text is truncated, or that the bytes are not in the requested format.
    """

    text: str
    way: str
    note: str


def shown(data: bytes | None, way: str, most: int, whole: bool = False, decoded: Decoded | None = None) -> Shown:
    """Convert bytes to text.

    Arguments:
        way: one of `WAYS`.
        decoded: the bytes decoded with their schema; None if there is no schema or no registry.
        most: maximum number of bytes shown.
        whole: whether to use several lines: indented JSON, or a hex dump with positions.
    """
    if data is None:
        return Shown("null", "null", "")
    if way in ("auto", "schema") and decoded is not None and decoded.text is not None:
        return _shown_text(decoded.text, decoded.schema, most, whole)
    if way == "schema" or (way == "auto" and decoded is not None):
        why = "no schema id" if decoded is None else f"{decoded.schema}: {decoded.note}"
        found = shown(data, "auto", most, whole)
        return found._replace(note="; ".join(filter(None, [why, found.note])))
    cut = f"the first {size(most)} of {size(len(data))} ({len(data):,} bytes)" if len(data) > most else ""
    if way in ("auto", "json"):
        if _is_json(data, any_value=way == "json"):
            text = data.decode()
            return Shown((_laid_out(text) if whole else text)[: most if cut else None], "json", cut)
        if way == "json":
            cut = "; ".join(filter(None, ["not JSON, shown as text", cut]))
    if way == "auto" and not _is_text(data[:most]):
        way = "hex"
    if way == "hex":
        return Shown(_dump(data[:most]) if whole else data[:most].hex(" ", -4), "hex", cut)
    return Shown(data[:most].decode("utf-8", "backslashreplace"), "utf-8", cut)


def _shown_text(text: str, way: str, most: int, whole: bool) -> Shown:
    """Format and truncate JSON that was decoded with a schema, for display."""
    cut = f"the first {most:,} of {len(text):,} characters" if len(text) > most else ""
    return Shown((_laid_out(text) if whole else text)[: most if cut else None], way, cut)


def _is_json(data: bytes, any_value: bool) -> bool:
    """Return whether the bytes are a JSON object or array, or, with ``any_value``, any JSON value."""
    if len(data) > LARGEST_JSON or not (any_value or data.lstrip()[:1] in (b"{", b"[")):
        return False
    try:
        json.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _is_text(data: bytes) -> bool:
    """Return whether the bytes are UTF-8 without control characters; the last character may be incomplete."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3 or error.reason != "unexpected end of data":
            return False
        text = data[: error.start].decode()
    return not any(each < " " and each not in "\t\r\n" for each in text)


def _laid_out(text: str) -> str:
    """Indent JSON without parsing it, so that numbers, repeated names and their order stay unchanged."""
    out: list[str] = []
    depth = at = 0
    while at < len(text):
        each = text[at]
        if each == '"':
            end = _string_end(text, at)
            out.append(text[at:end])
            at = end
            continue
        if each in "{[":
            closing = _skip(text, at + 1)
            if text[closing] in "}]":
                out.append(each + text[closing])
                at = closing + 1
                continue
            depth += 1
            out.append(f"{each}\n{'  ' * min(depth, _DEEPEST)}")
        elif each in "}]":
            depth -= 1
            out.append(f"\n{'  ' * min(depth, _DEEPEST)}{each}")
        elif each == ",":
            out.append(f",\n{'  ' * min(depth, _DEEPEST)}")
        elif each not in _SPACES:
            out.append(": " if each == ":" else each)
        at += 1
    return "".join(out)


def _string_end(text: str, at: int) -> int:
    at += 1
    while text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACES:
        at += 1
    return at


def _dump(data: bytes) -> str:
    """Return a hex dump, in which each line has a position, sixteen bytes, and their characters."""
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        characters = "".join(chr(each) if 0x20 <= each < 0x7F else "." for each in row)
        lines.append(f"{at:08x}  {row.hex(' '):<47}  {characters}")
    return "\n".join(lines)
