"""The patterns of ``like`` and ``matches``. Both take time proportional to the length of the text.

Python's `re` takes exponential time for some patterns, such as ``(a+)+b``, and cannot be interrupted. It is used only
for patterns without alternatives and without repetitions of variable length. `linear_patterns` handles the others.
"""

import importlib
import re
from typing import Any

from kafka.filters.linear_patterns import LinearPattern, UnsupportedPatternError
from kafka.filters.syntax_tree import Search

LONGEST_PATTERN = 2_000
"""Maximum number of characters in a pattern."""


class Like(Search):
    """A pattern of SQL's LIKE for the whole text: ``%`` any characters, ``_`` one; a backslash makes them literal."""

    def __init__(self, pattern: str) -> None:
        self._pieces = [re.compile(each, re.DOTALL) for each in _pieces(pattern)]

    def finds(self, text: str) -> bool:
        """See `Search`. Each piece between two ``%`` is searched from left to right, so nothing is tried twice."""
        first, *rest = self._pieces
        if not rest:
            return first.fullmatch(text) is not None
        start = first.match(text)
        if start is None:
            return False
        at = start.end()
        for piece in rest[:-1]:
            found = piece.search(text, at)
            if found is None:
                return False
            at = found.end()
        length = _length(rest[-1].pattern)
        return len(text) - length >= at and rest[-1].match(text, len(text) - length) is not None


def _pieces(pattern: str) -> list[str]:
    """Return regular expressions of fixed length for the parts between the ``%``. Raises `ValueError`."""
    pieces = [""]
    characters = iter(pattern)
    for each in characters:
        if each == "%":
            pieces.append("")
        elif each == "_":
            pieces[-1] += "[\\s\\S]"
        else:
            if each == "\\" and (each := next(characters, "")) == "":
                raise ValueError("expected a character after the backslash at the end of the pattern")
            pieces[-1] += f"[{re.escape(each)}]" if each != "^" else "\\^"
    return pieces


def _length(piece: str) -> int:
    """Return the number of characters that a piece matches."""
    (low, high) = _syntax().parse(piece).getwidth()
    assert low == high
    return int(low)


class Matches(Search):
    """A regular expression in Python's syntax, found anywhere in the text.

    Raises `ValueError` for a pattern that is invalid, too long, or not supported in linear time.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > LONGEST_PATTERN:
            raise ValueError(f"expected a regular expression of at most {LONGEST_PATTERN:,} characters")
        try:
            tree = _syntax().parse(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"expected a regular expression: {error}") from None
        self.finds = (  # type: ignore[method-assign]
            _by_re(pattern) if _is_simple(tree) else _linear(tree, tree.state.flags).finds
        )


def _by_re(pattern: str) -> Any:
    search = re.compile(pattern).search
    return lambda text: search(text) is not None


def _linear(tree: Any, flags: int) -> LinearPattern:
    try:
        return LinearPattern(tree, flags)
    except (UnsupportedPatternError, RecursionError) as error:
        why = str(error) if isinstance(error, UnsupportedPatternError) else "it is nested too deeply"
        raise ValueError(f"this regular expression is not supported in filters: {why}") from None


def _syntax() -> Any:
    """Return the module of the standard library that parses regular expressions."""
    return importlib.import_module("re._parser")


_SIMPLE = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}


def _is_simple(tree: Any) -> bool:
    """Return whether `re` needs no backtracking: characters in a fixed order."""
    return all(str(op) in _SIMPLE for op, _ in tree)
