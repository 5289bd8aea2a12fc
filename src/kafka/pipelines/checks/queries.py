"""Checks the SQL query of a pipeline: syntax, sources, columns, and the columns of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from kafka.pipelines.checks.columns import KAFKA, Column, Columns, Type, one_of
from kafka.pipelines.checks.expressions import DIALECT, GENERATORS, Resolve, SyntaxProblem, names_of, parsed, type_of
from kafka.pipelines.checks.functions import unknown_functions
from kafka.pipelines.checks.problem import Findings

QUERY = ("query",)
_WINDOWS = {"window", "session_window"}
"""Spark's functions for windows of time, which add a column of their name."""


HasTable = Callable[[str], bool]
"""Returns whether Spark has a table or a view of a name."""


def no_tables(name: str) -> bool:
    return False


def check_query(
    findings: Findings, text: str, sources: Mapping[str, Columns | None], has_table: HasTable = no_tables
) -> Columns | None:
    """Check a query.

    Arguments:
        findings: collects the problems.
        text: the query.
        sources: the columns of each source; None if they are unknown.
        has_table: returns whether Spark has another table or view of a name.

    Returns the columns of the result, without `kafka`; None if they are unknown.
    """
    before = len(findings.problems)
    try:
        query = parsed(text)
    except SyntaxProblem as problem:
        findings.error(QUERY, str(problem))
        return None
    if not isinstance(query, exp.Query):
        findings.error(QUERY, "expected a query that begins with select or with")
        return None
    for each in unknown_functions(query):
        findings.warning(QUERY, each)
    try:
        scopes = traverse_scope(query)
    except (SqlglotError, RecursionError) as error:
        findings.error(QUERY, f"not a valid query: {' '.join(str(error).split())[:200]}")
        return None
    check = _QueryCheck(findings, sources, query, has_table)
    for scope in scopes:
        check.scope(scope)
    check.unused(query)
    result = check.outputs.get(id(scopes[-1].expression)) if scopes else None
    for name in result.repeated() if result is not None else ():
        findings.error(QUERY, f"the query returns several columns {name!r}: give them different names with 'as'")
    if len(findings.problems) == before:
        findings.passed(QUERY, "the query uses every source, and columns that exist")
    if result is None:
        return None
    return Columns(each for each in result if each.name.lower() != KAFKA)


def aggregates(text: str) -> bool:
    """Return whether a query has an aggregation or removes duplicates; False for text that is not a query."""
    try:
        query = parsed(text)
    except SyntaxProblem:
        return False
    return query.find(exp.Group, exp.Distinct) is not None or any(
        each.find_ancestor(exp.Window) is None for each in query.find_all(exp.AggFunc)
    )


