"""Plans a pipeline: from the records of its sources to the frame with the query's result and the rejected rows.

Streams, replays and backfills share this; `run` and `batch_runs` call it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka.pipelines.combined_rows import Form, choose_form, combined, result_counts
from kafka.pipelines.declaration import Declaration, InvalidDeclaration
from kafka.pipelines.queries import query_of
from kafka.pipelines.rule_counts import count_columns
from kafka.pipelines.source_rows import Origin, SourceRows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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
) -> tuple[Form, DataFrame, Callable[[DataFrame], DataFrame]]:
    """Return the form of a pipeline, the frame to process, and a function that combines a batch of this frame.

    Arguments:
        declaration: the pipeline.
        records: the records of each source, as read with `source_rows.read_options`.
        function: the query if it is a Python function.
        observe: observes counts.
        origin: where the records come from; None if they are read from the sources.
        now: SQL for the current time, with which the built-in rule for times compares; None for that of the batch.

    Raises `InvalidDeclaration` if the query does not fit the sources.
    """
    from pyspark.errors import AnalysisException, ParseException

    try:
        return _plan(declaration, records, function, observe, origin, now)
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
) -> tuple[Form, DataFrame, Callable[[DataFrame], DataFrame]]:
    query = query_of(declaration, function)
    sources = {name: SourceRows(declaration, name, now) for name in declaration.all_sources}
    checked = {
        name: observe(each.checked(records[name], origin), observed_source(name), count_columns(each.rules))
        for name, each in sources.items()
    }
    has_letters = declaration.dead_letters is not None
    form, frame = choose_form(checked, query, has_letters=has_letters)
    if form is Form.BATCH:
        (name,) = checked
        return form, frame, lambda batch: combined({name: batch}, query, has_letters=has_letters)
    return form, observe(frame, RESULT, result_counts(frame)), lambda batch: batch
