"""What the signatures of the reference show, without Sphinx: Python's types, and whether they wrap."""

from __future__ import annotations

import re

MOST_LETTERS = 92
"""Length of a signature that fits a line of a desktop, with the name of the class, in letters."""
MOST_LETTERS_ON_PHONES = 38
"""The same for a phone, where the name of the class is not shown."""
_C_TYPE = re.compile(r"\b(?P<bool>bint)\b|\b(?:(?:unsigned )?long long|size_t|Py_ssize_t)\b")
"""Cython's names of C types, which compiled modules declare."""


def python_types(signature: str) -> str:
    """A signature with the types that programs pass in the place of C's."""
    return _C_TYPE.sub(lambda found: "bool" if found["bool"] else "int", signature)


def wrapping(length: int, length_on_phones: int) -> str:
    """The class of a signature by its lengths in letters: "wraps", "wraps-on-phones", or "" if it fits everywhere."""
    if length > MOST_LETTERS:
        return "wraps"
    return "wraps-on-phones" if length_on_phones > MOST_LETTERS_ON_PHONES else ""
