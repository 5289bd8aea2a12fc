"""The nodes of a parsed filter, and the fields of records with their types.

`parser` creates nodes, `evaluation` gives them their meaning.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

TEXT, NUMBER, BOOLEAN, TIME, ANY = "text", "number", "boolean", "time", "any"
"""Types that are known before any record is seen. A field of a JSON document has the type `ANY`."""
ROOTS = {
    "key": ANY,
    "value": ANY,
    "headers": ANY,
    "topic": TEXT,
    "partition": NUMBER,
    "offset": NUMBER,
    "timestamp": TIME,
    "size": NUMBER,
}
"""The fields of a record, with their types."""
NESTED = ("key", "value", "headers")
"""The fields that contain other fields."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant.

    Attributes:
        value: the constant; for a time, milliseconds since 1970.
        type: `TEXT`, `NUMBER`, `BOOLEAN` or `TIME`.
        start: position in the expression.
    """

    value: str | int | Decimal | bool
    type: str
    start: int


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, or of a document in it.

    Attributes:
        root: one of `ROOTS`.
        steps: names and array indexes that lead from the root to the field; for headers, the first one is the name of
            the header.
        text: the field as written.
        start: position in the expression.
    """

    root: str
    steps: tuple[str | int, ...]
    text: str
    start: int

    @property
    def type(self) -> str:
        """The type, or `ANY`."""
        return ROOTS[self.root]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one operand: "lower" or "number"."""

    name: str
    operand: "Operand"
    start: int

    @property
    def type(self) -> str:
        """The type of the result."""
        return TEXT if self.name == "lower" else NUMBER


Operand = Literal | Field | Call


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands with one of the operators = != < <= > >= and "contains"."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Membership:
    """``operand in (choices)``."""

    operand: Operand
    choices: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """``operand like pattern`` or ``operand matches pattern``.

    Attributes:
        search: compiled pattern: returns whether a text matches.
    """

    operand: Operand
    search: "Search"


@dataclass(frozen=True, slots=True)
class IsNull:
    """``operand is null``, which is also true of a missing field."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Exists:
    """``exists field``, which is also true of a field that contains null."""

    field: Field


@dataclass(frozen=True, slots=True)
class Truth:
    """An operand as a condition: it is true if it is the boolean true."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition."""

    condition: "Condition"


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by "and" or "or"."""

    operator: str
    conditions: tuple["Condition", ...]


Condition = Comparison | Membership | PatternMatch | IsNull | Exists | Truth | Not | Junction


def leaves(node: Condition) -> Iterator[Condition]:
    """Yield the conditions that are not made of other ones."""
    match node:
        case Not():
            yield from leaves(node.condition)
        case Junction():
            for each in node.conditions:
                yield from leaves(each)
        case _:
            yield node


class Search:
    """A compiled pattern; see `kafka.filters.patterns`."""

    def finds(self, text: str) -> bool:
        """Return whether the text matches."""
        raise NotImplementedError
