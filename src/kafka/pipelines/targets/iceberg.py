"""The target Iceberg: an Iceberg table that has each row once, or the latest row for each key.

The library is ``pyiceberg``, which needs no JAR; Iceberg's own one for Spark is a JAR that has to match the versions of
Spark and Scala. Spark's tasks write the Parquet files (`task_files`), and the driver commits them, so the driver's
memory does not limit a batch. With a key, tasks also rewrite the files of the table that have keys of the batch
(`iceberg_merge`).

The summary of the snapshot has the run and the number of the batch (``kafka.run``, ``kafka.batch``). Snapshots expire,
so the same commit also stores the number in the table property ``kafka.batch.RUN``. If it is there already, the batch
is complete. Files of an interrupted batch are not part of the table; Iceberg's ``remove_orphan_files`` deletes them.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from kafka.pipelines.targets.arrow_types import arrow_schema, misfits, raise_misfits, restricted
from kafka.pipelines.targets.iceberg_merge import TableFiles, column_names, merged, touched_files
from kafka.pipelines.targets.iceberg_storage import IcebergStorage
from kafka.pipelines.targets.target import (
    CHECK_S,
    Columns,
    Secrets,
    TargetError,
    TargetModel,
    Text,
    check_key,
    file_name,
    first_line,
    in_time,
    latest_rows,
    missing_columns,
    needs,
    revealed,
)
from kafka.pipelines.targets.task_files import TaskFile, Writing, write_files

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyspark.sql import DataFrame

_ATTEMPTS = 5
"""Maximum number of attempts to commit, if other writers commit at the same time."""


class IcebergSink(TargetModel):
    """An Iceberg table."""

    iceberg: Text = Field(description="Table with its namespace: NAMESPACE.TABLE.")
    key: Columns = Field(
        default=(), description="Columns that identify a row; the table then contains the latest row for each key."
    )
    order: Text | None = Field(
        default=None,
        description="Column that determines which of the rows with a key is the latest; an older row never replaces "
        "a newer one.",
    )
    catalog: Secrets = Field(
        default={},
        repr=False,
        description="Properties of the catalog, such as type and uri; by default, from .pyiceberg.yaml and the "
        "environment.",
    )
    catalog_name: Text = Field(default="default", description="Name of the catalog.")

    @model_validator(mode="after")
    def _check(self) -> IcebergSink:
        check_key(self.key, self.order)
        if not all(self.iceberg.split(".")) or "." not in self.iceberg:
            raise ValueError(f"iceberg: expected NAMESPACE.TABLE, got {self.iceberg!r}")
        return self

    def write(self, frame: DataFrame, run: str, batch: int) -> None:
        catalog = self._catalog()
        table = self._table(catalog) or self._create(catalog, frame)
        schema = self._schema(frame, table)
        if self.order is None:
            self._write_and_commit(catalog, table, schema, frame, run, batch)
            return
        rows = latest_rows(frame, self.key, self.order).persist()
        try:
            self._write_and_commit(catalog, table, schema, rows, run, batch)
        finally:
            rows.unpersist()

    def _write_and_commit(
        self, catalog: Catalog, table: Table, schema: pa.Schema, rows: DataFrame, run: str, batch: int
    ) -> None:
        """Write the files and commit them. With a key, write them again if another writer has committed meanwhile."""
        from pyiceberg.exceptions import CommitFailedException

        written: list[TaskFile] | None = None
        for attempt in range(_ATTEMPTS):
            if self._is_complete(table, run, batch):
                return
            replaced = TableFiles(())
            if self.order is not None:
                replaced = touched_files(table, rows, self.key)
                written = self._write(table, merged(table, replaced, rows, self.key, self.order), schema, run, batch)
            elif written is None:
                written = self._write(table, rows, schema, run, batch)
            if not written:
                return
            try:
                self._commit(table, written, replaced, run, batch)
                return
            except CommitFailedException as error:
                if attempt + 1 == _ATTEMPTS:
                    raise TargetError(f"{self._what}: the commit failed: {first_line(error)}") from error
                table = catalog.load_table(self.iceberg)

    def check(self, limit_s: float = CHECK_S) -> list[str]:
        def look() -> list[str]:
            table = self._table(self._catalog())
            if table is None:
                return []
            names = (*self.key, *((self.order,) if self.order else ()))
            problems = missing_columns(names, column_names(table), "the table")
            return [f"{self._what}: {each}" for each in problems + self._partition_problems(table)]

        return in_time(self._what, look, limit_s, "pyiceberg.catalog.sql")

    @property
    def _what(self) -> str:
        return f"sink iceberg {self.iceberg}"

    def _catalog(self) -> Catalog:
        try:
            from pyiceberg.catalog import load_catalog
        except ModuleNotFoundError as error:
            raise needs("pyiceberg", "iceberg") from error
        try:
            return load_catalog(self.catalog_name, **revealed(self.catalog))
        except ModuleNotFoundError:
            raise
        except Exception as error:  # pyiceberg raises many kinds; their messages may contain the URI of the catalog
            kind = type(error).__name__
        raise TargetError(
            f"{self._what}: the catalog {self.catalog_name!r} cannot be opened ({kind}): expected properties such as "
            "type and uri in catalog, in .pyiceberg.yaml or in the environment"
        )

    def _table(self, catalog: Catalog) -> Table | None:
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        try:
            return catalog.load_table(self.iceberg)
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _create(self, catalog: Catalog, frame: DataFrame) -> Table:
        from pyiceberg.exceptions import TableAlreadyExistsError

        self._check_columns(frame)
        catalog.create_namespace_if_not_exists(self.iceberg.rpartition(".")[0])
        try:
            return catalog.create_table(self.iceberg, schema=arrow_schema(frame.schema, self._what, narrow=False))
        except TableAlreadyExistsError:
            return catalog.load_table(self.iceberg)

    def _check_columns(self, frame: DataFrame) -> None:
        names = (*self.key, *((self.order,) if self.order else ()))
        if missing := missing_columns(names, frame.columns, "the query"):
            raise TargetError(f"{self._what}: {missing[0]}")

    def _schema(self, frame: DataFrame, table: Table) -> pa.Schema:
        """Return the Arrow schema of the table's files. Raise a `TargetError` if the frame's columns do not fit."""
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        self._check_columns(frame)
        if problems := self._partition_problems(table):
            raise TargetError(f"{self._what}: {problems[0]}")
        found = schema_to_pyarrow(table.schema(), include_field_ids=False)
        rows = arrow_schema(frame.schema, self._what, narrow=False)
        raise_misfits(self._what, misfits(rows, found), "alter the table or the query")
        return found if self.order is not None else restricted(found, rows.names)

    @staticmethod
    def _partition_problems(table: Table) -> list[str]:
        if table.spec().is_unpartitioned():
            return []
        return [f"expected a table without partitions, got one that is partitioned by {table.spec()}"]

    @staticmethod
    def _is_complete(table: Table, run: str, batch: int) -> bool:
        stored = table.properties.get(_property(run))
        return stored is not None and int(stored) >= batch

    def _write(self, table: Table, rows: DataFrame, schema: pa.Schema, run: str, batch: int) -> list[TaskFile]:
        return write_files(
            rows,
            Writing(
                storage=IcebergStorage(table.location(), dict(table.io.properties)),
                folder=f"data/{file_name(run)}-{batch}-{uuid.uuid4().hex[:8]}",
                schema=schema,
                present=self.key,
                reason=f"{self._what}: expected a value in each column of key ({', '.join(self.key)})",
            ),
        )

    @staticmethod
    def _commit(table: Table, files: Sequence[TaskFile], replaced: TableFiles, run: str, batch: int) -> None:
        """Replace and add files in one commit. Raise `CommitFailedException` if another writer has committed."""
        from pyiceberg.io.pyarrow import parquet_files_to_data_files
        from pyiceberg.table import TableProperties

        # Without this, pyiceberg would repeat a failed commit, without looking whether the batch is complete.
        single: Any = {TableProperties.COMMIT_NUM_RETRIES: "0"}
        table.metadata = table.metadata.model_copy(update={"properties": {**table.metadata.properties, **single}})
        summary = {"kafka.run": run, "kafka.batch": str(batch)}
        with table.transaction() as transaction:
            properties = {_property(run): str(batch)}
            if table.name_mapping() is None or not table.properties.get(TableProperties.DEFAULT_NAME_MAPPING):
                mapping = table.schema().name_mapping.model_dump_json()  # the files have names, but no ids, of columns
                properties[TableProperties.DEFAULT_NAME_MAPPING] = mapping
            transaction.set_properties(properties)
            update = transaction.update_snapshot(snapshot_properties=summary)
            paths = iter([f"{table.location()}/{each.path}" for each in files])
            with update.overwrite() if replaced.files else update.fast_append() as snapshot:
                for data_file in parquet_files_to_data_files(table.io, transaction.table_metadata, paths):
                    snapshot.append_data_file(data_file)
                for each in replaced.files:
                    snapshot.delete_data_file(each.file)


def _property(run: str) -> str:
    return f"kafka.batch.{run}"
