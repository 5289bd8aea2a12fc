"""Parses filter expressions, checks types that are known beforehand, and limits length and depth.

    condition = and-condition { "or" and-condition }
    and-condition = negation { "and" negation }
    negation = { "not" } ( "(" condition ")" | "exists" field | operand [ test ] )
    test = ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) operand
         | [ "not" ] ( "in" "(" operand { "," operand } ")" | "contains" operand | "like" text | "matches" text )
         | "is" [ "not" ] "null" | [ "not" ] "exists"
    operand = text | number | "true" | "false" | ( "lower" | "number" ) "(" operand ")" | field
    field = root { "." name | "[" ( text | integer ) "]" }

Keywords are not case-sensitive; names of fields are.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import NoReturn

from kafka.filters.errors import FilterError, closest, found_text
from kafka.filters.patterns import Like, Matches
from kafka.filters.syntax_tree import (
    ANY,
    BOOLEAN,
    NESTED,
    NUMBER,
    ROOTS,
    TEXT,
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
    Search,
    Truth,
)
from kafka.filters.times import FORMS, time_of
from kafka.filters.tokens import Token, tokens_of

LONGEST_EXPRESSION = 20_000
"""Maximum number of characters in an expression."""
DEEPEST = 50
"""Maximum number of nested parentheses and negations."""
MOST_STEPS = 50
"""Maximum number of names and indexes in a field."""
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_TESTS = "=, !=, <, <=, >, >=, in, like, matches, contains, is null or exists"
_KEYWORDS = {"and", "or", "not", "in", "like", "matches", "contains", "is", "null", "exists", "true", "false"}
_FUNCTIONS = ("lower", "number")
_A = {TEXT: "a text", NUMBER: "a number", BOOLEAN: "a boolean", TIME: "a time"}


def parse(expression: str, now: datetime.datetime) -> Condition:
    """Parse an expression. Relative times count back from ``now``. Raises `FilterError`."""
    return Parser(expression, now).whole()


class Parser:
    """Parses one expression.

    Arguments:
        expression: the text.
        now: the time from which relative times count.

    Raises `FilterError`.
    """

    def __init__(self, expression: str, now: datetime.datetime) -> None:
        self._text = expression
        if len(expression) > LONGEST_EXPRESSION:
            raise FilterError(
                f"expected at most {LONGEST_EXPRESSION:,} characters, found {len(expression):,}", expression, 0
            )
        self._now = now
        self._tokens = tokens_of(expression)
        self._at = 0
        self._depth = 0

    def whole(self) -> Condition:
        """Parse the whole expression as a condition."""
        if self._token.kind == "end":
            self._fail("expected a condition such as value.status = 'PAID', found nothing")
        condition = self._condition()
        self._expect_end("'and', 'or' or the end")
        return condition

    def whole_field(self) -> Field:
        """Parse the whole expression as a field."""
        field = self._field()
        self._expect_end("'.', '[' or the end")
        return field

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._token
        self._at += token.kind != "end"
        return token

    def _takes(self, word: str) -> bool:
        """Take a keyword or symbol if it comes next."""
        token = self._token
        if token.word() != word and not (token.kind == "symbol" and token.value == word):
            return False
        self._take()
        return True

    def _found(self) -> str:
        token = self._token
        return "the end" if token.kind == "end" else found_text(self._text[token.start : token.end])

    def _fail(self, message: str, start: int | None = None) -> NoReturn:
        raise FilterError(message, self._text, self._token.start if start is None else start)

    def _expected(self, what: str) -> NoReturn:
        self._fail(f"expected {what}, found {self._found()}")

    def _expect(self, symbol: str) -> None:
        if not self._takes(symbol):
            self._expected(f"'{symbol}'")

    def _expect_end(self, what: str) -> None:
        if self._token.kind != "end":
            self._expected(what)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"expected at most {DEEPEST} nested parentheses and negations")

    def _condition(self) -> Condition:
        return self._joined("or", lambda: self._joined("and", self._negation))

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._takes(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))

    def _negation(self) -> Condition:
        depth, negated = self._depth, False
        while self._takes("not"):
            self._deeper()
            negated = not negated
        condition = self._unnegated()
        self._depth = depth
        return Not(condition) if negated else condition

    def _unnegated(self) -> Condition:
        if self._takes("("):
            self._deeper()
            condition = self._condition()
            if not self._takes(")"):
                self._expected("'and', 'or' or ')'")
            return condition
        if self._takes("exists"):
            return Exists(self._field())
        return self._test(self._operand())

    def _test(self, left: Operand) -> Condition:
        token = self._token
        if token.kind == "symbol" and token.value in _COMPARISONS:
            return self._comparison(str(self._take().value), left)
        if self._takes("is"):
            negated = self._takes("not")
            if not self._takes("null"):
                self._expected("'null'" if negated else "'null' or 'not null'")
            return Not(IsNull(left)) if negated else IsNull(left)
        negated = self._takes("not")
        condition = self._word_test(left)
        if condition is not None:
            return Not(condition) if negated else condition
        if negated:
            self._expected("in, like, matches, contains or exists")
        if (isinstance(left, Literal) and left.type == BOOLEAN) or (isinstance(left, Field) and left.type == ANY):
            if token.kind == "end" or token.word() in ("and", "or") or token.value == ")":
                return Truth(left)
            self._expected(_TESTS)
        self._expected(_TESTS)

    def _word_test(self, left: Operand) -> Condition | None:
        """Parse a test that begins with a word; None if none comes next."""
        if self._takes("in"):
            return self._membership(left)
        if self._takes("contains"):
            if left.type not in (TEXT, ANY):
                self._fail(f"'contains' applies to texts and lists, not to {_A[left.type]}", left.start)
            return Comparison("contains", left, self._operand())
        if self._takes("like"):
            return PatternMatch(left, self._pattern(left, "like", Like))
        if self._takes("matches"):
            return PatternMatch(left, self._pattern(left, "matches", Matches))
        if self._takes("exists"):
            if not isinstance(left, Field):
                self._fail("'exists' applies to fields", left.start)
            return Exists(left)
        return None

    def _comparison(self, symbol: str, left: Operand) -> Condition:
        right = self._operand(self._null_advice(symbol, left))
        return Comparison(symbol, *self._checked(left, right))

    def _null_advice(self, symbol: str, left: Operand) -> str:
        name = left.text if isinstance(left, Field) else "the operand"
        return f"write '{name} is {'not ' if symbol == '!=' else ''}null'"

    def _membership(self, left: Operand) -> Condition:
        self._expect("(")
        choices: list[Operand] = []
        while True:
            left, choice = self._checked(left, self._operand("write '… or … is null'"))
            choices.append(choice)
            if not self._takes(","):
                break
        if not self._takes(")"):
            self._expected("',' or ')'")
        return Membership(left, tuple(choices))

    def _pattern(self, left: Operand, word: str, of: Callable[[str], Search]) -> Search:
        if left.type not in (TEXT, ANY):
            self._fail(f"'{word}' applies to texts, not to {_A[left.type]}", left.start)
        token = self._token
        if token.kind != "text":
            self._expected(f"a quoted pattern after '{word}'")
        self._take()
        try:
            return of(str(token.value))
        except ValueError as error:
            self._fail(str(error), token.start)

    def _checked(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        """Check that two operands can be compared; a text that is compared with a time becomes a time."""
        if TIME in (left.type, right.type):
            return self._as_time(left), self._as_time(right)
        if ANY not in (left.type, right.type) and left.type != right.type:
            name = left.text if isinstance(left, Field) else self._text[left.start : right.start].split()[0]
            self._fail(f"{name} is {_A[left.type]}: expected {_A[left.type]}, found {_A[right.type]}", right.start)
        return left, right

    def _as_time(self, operand: Operand) -> Operand:
        if operand.type in (TIME, ANY, NUMBER):
            return operand
        if not isinstance(operand, Literal) or not isinstance(operand.value, str):
            self._fail(f"expected a time, found {_A[operand.type]}", operand.start)
        found = time_of(operand.value, self._now)
        if found is None:
            self._fail(f"expected {FORMS}, found {found_text(operand.value)}", operand.start)
        return Literal(found if isinstance(found, int) else Decimal(repr(found)), TIME, operand.start)

    def _operand(self, null_advice: str = "write 'is null'") -> Operand:
        token = self._token
        if token.kind == "text":
            return Literal(str(self._take().value), TEXT, token.start)
        if token.kind == "number":
            value = self._take().value
            assert not isinstance(value, str)
            return Literal(value, NUMBER, token.start)
        word = token.word()
        if word in ("true", "false"):
            self._take()
            return Literal(word == "true", BOOLEAN, token.start)
        if word == "null":
            self._fail(f"null is not comparable; {null_advice}")
        if word in _FUNCTIONS and self._tokens[self._at + 1].value == "(":
            return self._call(word)
        return self._field()

    def _call(self, name: str) -> Call:
        start = self._take().start
        self._expect("(")
        self._deeper()
        operand = self._operand()
        self._depth -= 1
        self._expect(")")
        if operand.type == TIME or (name == "lower" and operand.type not in (TEXT, ANY)):
            self._fail(f"'{name}' does not apply to {_A[operand.type]}", operand.start)
        return Call(name, operand, start)

    def _field(self) -> Field:
        token = self._token
        if token.kind != "name" or token.word() in _KEYWORDS:
            self._expected(f"a field ({', '.join(ROOTS)}), a quoted text or a number")
        root = str(token.value)
        if root not in ROOTS:
            self._unknown_root(root)
        self._take()
        steps: list[str | int] = []
        while (step := self._step()) is not None:
            if root not in NESTED:
                self._fail(f"{root} has no fields; expected {_TESTS}", self._tokens[self._at - 1].start)
            steps.append(step)
            if len(steps) > MOST_STEPS:
                self._fail(f"expected at most {MOST_STEPS} names and indexes in a field", token.start)
        if root == "headers" and not (steps and isinstance(steps[0], str)):
            self._expected("the name of a header, such as headers.source or headers['trace-id']")
        end = self._tokens[self._at - 1].end
        return Field(root, tuple(steps), self._text[token.start : end], token.start)

    def _step(self) -> str | int | None:
        if self._takes("."):
            token = self._token
            if token.kind != "name":
                self._expected("the name of a field; for special characters, write ['name']")
            return str(self._take().value)
        if not self._takes("["):
            return None
        token = self._token
        if token.kind not in ("text", "number") or isinstance(token.value, Decimal):
            self._expected("a quoted name or the index of an array")
        self._take()
        self._expect("]")
        if isinstance(token.value, int) and abs(token.value) >= 2**31:
            self._fail("the index of an array is out of range", token.start)
        return token.value

    def _unknown_root(self, name: str) -> NoReturn:
        near = closest(name, ROOTS)
        if near is not None:
            self._fail(f"unknown field {found_text(name)}; did you mean {near!r}?")
        self._fail(
            f"unknown field {found_text(name)}; expected {', '.join(ROOTS)}. A field of JSON values is "
            f"value.{name[:40]}, a text is '{name[:40]}' in quotes"
        )
