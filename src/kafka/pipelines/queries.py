"""The query of a pipeline as a function of DataFrames, whether it is SQL or a Python function."""

from __future__ import annotations

import inspect
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import IllegalStateError
from kafka.pipelines.combined_rows import QueryFunction
from kafka.pipelines.connect_plans import is_connect
from kafka.pipelines.declaration import FUNCTION, Declaration, InvalidDeclaration
from kafka.pipelines.source_rows import KAFKA, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_ANALYSIS = threading.Lock()
"""Held while views have the names of sources: two pipelines of a session may have sources of the same name."""


def query_of(declaration: Declaration, function: Callable[..., Any] | None = None) -> QueryFunction:
    """Return the query of a pipeline.

    Arguments:
        declaration: the pipeline.
        function: the query if it is a Python function, with the names of sources as parameters.

    Raises `IllegalStateError` if the declaration's query is a function, but `function` is None.
    """
    if function is not None:
        return _FunctionQuery(function)
    if declaration.query is None:
        return _all_columns
    if declaration.query == FUNCTION:
        raise IllegalStateError("the query is a Python function: start the pipeline from its program")
    return _SqlQuery(declaration.query)


def _all_columns(sources: Mapping[str, DataFrame]) -> DataFrame:
    (rows,) = sources.values()
    return rows.drop(KAFKA) if len(rows.columns) > 1 else rows


class _FunctionQuery:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, sources: Mapping[str, DataFrame]) -> DataFrame:
        result = self._function(**{name: sources[name] for name in inspect.signature(self._function).parameters})
        if not hasattr(result, "schema"):
            raise InvalidDeclaration(
                f"query {self._function.__name__}: expected it to return a DataFrame, got {type(result).__name__}"
            )
        return result


class _SqlQuery:
    """Evaluates SQL with the names of sources as tables.

    Temporary views of the session with these names are hidden while Spark analyzes the query.
    """

    def __init__(self, sql: str) -> None:
        self._sql = sql

    def __call__(self, sources: Mapping[str, DataFrame]) -> DataFrame:
        if is_connect(next(iter(sources.values())).sparkSession):
            return self._sent(sources)
        with _ANALYSIS:
            return self._analyzed(sources)

    def _sent(self, sources: Mapping[str, DataFrame]) -> DataFrame:
        """Return the result for Spark Connect, which would look up the names of views each time a frame is used.

        The frames are sent with the query, and common table expressions give them the names of the sources.
        """
        spark = next(iter(sources.values())).sparkSession
        views = {f"source_{number}": rows for number, rows in enumerate(sources.values())}
        tables = [f"{quoted(name)} as (select * from {{{view}}})" for name, view in zip(sources, views, strict=True)]
        sql = self._sql.rstrip().removesuffix(";").replace("{", "{{").replace("}", "}}")
        return spark.sql(f"with {', '.join(tables)} select * from (\n{sql}\n)", **views)

    def _analyzed(self, sources: Mapping[str, DataFrame]) -> DataFrame:
        spark = next(iter(sources.values())).sparkSession
        hidden = {name: f"kafka_pipelines_{uuid.uuid4().hex}" for name in sources if _is_view(spark, name)}
        for name, other in hidden.items():
            spark.table(name).createOrReplaceTempView(other)
        try:
            for name, rows in sources.items():
                rows.createOrReplaceTempView(name)
            return spark.sql(self._sql)
        finally:
            for name in sources:
                spark.catalog.dropTempView(name)
            for name, other in hidden.items():
                spark.table(other).createOrReplaceTempView(name)
                spark.catalog.dropTempView(other)


def _is_view(spark: SparkSession, name: str) -> bool:
    """Return whether the session has a temporary view of this name."""
    return any(table.isTemporary and table.name == name for table in spark.catalog.listTables(pattern=name))
