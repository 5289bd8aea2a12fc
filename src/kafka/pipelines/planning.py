"""Plans a pipeline: from the records of its sources to the frame with the query's result and the rejected rows.

Streams, replays and backfills share this; `run` and `batch_runs` call it.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines import row_plans
from kafka.pipelines.combined_rows import Form, QueryFunction, choose_form, combined, result_counts
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.queries import query_of
from kafka.pipelines.rule_counts import counts
from kafka.pipelines.source_rows import Hidden, Origin, SourceRows, visible
from kafka.pipelines.steps import apply_steps

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kafka.pipelines.window_flush import Markers

RESULT = "kafka_pipelines_result"
"""The name under which the number of result rows is observed."""

Observe = Callable[["DataFrame", str, Sequence["Column"]], "DataFrame"]
"""Observes counts of a frame under a name."""


def observed_source(name: str) -> str:
    """Return the name under which the counts of a source are observed."""
    return f"kafka_pipelines_source_{name}"


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """A pipeline that is ready to be written.

    Arguments:
        form: how the query's result and the rejected rows are combined.
        frame: the frame to process: the combined frame (`combined_rows`), or, for `Form.BATCH`, the checked rows.
        combine: returns the combined frame of a batch of this frame.
        count: observes the counts of a combined frame in `Form.ROWS`; returns others unchanged, because their counts
            are observed already. Call it as late as possible: Spark copies the rows that it observes, and they are
            smallest at the end.
    """

    form: Form
    frame: DataFrame
    combine: Callable[[DataFrame], DataFrame]
    count: Callable[[DataFrame], DataFrame]


def plan(
    declaration: Declaration,
    records: Mapping[str, DataFrame],
    function: Callable[..., Any] | None,
    observe: Observe,
    origin: Origin | None = None,
    now: str | None = None,
    markers: Markers | None = None,
) -> Planned:
    """Plan a pipeline.

    Arguments:
        declaration: the pipeline.
        records: the records of each source, as read with `source_rows.read_options`.
        function: the query if it is a Python function.
        observe: observes counts.
        origin: where the records come from; None if they are read from the sources.
        now: SQL for the current time, with which the built-in rule for times compares; None for that of the batch.
        markers: for a stream whose last windows are written at its end, its markers; None for others.

    Raises `InvalidDeclaration` if the query does not fit the sources.
    """
    with _clear_errors(declaration):
        sources = {name: SourceRows(declaration, name, now) for name in declaration.all_sources}
        checked = {name: each.checked(records[name], origin) for name, each in sources.items()}
        query = _WithSteps(declaration, _named(declaration, query_of(declaration, function), function), markers)
        return _planned(checked, sources, query, observe, has_letters=declaration.dead_letters is not None)


def result_of(
    declaration: Declaration,
    records: Mapping[str, DataFrame],
    function: Callable[..., Any] | None,
    now: str | None = None,
) -> DataFrame:
    """Return the result of a pipeline's query for the records that pass the rules, without rejected rows.

    For the arguments and errors, see `plan`.
    """
    from pyspark.sql import functions as f

    with _clear_errors(declaration):
        checked = {name: SourceRows(declaration, name, now).checked(records[name]) for name in declaration.all_sources}
        query = _WithSteps(declaration, _named(declaration, query_of(declaration, function), function), None)
        return query({name: visible(rows.where(f.col(Hidden.PASSES))) for name, rows in checked.items()})


@contextlib.contextmanager
def _clear_errors(declaration: Declaration) -> Iterator[None]:
    """Turn Spark's errors of analysis into `InvalidDeclaration`."""
    from pyspark.errors import AnalysisException, ParseException

    try:
        yield
    except (AnalysisException, ParseException) as error:
        text = str(error).strip().split("\n\n", 1)[0].split("SQLSTATE", 1)[0]
        raise InvalidDeclaration(
            f"pipeline {declaration.pipeline}: a rule or the query does not fit the columns of the sources: "
            f"{' '.join(text.split())}"
        ) from None


