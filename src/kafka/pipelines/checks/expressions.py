"""Checks SQL expressions, such as those of rules: syntax, columns, functions and the type.

sqlglot parses the expressions in Spark's dialect. Where it does not know the type of an expression, nothing is
reported: Spark reports the problem when the pipeline starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types

from kafka.pipelines.checks.columns import Columns, Type, article
from kafka.pipelines.checks.functions import unknown_functions
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import Location

DIALECT = "spark"
_WINDOW = re.compile(r"\bwindow(?=\s*\()", re.IGNORECASE)
"""Spark's function `window`, whose name sqlglot takes for the clause WINDOW unless it is quoted."""
_BOOLEAN = (exp.DataType.Type.BOOLEAN, exp.DataType.Type.UNKNOWN, exp.DataType.Type.NULL, exp.DataType.Type.VARIANT)
_SURE = (exp.Column, exp.Dot, exp.Literal, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe, exp.Cast)
"""Expressions whose type sqlglot knows as well as Spark does."""
GENERATORS = (exp.UDTF, exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter, exp.Inline)


class SyntaxProblem(ValueError):
    """The text is not SQL. The message says where and why."""


def parsed(text: str) -> Any:
    """Parse SQL text as one expression or query. Raises `SyntaxProblem`."""
    try:
        found = [each for each in sqlglot.parse(_WINDOW.sub("`window`", text), dialect=DIALECT) if each is not None]
    except SqlglotError as error:
        raise SyntaxProblem(_cause(error, text)) from None
    except RecursionError:
        raise SyntaxProblem("the SQL is nested too deeply to be checked") from None
    if len(found) != 1:
        raise SyntaxProblem(f"expected one SQL expression or query, got {len(found) or 'none'}")
    return found[0]


def _cause(error: SqlglotError, text: str) -> str:
    details: Any = getattr(error, "errors", None)
    if not details:
        return f"not valid SQL: {' '.join(str(error).split())[:200]}"
    first = details[0]
    why = str(first.get("description") or "unexpected text")
    if why.startswith("Required keyword"):
        why = "something is missing"
    near = first.get("highlight") or ""
    line, column = first.get("line"), first.get("col")
    where = f" at character {column}" if column and line == 1 else f" on line {line} of the query" if line else ""
    return f"not valid SQL: {why[:1].lower()}{why[1:]}" + (f" after {near!r}" if near else "") + where


_RANDOM = frozenset({"shuffle", "monotonically_increasing_id", "spark_partition_id", "randstr", "uniform"})
"""Spark's functions without a class in sqlglot whose result for a row can differ each time."""


def _differing(expression: Any) -> Iterator[str]:
    """Yield the calls in an expression whose result for a row can differ each time."""
    for each in expression.find_all(exp.Rand, exp.Randn, exp.Uuid, exp.Anonymous):
        if not isinstance(each, exp.Anonymous) or each.name.lower() in _RANDOM:
            yield str(each.sql(DIALECT))


def check_condition(
    findings: Findings, location: Location, text: str, columns: Columns | None, *, is_twice: bool = False
) -> None:
    """Check the expression of a rule.

    Arguments:
        findings: collects the problems.
        location: the location of the expression.
        text: the expression.
        columns: the columns of the source; None if they are unknown.
        is_twice: whether Spark evaluates the rule twice, because the query keeps state.
    """
    before = len(findings.problems)
    try:
        expression = parsed(text)
    except SyntaxProblem as error:
        findings.error(location, str(error))
        return
    if isinstance(expression, (exp.Query, exp.DDL, exp.DML, exp.Command)):
        findings.error(location, "expected a Boolean expression, got a statement")
        return
    for what in _not_of_one_row(expression):
        findings.error(location, f"a rule cannot contain {what}, because it is evaluated for each row alone")
    for each in unknown_functions(expression):
        findings.warning(location, each)
    for each in _differing(expression):
        if is_twice:
            findings.error(
                location,
                f"{each} differs each time, and Spark evaluates rules twice for a query with state: a row could be in "
                "the sink and in the dead letters, or in none of them; use a column of the record instead",
            )
        else:
            findings.warning(location, f"{each} differs each time: a repeated micro-batch may reject other rows")
    if columns is not None:
        for reference in references(expression):
            if (problem := columns.problem(reference)) is not None:
                findings.error(location, problem)
    if len(findings.problems) == before:
        _check_type(findings, location, expression, columns)
    if len(findings.problems) == before:
        findings.passed(location, "Boolean expression" + ("" if columns is None else " over existing columns"))


