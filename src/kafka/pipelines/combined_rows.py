"""Combines the result of a query and the rejected rows in one frame.

The combined frame has the columns of the query's result and the hidden columns (`source_rows.Hidden`). `PASSES` is true
for the rows of the result, and `DEAD` for dead letters; other rows are neither. There are three forms (`Form`), because
Spark must read each record once and evaluate the query only for good rows.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafka.pipelines import row_plans
from kafka.pipelines.source_rows import KAFKA, PREFIX, Hidden, visible

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

QueryFunction = Callable[[Mapping[str, "DataFrame"]], "DataFrame"]
"""Computes the result of a query from the visible columns of the good rows, by the name of the source."""


class Form(enum.StrEnum):
    """How the query's result and the rejected rows are combined."""

    ROWS = "rows"
    """The query is evaluated row by row, and hidden columns are carried through it (`row_plans`)."""
    BATCH = "batch"
    """A stateless query of another kind is evaluated for each micro-batch, which is persisted in `foreachBatch`."""
    UNION = "union"
    """A stateful query: the union of its result and the rejected rows. Spark reads the source twice."""


def choose_form(checked: Mapping[str, DataFrame], query: QueryFunction) -> tuple[Form, DataFrame | None]:
    """Return the form for a query, and for `Form.ROWS` the combined frame; otherwise None.

    Arguments:
        checked: the rows of each source (`SourceRows.checked`).
        query: the query.
    """
    if len(checked) == 1:
        ((name, rows),) = checked.items()
        result = query({name: visible(rows)})
        carried = row_plans.carry(result)
        if carried is not None:
            return Form.ROWS, carried
        if row_plans.is_stateless(result):
            return Form.BATCH, None
    return Form.UNION, None


def combined(checked: Mapping[str, DataFrame], query: QueryFunction, *, has_letters: bool = True) -> DataFrame:
    """Return the combined frame as a union of the query's result and the rejected rows of each source.

    Without dead letters, the rejected rows are left out, so that Spark reads the sources once.
    """
    from pyspark.sql import functions as f

    good = {name: visible(rows.where(f.col(Hidden.PASSES))) for name, rows in checked.items()}
    result = _with_position(query(good))
    if not has_letters:
        names = (Hidden.TOPIC, Hidden.PARTITION, Hidden.OFFSET)
        types = {name: next(iter(checked.values())).schema[name].dataType for name in names}
        missing = {name: f.lit(None).cast(type_) for name, type_ in types.items() if name not in result.columns}
        return result.withColumns(missing) if missing else result
    rejected = [
        rows.where(~f.col(Hidden.PASSES)).select(*[name for name in rows.columns if name.startswith(PREFIX)])
        for rows in checked.values()
    ]
    for rows in rejected:
        result = result.unionByName(rows, allowMissingColumns=True)
    return result


def _with_position(result: DataFrame) -> DataFrame:
    """Mark the rows of a result, and add the position of their input records if the query kept the column `KAFKA`."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    marked = result.withColumns({Hidden.PASSES: f.lit(True), Hidden.DEAD: f.lit(False), Hidden.DROPPED: f.lit(False)})
    if KAFKA in result.columns and isinstance(kept := result.schema[KAFKA].dataType, StructType):
        for field, name in (("topic", Hidden.TOPIC), ("partition", Hidden.PARTITION), ("offset", Hidden.OFFSET)):
            if field in kept.fieldNames():
                marked = marked.withColumn(name, f.col(KAFKA)[field])
    return marked


def result_columns(frame: DataFrame) -> list[str]:
    """Return the names of the query's columns, without `KAFKA` and hidden columns."""
    return [name for name in frame.columns if name != KAFKA and not name.startswith(PREFIX)]


def result_counts() -> Sequence[Column]:
    """Return the aggregates to observe on a combined frame: the number of rows of the result, as ``out``."""
    from pyspark.sql import functions as f

    return [f.count_if(f.col(Hidden.PASSES)).alias("out")]
