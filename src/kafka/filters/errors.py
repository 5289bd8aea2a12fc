"""The error for a filter that cannot be parsed, with the position and a caret.

All modules of this package raise it. Change the layout of the message here.
"""

import difflib
import unicodedata
from collections.abc import Iterable

_AROUND = 50
"""Maximum number of characters of the expression to show on each side of the position."""


class FilterError(ValueError):
    """An expression is not a valid filter. The text of the error has three lines: the message, the expression, a caret.

    Arguments:
        message: what was expected, and what was found.
        expression: the whole expression.
        position: index of the character at which the problem was found; the expression's length for its end.

    Attributes:
        message, expression, position: the arguments.
    """

    def __init__(self, message: str, expression: str, position: int) -> None:
        super().__init__(message, expression, position)
        self.message = message
        self.expression = expression
        self.position = position

    def __str__(self) -> str:
        shown, caret = self.excerpt()
        return f"{self.message}, at position {self.position + 1}\n  {shown}\n  {caret}"

    def excerpt(self) -> tuple[str, str]:
        """Return the expression around the position, and a line with a caret below that position."""
        first = max(self.position - _AROUND, 0)
        last = self.position + _AROUND
        before, after = (
            _visible(self.expression[first : self.position]),
            _visible(self.expression[self.position : last]),
        )
        if first:
            before = "…" + before
        if last < len(self.expression):
            after += "…"
        return before + after, " " * _width(before) + "^"


def _visible(text: str) -> str:
    """Replace each character that would move the cursor of a terminal, so that the caret remains in place."""
    return "".join(each if each.isprintable() else " " if each.isspace() else "\ufffd" for each in text)


def _width(text: str) -> int:
    """Return the number of columns of a text on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name, or None."""
    found = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def found_text(text: str) -> str:
    """Quote a part of an expression for a message, shortened."""
    return repr(text if len(text) <= 40 else text[:39] + "…")