def _not_of_one_row(expression: Any) -> Iterator[str]:
    """Yield the parts of an expression that need more than one row."""
    windows = {id(inner) for window in expression.find_all(exp.Window) for inner in window.walk()}
    if windows:
        yield "a window function"
    for each in expression.find_all(exp.AggFunc, exp.AnonymousAggFunc):
        if id(each) not in windows:
            yield f"the aggregate function {_function_name(each)}"
    if expression.find(exp.Query) is not None:
        yield "a subquery"
    for each in expression.find_all(*GENERATORS):
        yield f"the function {_function_name(each)}, which returns several rows"


def _function_name(expression: Any) -> str:
    return str(expression.sql(DIALECT)).partition("(")[0].lower()


def references(expression: Any) -> list[list[str]]:
    """Return the names in each reference to a column, outermost first. The same reference occurs once."""
    found: dict[tuple[str, ...], None] = {}
    for column in expression.find_all(exp.Column):
        if not isinstance(column.this, exp.Star):
            found[tuple(names_of(column))] = None
    return [list(each) for each in found]


def names_of(column: exp.Column) -> list[str]:
    """Return the names in a reference: the table's, if there is one, the column's, and those of fields within it."""
    names = [part.name for part in column.parts]
    outer = column.parent
    inner: Any = column
    while isinstance(outer, exp.Dot) and outer.this is inner and isinstance(outer.expression, exp.Identifier):
        names.append(outer.expression.name)
        inner, outer = outer, outer.parent
    return names


Resolve = Callable[[Sequence[str]], "Type | None"]
"""Returns the type of a reference, given its names; None if it is unknown."""


def type_of(expression: Any, resolve: Resolve) -> Type | None:
    """Return the type of an expression; None if it is unknown.

    Arguments:
        expression: the expression.
        resolve: returns the types of columns.
    """

    def typed(node: Any) -> Any:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        found = resolve([part.name for part in node.parts])
        return node if found is None else exp.Cast(this=exp.Null(), to=found.copy())

    try:
        found = annotate_types(expression.copy().transform(typed), dialect=DIALECT).type
    except (SqlglotError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not isinstance(found, exp.DataType) or found.this in (exp.DataType.Type.UNKNOWN, exp.DataType.Type.NULL):
        return None
    return found


def _check_type(findings: Findings, location: Location, expression: Any, columns: Columns | None) -> None:
    for part in _operands(expression):
        found = type_of(part, (lambda names: None) if columns is None else columns.type_of)
        if found is None or found.this in _BOOLEAN:
            continue
        text = str(part.sql(DIALECT))
        which = "" if part is expression else f" ({text})"
        hint = f": compare it with a value, such as {text} is not null" if isinstance(part, exp.Column) else ""
        message = f"expected a Boolean expression{which}, got {article(found)}{hint}"
        if isinstance(part, _SURE):
            findings.error(location, message)
        else:
            findings.warning(location, message)


def _operands(expression: Any) -> Iterator[Any]:
    """Yield the parts of an expression that must be Boolean themselves: the operands of and, or and not."""
    inner = expression.unnest()
    if isinstance(inner, (exp.And, exp.Or)):
        yield from _operands(inner.left)
        yield from _operands(inner.right)
    elif isinstance(inner, exp.Not):
        yield from _operands(inner.this)
    else:
        yield inner
