"""Keys and values as text: UTF-8, JSON or hexadecimal, and never more of them than a page can bear."""

import json
from typing import TYPE_CHECKING, NamedTuple

from kafka.ui.page_elements import size

if TYPE_CHECKING:
    from kafka.ui.page_registry import Decoded

WAYS = ("auto", "schema", "utf-8", "json", "hex")
"""How bytes are shown; "auto" goes by a schema that the registry knows, else takes JSON for an object or an array, else
UTF-8 for text, else hexadecimal."""
LARGEST_JSON = 256 << 10
"""Longer values are not taken apart."""
_SPACES = " \t\r\n"
_DEEPEST = 16
"""What lies deeper is moved in no further: else each value of a deep list would stand behind a thousand spaces."""


class Shown(NamedTuple):
    """Bytes as text.

    Attributes:
        text: what is shown.
        way: how it was decoded: one of `WAYS` but "auto" and "schema", the schema's name, or "null".
        note: says what the text does not: that it is cut, or is not what was asked for.
    """

    text: str
    way: str
    note: str


def shown(data: bytes | None, way: str, most: int, whole: bool = False, decoded: "Decoded | None" = None) -> Shown:
    """Show bytes.

    Arguments:
        way: one of `WAYS`.
        decoded: what the schema makes of them that they name; None: they name none, or no registry is asked.
        most: how many bytes at most are shown.
        whole: lay it out over lines: JSON with its depth, hexadecimal with its positions.
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
    """Show JSON that was made of bytes."""
    cut = f"the first {most:,} of {len(text):,} characters" if len(text) > most else ""
    return Shown((_laid_out(text) if whole else text)[: most if cut else None], way, cut)


def _is_json(data: bytes, any_value: bool) -> bool:
    """Whether it is an object or an array, or any value."""
    if len(data) > LARGEST_JSON or not (any_value or data.lstrip()[:1] in (b"{", b"[")):
        return False
    try:
        json.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _is_text(data: bytes) -> bool:
    """Whether it is UTF-8 without control characters; it may be cut within its last character."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3 or error.reason != "unexpected end of data":
            return False
        text = data[: error.start].decode()
    return not any(each < " " and each not in "\t\r\n" for each in text)


def _laid_out(text: str) -> str:
    """JSON over lines. Its numbers, its repeated names and their order stay as they are, as nothing is parsed."""
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
    """Sixteen bytes a line, with their position before and their characters behind them."""
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        characters = "".join(chr(each) if 0x20 <= each < 0x7F else "." for each in row)
        lines.append(f"{at:08x}  {row.hex(' '):<47}  {characters}")
    return "\n".join(lines)
