"""Describes what was found in a JSON value where something else was expected."""

from __future__ import annotations

import re

from kafka.record.types import Buffer

_SHOWN = 40
"""Number of bytes to show."""
_WORD = re.compile(rb"[A-Za-z0-9_+.\-]+")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PUNCTUATION = {b"{": "an object", b"[": "an array", b"}": "'}'", b"]": "']'", b",": "a comma", b":": "a colon"}


def found_at(data: Buffer, at: int, end: int) -> str:
    """Describe what begins at a position."""
    if at >= end:
        return "the end of the value"
    rest = bytes(data[at : min(end, at + 4 * _SHOWN)])
    if rest[:1] in _PUNCTUATION:
        return _PUNCTUATION[rest[:1]]
    if rest[:1] == b'"':
        string = _STRING.match(rest)
        if string is None:
            return f"the string {_cut(rest)}" if at + len(rest) < end else "a string without an end"
        return f"the string {_cut(string.group())}"
    word = _WORD.match(rest)
    if word is None:
        return _character(rest)
    return _cut(word.group())


def _cut(text: bytes) -> str:
    shown = text[:_SHOWN].decode("utf-8", "replace")
    return f"{shown}..." if len(text) > _SHOWN else shown


def _character(rest: bytes) -> str:
    for size in range(1, 5):
        try:
            character = rest[:size].decode()
        except UnicodeDecodeError:
            continue
        return f"the character {character!r}"
    return f"the byte 0x{rest[0]:02x}"
