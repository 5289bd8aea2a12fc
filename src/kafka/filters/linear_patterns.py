"""Searches for regular expressions in time proportional to the length of the text.

A pattern becomes a program of steps, as in Thompson's construction. The set of steps that are possible after a
character is computed once and remembered, so that a search follows one table lookup per character. Lookahead,
lookbehind, backreferences and atomic groups cannot be searched in this way and are rejected.

`Program` translates the syntax tree of Python's `re`; `LinearPattern` runs the program.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

_MOST_STEPS = 4_000
_MOST_STATES = 2_000
"""States to remember; then the memory is cleared, which bounds it."""
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.UNICODE | re.VERBOSE
_NOT_SUPPORTED = {
    "ASSERT": "lookahead and lookbehind, (?=…) and (?<=…)",
    "ASSERT_NOT": "negative lookahead and lookbehind, (?!…) and (?<!…)",
    "GROUPREF": "references to groups, such as \\1",
    "GROUPREF_EXISTS": "conditions on groups",
    "ATOMIC_GROUP": "atomic groups",
    "POSSESSIVE_REPEAT": "possessive repetitions",
}


class UnsupportedPatternError(ValueError):
    """The pattern cannot be searched in linear time, or is too large."""


Test = Callable[[str], bool]


class Step(NamedTuple):
    """A step of a program.

    Attributes:
        kind: "char" (test a character), "fork" (go on at all of ``next``), "at" (a position such as ^) or "found".
        next: the steps that follow.
        test: for "char", tests the character.
        at: for "at", the name of the position.
    """

    kind: str
    next: tuple[int, ...] = ()
    test: Test | None = None
    at: str = ""


class Program:
    """The steps of a pattern.

    Arguments:
        tree: a parsed pattern of `re`.
        flags: its flags.

    Attributes:
        steps: the steps; the last one is "found".
        first: index of the first step.
    """

    def __init__(self, tree: Any, flags: int) -> None:
        self.steps = [Step("found")]
        self.first = self._sequence(tree, flags, 0)

    def _add(self, step: Step) -> int:
        if len(self.steps) >= _MOST_STEPS:
            raise UnsupportedPatternError("it is too large; use smaller numbers of repetitions")
        self.steps.append(step)
        return len(self.steps) - 1

    def _sequence(self, items: Any, flags: int, then: int) -> int:
        """Add the steps of a sequence that ends in the step ``then``; return the first one."""
        if flags & ~_FLAGS:
            raise UnsupportedPatternError("of the flags, only i, m, s and x are supported")
        for op, argument in reversed(list(items)):
            then = self._item(str(op), argument, flags, then)
        return then

    def _item(self, op: str, argument: Any, flags: int, then: int) -> int:
        if op in _NOT_SUPPORTED:
            raise UnsupportedPatternError(f"{_NOT_SUPPORTED[op]} can take unlimited time")
        if op == "AT":
            name = str(argument)
            if flags & re.MULTILINE:
                name = {"AT_BEGINNING": "AT_BEGINNING_LINE", "AT_END": "AT_END_LINE"}.get(name, name)
            return self._add(Step("at", (then,), at=name))
        if op == "SUBPATTERN":
            _, added, removed, inner = argument
            return self._sequence(inner, (flags | added) & ~removed, then)
        if op == "BRANCH":
            return self._add(Step("fork", tuple(self._sequence(each, flags, then) for each in argument[1])))
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = argument
            return self._repeat(int(least), most, inner, flags, then)
        return self._add(Step("char", (then,), character_test(op, argument, flags)))

    def _repeat(self, least: int, most: Any, inner: Any, flags: int, then: int) -> int:
        if str(most) == "MAXREPEAT":
            loop = self._add(Step("fork"))
            self.steps[loop] = Step("fork", (self._sequence(inner, flags, loop), then))
            then = loop
        else:
            end = then
            for _ in range(int(most) - least):
                then = self._add(Step("fork", (self._sequence(inner, flags, then), end)))
        for _ in range(least):
            before = len(self.steps)
            then = self._sequence(inner, flags, then)
            if len(self.steps) == before:  # the repeated pattern is empty
                break
        return then


def character_test(op: str, argument: Any, flags: int) -> Test:
    """Return a function that tests a character for an item of a parsed pattern."""
    if op == "ANY":
        return (lambda c: True) if flags & re.DOTALL else (lambda c: c != "\n")
    if op in ("LITERAL", "NOT_LITERAL"):
        items: list[Any] = [("LITERAL", argument)]
        negated = op == "NOT_LITERAL"
    elif op == "IN":
        items = [(str(name), value) for name, value in argument]
        negated = items[0][0] == "NEGATE"
        items = items[negated:]
    else:
        raise UnsupportedPatternError(f"it contains {op.lower()}")
    tests = [_item_test(name, value) for name, value in items]

    def exact(c: str) -> bool:
        return any(test(c) for test in tests) != negated

    def any_case(c: str) -> bool:
        variants = {c, *(each for each in (c.lower(), c.upper()) if len(each) == 1)}
        return any(test(each) for each in variants for test in tests) != negated

    return any_case if flags & re.IGNORECASE else exact


_CATEGORIES: dict[str, Test] = {
    "DIGIT": str.isdecimal,
    "SPACE": str.isspace,
    "WORD": lambda c: c.isalnum() or c == "_",
}


def _item_test(name: str, value: Any) -> Test:
    if name == "LITERAL":
        return chr(value).__eq__
    if name == "RANGE":
        low, high = chr(value[0]), chr(value[1])
        return lambda c: low <= c <= high
    category = str(value).removeprefix("CATEGORY_")
    if category.startswith("NOT_"):
        test = _CATEGORIES[category.removeprefix("NOT_")]
        return lambda c: not test(c)
    return _CATEGORIES[category]


_START, _LINE, _WORD, _OTHER = range(4)
"""What precedes a position: nothing, a line feed, a character of a word, or another one."""
_END = ""
_LAST_LINE_FEED = "\n$"
"""What follows a position, if it is not a character: the end of the text, or a line feed and then the end."""


class LinearPattern:
    """A regular expression, searched in linear time.

    Arguments:
        tree: a parsed pattern of `re`.
        flags: its flags.

    Raises `UnsupportedPatternError`.
    """

    def __init__(self, tree: Any, flags: int) -> None:
        program = Program(tree, flags)
        self._steps, self._first = program.steps, program.first
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._begin = self._state(frozenset((self._first,)), _START)

    def finds(self, text: str) -> bool:
        """Return whether the pattern occurs in a text."""
        state = self._begin
        if text.endswith("\n"):
            for each in (*text[:-1], _LAST_LINE_FEED, _END):
                state = state.next.get(each) or self._advance(state, each)
                if state.found:
                    return True
            return False
        for each in text:
            state = state.next.get(each) or self._advance(state, each)
            if state.found:
                return True
        return (state.next.get(_END) or self._advance(state, _END)).found

    def _state(self, steps: frozenset[int], before: int) -> "_State":
        key = (steps, before)
        if key not in self._states:
            if len(self._states) >= _MOST_STATES:
                self._states.clear()
            self._states[key] = _State(steps, before)
        return self._states[key]

    def _advance(self, state: "_State", following: str) -> "_State":
        """Return the state after a character, or after the end, and remember it."""
        reached = self._reached(state.steps, state.before, following)
        if 0 in reached:
            result = _FOUND
        elif following == _END:
            result = _NOT_FOUND
        else:
            character = following[0]
            after = {self._first}
            for index in reached:
                step = self._steps[index]
                if step.test is not None and step.test(character):
                    after.update(step.next)
            before = _LINE if character == "\n" else _WORD if _CATEGORIES["WORD"](character) else _OTHER
            result = self._state(frozenset(after), before)
        if len(state.next) < _MOST_STATES:
            state.next[following] = result
        return result

    def _reached(self, steps: frozenset[int], before: int, following: str) -> set[int]:
        """Return the steps that are possible without reading a character."""
        reached: set[int] = set()
        waiting = list(steps)
        while waiting:
            index = waiting.pop()
            if index in reached:
                continue
            reached.add(index)
            step = self._steps[index]
            if step.kind == "fork" or (step.kind == "at" and _holds(step.at, before, following)):
                waiting.extend(step.next)
        return reached


class _State:
    """The possible steps at a position, what precedes it, and the states that follow by character."""

    __slots__ = ("before", "found", "next", "steps")

    def __init__(self, steps: frozenset[int], before: int, found: bool = False) -> None:
        self.steps = steps
        self.before = before
        self.found = found
        self.next: dict[str, _State] = {}


_FOUND = _State(frozenset(), _OTHER, True)
_NOT_FOUND = _State(frozenset(), _OTHER)


def _holds(at: str, before: int, following: str) -> bool:
    """Return whether a position such as ^ is at this place."""
    if at in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
        return before == _START
    if at == "AT_BEGINNING_LINE":
        return before in (_START, _LINE)
    if at == "AT_END":
        return following in (_END, _LAST_LINE_FEED)
    if at == "AT_END_STRING":
        return following == _END
    if at == "AT_END_LINE":
        return following in (_END, _LAST_LINE_FEED, "\n")
    is_word = following != _END and _CATEGORIES["WORD"](following[0])
    at_edge = (before == _WORD) != is_word
    return at_edge if at == "AT_BOUNDARY" else not at_edge
