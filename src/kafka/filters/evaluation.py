"""Gives a parsed filter its meaning: `Filter` tests records, `RecordField` returns one field of them.

Each node becomes a function of a record that returns True, False or None for unknown. ``not`` of unknown is unknown;
``and`` is false if one side is, ``or`` true if one side is; otherwise an unknown side makes them unknown. A record
matches only if the result is True.
"""

import datetime
from collections.abc import Callable, Iterator
from typing import Any

from kafka.filters.comparisons import compared, number_of, text_of
from kafka.filters.parser import Parser, parse
from kafka.filters.record_fields import MISSING, FilterRecord, lookup
from kafka.filters.syntax_tree import (
    TIME,
    Call,
    Comparison,
    Condition,
    Exists,
    Field,
    IsNull,
    Junction,
    Literal,
    Membership,
    Not,
    Operand,
    PatternMatch,
    Truth,
)
from kafka.filters.times import instant_of

Result = Callable[[FilterRecord], bool | None]
Value = Callable[[FilterRecord], Any]


class Filter:
    """A condition on records.

    Arguments:
        expression: the condition, such as ``value.status = 'PAID' and value.amount > 10``.
        now: the time, with a time zone, from which relative times such as '2h' count back. [default: the current time]

    Attributes:
        expression: the condition as given.
        condition: the condition, parsed.
        fields: the fields that it uses, as written, without repetition.
        nested_fields: those within keys, values and headers, parsed.
        roots: the parts of a record that it uses, such as "value" or "headers".

    Raises `FilterError`, whose text shows the position of the mistake.
    """

    def __init__(self, expression: str, now: datetime.datetime | None = None) -> None:
        condition = self.condition = parse(expression, now or datetime.datetime.now(datetime.UTC))
        self.expression = expression
        used = list(_fields(condition))
        self.fields = tuple(dict.fromkeys(field.text for field in used))
        self.nested_fields = tuple({field.text: field for field in used if field.steps}.values())
        self.roots = frozenset(field.root for field in used)
        self.result: Result = _result(condition)
        """Returns True, False, or None if the result is unknown, for example because a field is missing."""

    def matches(self, record: FilterRecord) -> bool:
        """Return whether a record matches. An unknown result is not a match."""
        return self.result(record) is True


class RecordField:
    """One field of records, such as ``value.items[0].sku``.

    Arguments:
        text: the field, in the syntax of filters.

    Attributes:
        text: the field as given.
        root: the part of a record that contains it.

    Raises `FilterError`.
    """

    def __init__(self, text: str) -> None:
        self._field = Parser(text, datetime.datetime.now(datetime.UTC)).whole_field()
        self.text = text
        self.root = self._field.root

    def of(self, record: FilterRecord) -> Any:
        """Return the content of the field, None for null, or `MISSING`."""
        return lookup(self._field, record)


def _fields(node: Condition | Operand) -> Iterator[Field]:
    """Yield the fields in a condition or operand."""
    match node:
        case Field():
            yield node
        case Literal():
            return
        case Comparison():
            yield from _fields(node.left)
            yield from _fields(node.right)
        case Membership():
            yield from _fields(node.operand)
            for choice in node.choices:
                yield from _fields(choice)
        case Exists():
            yield node.field
        case Not():
            yield from _fields(node.condition)
        case Junction():
            for each in node.conditions:
                yield from _fields(each)
        case PatternMatch() | IsNull() | Truth() | Call():
            yield from _fields(node.operand)


def _result(node: Condition) -> Result:
    """Return the function of a condition."""
    match node:
        case Comparison():
            return _comparison(node.operator, node.left, node.right)
        case Membership():
            return _any([_comparison("=", node.operand, choice) for choice in node.choices])
        case PatternMatch():
            return _pattern_match(value_of(node.operand), node.search.finds)
        case IsNull():
            operand = value_of(node.operand)
            return lambda record: (found := operand(record)) is None or found is MISSING
        case Exists():
            return _exists(node.field)
        case Truth():
            return _comparison("=", node.operand, Literal(True, "boolean", 0))
        case Not():
            inner = _result(node.condition)
            return lambda record: None if (found := inner(record)) is None else not found
        case Junction():
            parts = [_result(each) for each in node.conditions]
            return _all(parts) if node.operator == "and" else _any(parts)


def _comparison(symbol: str, left: Operand, right: Operand) -> Result:
    of_left, of_right = value_of(left), value_of(right)
    if TIME in (left.type, right.type):
        of_left, of_right = _time(of_left), _time(of_right)
    if isinstance(right, Literal):
        constant = of_right(FilterRecord())
        return lambda record: compared(symbol, of_left(record), constant)
    return lambda record: compared(symbol, of_left(record), of_right(record))


def _time(operand: Value) -> Value:
    """Return a function that also accepts times as text in ISO 8601."""

    def value(record: FilterRecord) -> Any:
        found = operand(record)
        if isinstance(found, bytes):
            text = text_of(found)
            found = instant_of(text) if text is not None else None
        elif isinstance(found, str):
            found = instant_of(found)
        return found

    return value


def _pattern_match(operand: Value, finds: Callable[[str], bool]) -> Result:
    def result(record: FilterRecord) -> bool | None:
        found = operand(record)
        text = None if found is MISSING else text_of(found)
        return None if text is None else finds(text)

    return result


def _exists(field: Field) -> Result:
    if field.steps:
        return lambda record: lookup(field, record) is not MISSING
    return lambda record: lookup(field, record) is not None


def value_of(node: Operand) -> Value:
    """Return the function that computes an operand of a condition from a record."""
    match node:
        case Literal():
            constant = node.value
            return lambda record: constant
        case Field():
            if not node.steps and node.root != "headers":
                root = node.root
                return lambda record: getattr(record, root)
            field = node
            return lambda record: lookup(field, record)
        case Call():
            inner = value_of(node.operand)
            if node.name == "number":
                return lambda record: None if (found := inner(record)) is MISSING else number_of(found)
            return lambda record: _lower(inner(record))


def _lower(value: Any) -> str | None:
    text = None if value is MISSING or value is None else text_of(value)
    return None if text is None else text.lower()


def _all(parts: list[Result]) -> Result:
    def result(record: FilterRecord) -> bool | None:
        whole: bool | None = True
        for part in parts:
            found = part(record)
            if found is False:
                return False
            if found is None:
                whole = None
        return whole

    return result


def _any(parts: list[Result]) -> Result:
    def result(record: FilterRecord) -> bool | None:
        whole: bool | None = False
        for part in parts:
            found = part(record)
            if found:
                return True
            if found is None:
                whole = None
        return whole

    return result
