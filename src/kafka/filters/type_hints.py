"""Hints about filters that match nothing because they compare values of different types, such as a number with text.

Such a comparison is unknown, which is neither an error nor a match. After a search without a result, callers show
`differing_types` for one of the records that were examined.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from kafka.filters.comparisons import compared, number_of, text_of
from kafka.filters.evaluation import Filter, value_of
from kafka.filters.record_fields import MISSING, FilterRecord
from kafka.filters.syntax_tree import (
    TIME,
    Call,
    Comparison,
    Condition,
    Literal,
    Membership,
    Operand,
    PatternMatch,
    leaves,
)

_LONGEST = 40
"""Maximum number of characters of a value to show."""


def differing_types(condition: Filter, record: FilterRecord) -> list[str]:
    """Return a sentence for each comparison of a filter whose two sides have different types in a record.

    Arguments:
        condition: the filter.
        record: a record that did not match.
    """
    found = [_hint(left, right, symbol, record) for left, right, symbol in _pairs(condition.condition)]
    found += [_pattern_hint(operand, record) for operand in _patterns(condition.condition)]
    return list(dict.fromkeys(hint for hint in found if hint is not None))


def _pairs(condition: Condition) -> Iterator[tuple[Operand, Operand, str]]:
    """Yield the two sides and the operator of each comparison."""
    for node in leaves(condition):
        match node:
            case Comparison():
                yield node.left, node.right, node.operator
            case Membership():
                yield from ((node.operand, choice, "=") for choice in node.choices)


def _patterns(condition: Condition) -> Iterator[Operand]:
    """Yield the operands of ``like`` and ``matches``."""
    return (node.operand for node in leaves(condition) if isinstance(node, PatternMatch))


def _hint(left: Operand, right: Operand, symbol: str, record: FilterRecord) -> str | None:
    if TIME in (left.type, right.type) or symbol == "contains":
        return None
    values = value_of(left)(record), value_of(right)(record)
    if any(each is None or each is MISSING for each in values) or compared(symbol, *values) is not None:
        return None
    if isinstance(left, Literal):
        (left, right), values = (right, left), values[::-1]
    name, found = _text(left), f"{_text(left)} is {_kind(values[0])}"
    if not isinstance(right, Literal):
        return f"{found}, but {_text(right)} is {_kind(values[1])}; only values of one type are compared"
    expected = values[1]
    told = f"{found}, which is not compared with {_kind(expected)}"
    if isinstance(expected, str) and isinstance(values[0], int | float | Decimal):
        is_number = number_of(expected) is not None
        return told + (f"; write {expected} without quotes" if is_number else "; write a number, without quotes")
    if isinstance(expected, int | Decimal) and isinstance(values[0], str):
        other = f"number({name})" if number_of(values[0]) is not None else f"'{expected}' in quotes"
        return f"{told}; write {other}"
    return told


def _pattern_hint(operand: Operand, record: FilterRecord) -> str | None:
    found = value_of(operand)(record)
    if found is None or found is MISSING or text_of(found) is not None:
        return None
    return f"{_text(operand)} is {_kind(found)}; like and matches compare only text"


def _text(operand: Operand) -> str:
    if isinstance(operand, Literal):
        return repr(operand.value)
    return f"{operand.name}({_text(operand.operand)})" if isinstance(operand, Call) else operand.text


def _kind(value: Any) -> str:
    """Describe a value by its type, with the value if it is short."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return f"the number {_short(str(value))}"
        case str():
            return f"the text {_short(repr(value))}"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
        case bytes() | bytearray():
            text = text_of(value)
            return "bytes that are not text" if text is None else f"the text {_short(repr(text))}"
        case _:
            return f"of type {type(value).__name__}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
