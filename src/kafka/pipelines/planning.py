"""Plans a pipeline: from the records of its sources to the frame with the query's result and the rejected rows.

Streams, replays and backfills share this; `run` and `batch_runs` call it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.combined_rows import Form, QueryFunction, choose_form, combined, result_counts
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.queries import query_of
from kafka.pipelines.rule_counts import counts
from kafka.pipelines.source_rows import Hidden, Origin, SourceRows
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


def plan(
    declaration: Declaration,
    records: Mapping[str, DataFrame],
    function: Callable[..., Any] | None,
    observe: Observe,
    origin: Origin | None = None,
    now: str | None = None,
    markers: Markers | None = None,
) -> tuple[Form, DataFrame, Callable[[DataFrame], DataFrame]]:
    """Return the form of a pipeline, the frame to process, and a function that combines a batch of this frame.

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
    from pyspark.errors import AnalysisException, ParseException

    try:
        return _plan(declaration, records, function, observe, origin, now, markers)
    except (AnalysisException, ParseException) as error:
        text = str(error).strip().split("\n\n", 1)[0].split("SQLSTATE", 1)[0]
        raise InvalidDeclaration(
            f"pipeline {declaration.pipeline}: a rule or the query does not fit the columns of the sources: "
            f"{' '.join(text.split())}"
        ) from None


def _plan(
    declaration: Declaration,
    records: Mapping[str, DataFrame],
    function: Callable[..., Any] | None,
    observe: Observe,
    origin: Origin | None,
    now: str | None,
    markers: Markers | None,
) -> tuple[Form, DataFrame, Callable[[DataFrame], DataFrame]]:
    from pyspark.sql import functions as f

    query = _WithSteps(declaration, query_of(declaration, function), markers)
    sources = {name: SourceRows(declaration, name, now) for name in declaration.all_sources}
    checked = {
        name: observe(
            each.checked(records[name], origin),
            observed_source(name),
            counts(each.rules, f.col(Hidden.FAILURES)).columns,
        )
        for name, each in sources.items()
    }
    has_letters = declaration.dead_letters is not None
    form, frame = choose_form(checked, query, has_letters=has_letters)
    if form is Form.BATCH:
        (name,) = checked
        return form, frame, lambda batch: combined({name: batch}, query, has_letters=has_letters)
    return form, observe(frame, RESULT, result_counts(frame)), lambda batch: batch


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