def _planned(
    checked: Mapping[str, DataFrame],
    sources: Mapping[str, SourceRows],
    query: QueryFunction,
    observe: Observe,
    *,
    has_letters: bool,
) -> Planned:
    form, carried = choose_form(checked, query)
    counters = {name: _counters(each) for name, each in sources.items()}
    if carried is not None:
        (name,) = checked
        columns = (*counters[name], *result_counts())
        return Planned(form, carried, _unchanged, lambda frame: observe(frame, observed_source(name), columns))
    if form is Form.UNION and has_letters:
        for name, rows in checked.items():
            _check_repeatable(sources[name], rows)
    observed = {name: observe(rows, observed_source(name), counters[name]) for name, rows in checked.items()}
    if form is Form.BATCH:
        ((name, rows),) = observed.items()
        return Planned(form, rows, lambda batch: combined({name: batch}, query, has_letters=has_letters), _unchanged)
    frame = observe(combined(observed, query, has_letters=has_letters), RESULT, result_counts())
    return Planned(form, frame, _unchanged, _unchanged)


def _check_repeatable(source: SourceRows, rows: DataFrame) -> None:
    """Raise `InvalidDeclaration` for a rule that can have another result each time.

    A union evaluates the rules for the query and for the dead letters, so a row could be on both sides or on neither.
    """
    from pyspark.sql import functions as f

    for rule in source.source.rules:
        frame = visible(rows).select(f.expr(rule.holds) if isinstance(rule.holds, str) else rule.holds)
        if not row_plans.is_deterministic(frame):
            raise InvalidDeclaration(
                f"source {source.name}: rule {rule.name!r}: expected an expression that always has the same result for "
                f"a row, got {rule.expression}: for a query with state, Spark evaluates rules twice, so a row could be "
                "in the sink and in the dead letters, or in none of them. Use a column of the record instead"
            )


def _counters(source: SourceRows) -> Sequence[Column]:
    from pyspark.sql import functions as f

    return counts(source.rules, f.col(Hidden.FAILURES)).columns


def _unchanged(frame: DataFrame) -> DataFrame:
    return frame


def result_count(observed: Mapping[str, Mapping[str, Any]]) -> int | None:
    """Return the number of result rows from all observed values, by the name of the observation; None if unknown."""
    return next((each["out"] for each in observed.values() if "out" in each), None)


def _named(declaration: Declaration, query: QueryFunction, function: Callable[..., Any] | None) -> QueryFunction:
    """Return a query that raises `InvalidDeclaration` if its result has several columns of a name.

    Spark's own errors name neither the query nor all columns, and Spark ignores upper and lower case.
    """

    def checked(sources: Mapping[str, DataFrame]) -> DataFrame:
        result = query(sources)
        lowered = [name.lower() for name in result.columns]
        repeated = [name for name, low in zip(result.columns, lowered, strict=True) if lowered.count(low) > 1]
        if repeated:
            text = " ".join((declaration.query or "").split())
            what = text if function is None else f"function {function.__name__}"
            raise InvalidDeclaration(
                f"pipeline {declaration.pipeline}: the query returns several columns of the same name: "
                f"{', '.join(map(repr, repeated))}. Give each a name of its own with 'as', or leave it out. The query: "
                f"{what}"
            )
        return result

    return checked


class _WithSteps:
    """A query over the rows of the sources after their declared steps (`steps.apply_steps`)."""

    def __init__(self, declaration: Declaration, query: QueryFunction, markers: Markers | None) -> None:
        self._sources = declaration.all_sources
        self._query = query
        self._markers = markers

    def __call__(self, sources: Mapping[str, DataFrame]) -> DataFrame:
        return self._query(
            {name: apply_steps(rows, self._sources[name], self._markers) for name, rows in sources.items()}
        )