class _QueryCheck:
    """Checks the scopes of a query, from the innermost to the outermost.

    Attributes:
        outputs: the columns of the result of each scope, by the id of its expression; None if they are unknown.
    """

    def __init__(
        self, findings: Findings, sources: Mapping[str, Columns | None], query: Any, has_table: HasTable
    ) -> None:
        self._has_table = has_table
        self._findings = findings
        self._outermost = query
        self._sources = {name.lower(): columns for name, columns in sources.items()}
        self._names = list(sources)
        self.outputs: dict[int, Columns | None] = {}

    def scope(self, scope: Scope) -> None:
        """Check the references of a scope, and remember the columns of its result."""
        expression: Any = scope.expression
        if isinstance(expression, exp.SetOperation):
            self._set_operation(expression)
            return
        visible = self._visible(scope)
        for column in scope.columns:
            if not isinstance(column.this, exp.Star):
                self._reference(column, scope, visible)
        self.outputs[id(expression)] = self._result(expression, visible) if isinstance(expression, exp.Select) else None

    def unused(self, query: Any) -> None:
        """Report the sources that the query does not use."""
        used = {each.name.lower() for each in query.find_all(exp.Table)}
        for name in self._names:
            if name.lower() not in used:
                self._findings.error(
                    ("sources", name), f"the query does not use the source {name!r}: use it in the query, or remove it"
                )

    def _visible(self, scope: Scope) -> dict[str, Columns | None]:
        """Return the columns of each table in a scope, by alias."""
        found: dict[str, Columns | None] = {}
        for alias, source in scope.sources.items():
            if isinstance(source, exp.Table):
                found[alias.lower()] = self._table(source)
            else:
                names = _alias_columns(source.expression)
                columns = self.outputs.get(id(source.expression))
                found[alias.lower()] = Columns(map(Column, names)) if names and columns is None else columns
        selected = set(scope.selected_sources) | {name for name in scope.sources if not _is_cte(scope, name)}
        lowered = {each.lower() for each in selected}
        return {alias: columns for alias, columns in found.items() if alias in lowered}

    def _table(self, table: exp.Table) -> Columns | None:
        if table.db:  # a table of a catalog, or a file
            return None
        if table.name.lower() in self._sources:
            return self._sources[table.name.lower()]
        if isinstance(table.this, exp.Identifier) and not self._has_table(table.name):
            hint = one_of(table.name, self._names, "the sources are")
            self._findings.error(QUERY, f"there is no source {table.name!r}{hint}")
        return None

    def _reference(self, column: exp.Column, scope: Scope, visible: Mapping[str, Columns | None]) -> None:
        """Report a reference to a column that exists neither in this scope nor in one around it."""
        names = names_of(column)
        lowered = [each.lower() for each in names]
        if len(lowered) > 1 and lowered[0] in visible:
            columns = visible[lowered[0]]
            problem = columns.problem(names[1:]) if columns is not None else None
            if problem is not None:
                self._findings.error(QUERY, f"{names[0]}: {problem}" if len(visible) > 1 else problem)
            return
        tables = list(visible.values())
        holders = [each for each in tables if each is not None and lowered[0] in each]
        if not holders:
            if None in tables or lowered[0] in _window_columns(scope.expression):
                return
            if _may_use_aliases(column) and lowered[0] in _aliases(scope.expression, column):
                return
            if scope.parent is not None and (scope.is_subquery or scope.is_udtf):
                self._reference(column, scope.parent, self._visible(scope.parent))
                return
            known = [name for each in tables if each is not None for name in each.names]
            if len(names) > 1:
                known += list(visible)
            self._findings.error(QUERY, f"there is no column {names[0]!r}{one_of(names[0], known, 'the columns are')}")
        elif len(holders) > 1 and not _is_of_using(scope, lowered[0]):
            tables_of = " and ".join(repr(name) for name, each in visible.items() if each in holders)
            self._findings.error(QUERY, f"column {names[0]!r} is ambiguous: {tables_of} have it")
        elif (problem := holders[0].problem(names)) is not None:
            self._findings.error(QUERY, problem)

    def _set_operation(self, expression: Any) -> None:
        left, right = (self.outputs.get(id(each.unnest())) for each in (expression.left, expression.right))
        is_by_name = bool(expression.args.get("by_name"))
        if left is not None and right is not None and not is_by_name and len(left.names) != len(right.names):
            self._findings.error(
                QUERY,
                f"{expression.key} needs the same number of columns on both sides, got {len(left.names)} and "
                f"{len(right.names)}",
            )
        self.outputs[id(expression)] = left

    def _result(self, select: exp.Select, visible: Mapping[str, Columns | None]) -> Columns | None:
        """Return the columns of a select; None if they are unknown."""
        found: list[Column] = []
        if not select.expressions:
            self._findings.error(QUERY, "expected columns after select, got none")
        resolve = _resolver(visible)
        for each in select.expressions:
            star = each.this if isinstance(each, exp.Column) else each
            if isinstance(star, exp.Star):
                table = each.table.lower() if isinstance(each, exp.Column) else ""
                tables = [visible.get(table)] if table else list(visible.values())
                if star.args.get("replace") or star.args.get("rename") or None in tables:
                    return None
                left_out = {one.name.lower() for one in star.args.get("except_") or star.args.get("except") or ()}
                columns = [one for columns in tables if columns is not None for one in columns]
                found += [one for one in columns if one.name.lower() not in left_out]
                if select.args.get("joins") and not table and _using(select):
                    return None
            elif isinstance(each, exp.Aliases):
                found += [Column(one.name) for one in each.aliases]
            elif isinstance(each, GENERATORS):
                return None
            elif isinstance(each, exp.Anonymous) and each.name.lower() in _WINDOWS:
                found.append(Column(each.name.lower()))
            elif isinstance(each, exp.Expression) and each.output_name:
                inner = each.this if isinstance(each, exp.Alias) else each
                found.append(Column(each.output_name, type_of(inner, resolve)))
            else:
                text = str(each.sql(DIALECT))
                if select is self._outermost:
                    self._findings.warning(QUERY, f"the column {text} has no name: add 'as NAME'")
                found.append(Column(text, type_of(each, resolve)))
        return Columns(found)


def _aliases(select: Any, column: exp.Column) -> set[str]:
    """Return the aliases of a select that a reference in its other columns and clauses may use."""
    found = set()
    for each in select.selects:
        if isinstance(each, exp.Alias) and not any(node is column for node in each.find_all(exp.Column)):
            found.add(each.alias.lower())
    return found


def _resolver(visible: Mapping[str, Columns | None]) -> Resolve:
    """Return a function that finds the types of references among the columns of tables."""

    def resolve(names: Sequence[str]) -> Type | None:
        table = visible.get(names[0].lower())
        if len(names) > 1 and table is not None:
            return table.type_of(names[1:])
        holders = [each for each in visible.values() if each is not None and names[0] in each]
        return holders[0].type_of(names) if len(holders) == 1 and None not in visible.values() else None

    return resolve


def _may_use_aliases(column: exp.Column) -> bool:
    """Return whether a reference may be to an alias of the same select: not in WHERE, and not in joins."""
    return isinstance(column.find_ancestor(exp.Where, exp.Join, exp.Query), exp.Query | None)


def _window_columns(select: Any) -> set[str]:
    """Return the names of the columns that grouping by Spark's functions for windows of time adds."""
    return {each.name.lower() for each in select.find_all(exp.Anonymous)} & _WINDOWS


def _alias_columns(expression: Any) -> list[str]:
    """Return the names that an alias such as ``t(a, b)`` gives to the columns of a table or a generator."""
    alias = expression.args.get("alias") if isinstance(expression, exp.Expression) else None
    return [each.name for each in alias.args.get("columns") or ()] if isinstance(alias, exp.TableAlias) else []


def _is_cte(scope: Scope, name: str) -> bool:
    return name in scope.cte_sources


def _using(select: exp.Select) -> set[str]:
    """Return the names of the columns that the joins of a select name with USING."""
    joins: Iterable[Any] = select.args.get("joins") or ()
    return {each.name.lower() for join in joins for each in _names(join.args.get("using"))}


def _names(expressions: Iterable[Any] | None) -> Iterator[Any]:
    yield from expressions or ()


def _is_of_using(scope: Scope, name: str) -> bool:
    return isinstance(scope.expression, exp.Select) and name in _using(scope.expression)
