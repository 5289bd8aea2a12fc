"""Functions that create targets in Python, for `Pipeline.sink`.

Each has the arguments of the keys in YAML. The first argument is the key that names the target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafka.pipelines.targets.delta import DeltaSink
from kafka.pipelines.targets.foreach_batch import ForeachBatchSink
from kafka.pipelines.targets.iceberg import IcebergSink
from kafka.pipelines.targets.parquet import ParquetSink
from kafka.pipelines.targets.postgresql import PostgresqlSink
from kafka.pipelines.targets.tables_by_topic import TablesByTopicSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka.pipelines.targets.target import TargetModel

M = TypeVar("M", bound="TargetModel")


def parquet_sink(
    path: str, *, partition_by: str | None = None, options: Mapping[str, str] | None = None
) -> ParquetSink:
    """Describe a directory of Parquet files.

    Arguments:
        path: the directory: a path, or a URI such as ``s3://bucket/path``.
        partition_by: SQL expression whose value determines the subdirectory of a row, such as ``to_date(ts)``. The
            subdirectories are named ``date=VALUE``, or ``NAME=VALUE`` with ``EXPRESSION as NAME``. A row without a
            value fails the batch.
        options: options for the storage, such as AWS_REGION; None to use the environment.

    Raises `InvalidDeclaration`.
    """
    return _created(ParquetSink, f"sink parquet {path}", parquet=path, partition_by=partition_by, options=options)


def delta_sink(
    table: str,
    *,
    key: str | Sequence[str] = (),
    order: str | None = None,
    partition_by: str | Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> DeltaSink:
    """Describe a Delta table.

    Arguments:
        table: the table: a path, or a URI such as ``s3://bucket/path``.
        key: columns that identify a row; the table then contains the latest row for each key.
        order: column that determines which row is the latest; needed with `key`.
        partition_by: partition columns of the table, if it has to be created.
        options: options for the storage, such as AWS_REGION; None to use the environment.

    Raises `InvalidDeclaration`.
    """
    return _created(
        DeltaSink,
        f"sink delta {table}",
        delta=table,
        key=key,
        order=order,
        partition_by=partition_by,
        options=options,
    )


def iceberg_sink(
    table: str,
    *,
    key: str | Sequence[str] = (),
    order: str | None = None,
    catalog: Mapping[str, str] | None = None,
    catalog_name: str = "default",
) -> IcebergSink:
    """Describe an Iceberg table.

    Arguments:
        table: the table with its namespace, such as ``flights.delays``.
        key: columns that identify a row; the table then contains the latest row for each key.
        order: column that determines which row is the latest; needed with `key`.
        catalog: properties of the catalog, such as type and uri; None to use .pyiceberg.yaml and the environment.
        catalog_name: the name of the catalog.

    Raises `InvalidDeclaration`.
    """
    return _created(
        IcebergSink,
        f"sink iceberg {table}",
        iceberg=table,
        key=key,
        order=order,
        catalog=catalog,
        catalog_name=catalog_name,
    )


def postgresql_sink(
    table: str,
    *,
    url: str,
    user: str | None = None,
    password: str | None = None,
    key: str | Sequence[str] = (),
    order: str | None = None,
) -> PostgresqlSink:
    """Describe a table in PostgreSQL.

    Arguments:
        table: the table, with its schema if it is not the default one.
        url: the connection, as ``postgresql://HOST:PORT/DATABASE`` or as keywords (``host=... dbname=...``).
        user: the user; None to use the URL or the environment.
        password: the password; None to use the environment or ~/.pgpass.
        key: columns that identify a row; the table then contains the latest row for each key.
        order: column that determines which row is the latest; needed with `key`.

    Raises `InvalidDeclaration`.
    """
    return _created(
        PostgresqlSink,
        f"sink postgresql {table}",
        postgresql=table,
        url=url,
        user=user,
        password=password,
        key=key,
        order=order,
    )


def table_per_topic_sink(tables: str, *, format: str, **options: Any) -> TablesByTopicSink:
    """Describe a table for each topic.

    Arguments:
        tables: directory or name of the tables, with ``{topic}`` where the topic's name goes.
        format: "parquet", "delta", "iceberg" or "postgresql".
        options: the other arguments of the sink for this format, such as `partition_by`, `key` or `url`.

    Raises `InvalidDeclaration`.
    """
    return _created(
        TablesByTopicSink, f"sink tables_by_topic {tables}", tables_by_topic=tables, format=format, **options
    )


def foreach_batch_sink(
    function: str | Callable[[DataFrame, int], Any] | Callable[[DataFrame, int, str], Any],
) -> ForeachBatchSink:
    """Describe a function that writes each batch.

    Arguments:
        function: the function, or its address as ``module:function``. It is called with the rows, a DataFrame, and the
            number of the batch. If it has a parameter ``run``, it also gets the run: a text that differs for the
            stream and for each replay and backfill, which all number their batches from 0. A batch may be repeated with
            the same run, number and rows. Exactly once is up to the function: it can store run and number together with
            the rows, and ignore a batch that it has already stored.

    Raises `InvalidDeclaration`.
    """
    return _created(ForeachBatchSink, "sink foreach_batch", foreach_batch=function)


def _created(model: type[M], what: str, **given: Any) -> M:
    from kafka.pipelines.declaration import validated  # it imports the models of this package

    return validated(model, {name: value for name, value in given.items() if value is not None}, what)
