"""What the signatures of the reference show, without Sphinx: types, line breaks, and the texts of constructors."""

from __future__ import annotations

import inspect
import re

MOST_LETTERS = 92
"""Length of a signature that fits a line of a desktop, with the name of the class, in letters."""
MOST_LETTERS_ON_PHONES = 38
"""The same for a phone, where the name of the class is not shown."""
MOST_LETTERS_OF_VALUES = 60
"""Length of an attribute's value that its signature shows, in letters."""
_C_TYPE = re.compile(r"\b(?P<bool>bint)\b|\b(?:(?:unsigned )?long long|size_t|Py_ssize_t)\b")
"""Cython's names of C types, which compiled modules declare."""

_PLAIN_TYPES = {"Seconds": "float | None", "_TopicId": "UUID | str"}
"""By names of the sources that only type checkers need: the types that programs pass."""
_REFUSED = re.compile(r"\*given: (~?typing\.)?Never(, )?")
"""Positional arguments that are always refused; they are declared only for the text of the error."""
_UNNAMED_DEFAULTS = ("= unchanged", "= <factory>")
"""Defaults that a program cannot name; the text of the argument describes them."""
_ERROR_NAME = re.compile(r"(?<!`)\b[A-Za-z_][\w.]*")
_NO_MEMBER = re.compile(r"<(\w+): (\d+)>")
"""A flag without a member of its own, such as that of no bits, as Python prints it."""


def readable(signature: str) -> str:
    """A signature with the arguments that programs pass, their types in the place of C's, and readable defaults."""
    for default in _UNNAMED_DEFAULTS:
        signature = signature.replace(default, "= ...")
    for name, plain in _PLAIN_TYPES.items():
        signature = re.sub(rf"\b{name}\b", plain, signature)
    signature = _NO_MEMBER.sub(r"\1(\2)", _REFUSED.sub("", signature))
    return _C_TYPE.sub(lambda found: "bool" if found["bool"] else "int", signature)


def wrapping(length: int, length_on_phones: int) -> str:
    """The class of a signature by its lengths in letters: "wraps", "wraps-on-phones", or "" if it fits everywhere."""
    if length > MOST_LETTERS:
        return "wraps"
    return "wraps-on-phones" if length_on_phones > MOST_LETTERS_ON_PHONES else ""


def is_long_value(annotation: str) -> bool:
    """Whether a part of an attribute's signature is its value, and too long to be shown, or a text with markup."""
    is_value = annotation.lstrip().startswith("=")
    return is_value and (len(annotation) > MOST_LETTERS_OF_VALUES or "`" in annotation)


def with_errors_in_a_paragraph(lines: list[str]) -> list[str]:
    """A docstring whose section "Raises:" is a paragraph that begins with "Raises", as in most docstrings."""
    found: list[str] = []
    rest = iter(lines)
    for line in rest:
        if line.strip() != "Raises:":
            found.append(line)
            continue
        indent = _indent(line)
        section, after = [], [""]
        for each in rest:
            if each.strip() and _indent(each) <= indent:
                after = ["", each]
                break
            section.append(each)
        found += ["", f"{' ' * indent}Raises {'; '.join(_errors(section))}.", *after]
    return found


def _errors(section: list[str]) -> list[str]:
    """The entries of a section, each on a line: the names of errors as code, a colon, and when they are raised."""
    inner = min((_indent(each) for each in section if each.strip()), default=0)
    entries: list[str] = []
    for each in filter(str.strip, section):
        if _indent(each) == inner:
            entries.append(each.strip())
        else:
            entries[-1] += f" {each.strip()}"
    parts = (each.partition(":") for each in entries)
    return [_ERROR_NAME.sub(r"`\g<0>`", names) + colon + text.removesuffix(".") for names, colon, text in parts]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def constructor_text(cls: type) -> list[str]:
    """The lines of a constructor's docstring, without its first paragraph: the class says what an object is."""
    constructor = next((vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base)), None)
    if not getattr(constructor, "__module__", "").startswith("kafka"):
        return []
    _, _, text = inspect.cleandoc(getattr(constructor, "__doc__", None) or "").partition("\n\n")
    return ["", *text.splitlines(), ""] if text else []
