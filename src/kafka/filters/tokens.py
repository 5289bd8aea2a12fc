"""Splits a filter expression into tokens.

Names after a dot may contain hyphens, because headers such as content-type do. There is no arithmetic, so this is not
ambiguous. Text is quoted with single or double quotes, which are doubled inside: ``'it''s'``. A backslash has no
meaning here, so regular expressions need no doubled backslashes.
"""

import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from kafka.filters.errors import FilterError, found_text

_LONGEST_NUMBER = 1_000
_SPACE = re.compile(r"\s+")
_NAME = re.compile(r"[^\W\d][\w$]*")
_STEP = re.compile(r"[\w$@-]+")
"""A name after a dot."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_SYMBOL = re.compile(r"!=|<>|<=|>=|==|[=<>()\[\],.]")
_SYNONYMS = {"==": "=", "<>": "!="}
_ADVICE = {
    "&&": "write 'and'",
    "&": "write 'and'",
    "||": "write 'or'",
    "|": "write 'or'",
    "!": "write 'not', or '!='",
    "~": "write 'matches'",
    "=~": "write 'matches'",
    "%": "write 'like'",
    "`": "write value['odd name'] for fields with special characters",
    ";": "leave it out",
}


class Token(NamedTuple):
    """A part of an expression.

    Attributes:
        kind: "name", "text", "number", "symbol" or "end".
        value: the name, the text without quotes, the number, or the symbol; "" at the end.
        start: position in the expression.
        end: position after the token.
    """

    kind: str
    value: str | int | Decimal
    start: int
    end: int

    def word(self) -> str:
        """Return the keyword that this may be: the name in lower case, or ""."""
        return self.value.lower() if self.kind == "name" and isinstance(self.value, str) else ""


def tokens_of(expression: str) -> list[Token]:
    """Split an expression; the last token is of kind "end". Raises `FilterError`."""
    tokens: list[Token] = []
    at, follows_dot = 0, False
    while True:
        if space := _SPACE.match(expression, at):
            at = space.end()
        if at >= len(expression):
            tokens.append(Token("end", "", at, at))
            return tokens
        token = _token(expression, at, follows_dot)
        follows_dot = token.kind == "symbol" and token.value == "."
        tokens.append(token)
        at = token.end


def _token(expression: str, at: int, follows_dot: bool) -> Token:
    if found := (_STEP if follows_dot else _NAME).match(expression, at):
        return Token("name", found[0], at, found.end())
    if expression[at] in "'\"":
        return _text(expression, at)
    if found := _NUMBER.match(expression, at):
        return Token("number", _number(found[0], expression, at), at, found.end())
    for wrong in ("&&", "||", "=~"):
        if expression.startswith(wrong, at):
            raise _unknown(wrong, expression, at)
    if found := _SYMBOL.match(expression, at):
        return Token("symbol", _SYNONYMS.get(found[0], found[0]), at, found.end())
    raise _unknown(expression[at], expression, at)


def _text(expression: str, at: int) -> Token:
    quote, parts, end = expression[at], [], at + 1
    while True:
        close = expression.find(quote, end)
        if close < 0:
            raise FilterError(f"the text that begins here has no closing {quote}", expression, at)
        parts.append(expression[end:close])
        end = close + 1
        if expression[end : end + 1] != quote:
            return Token("text", quote.join(parts), at, end)
        end += 1


def _number(text: str, expression: str, at: int) -> int | Decimal:
    if len(text) > _LONGEST_NUMBER:
        raise FilterError(f"expected a number of at most {_LONGEST_NUMBER:,} characters", expression, at)
    try:
        return int(text) if text.lstrip("-").isdecimal() else Decimal(text)
    except InvalidOperation:
        raise FilterError(f"the number {found_text(text)} is out of range", expression, at) from None


def _unknown(text: str, expression: str, at: int) -> FilterError:
    advice = f"; {_ADVICE[text]}" if text in _ADVICE else ""
    return FilterError(f"unexpected character {text!r}{advice}", expression, at)
